# verdict: crashed
# Exits while the second test waits for its reply.
import os
import threading

calls = []


def square(x):
    calls.append(x)
    if len(calls) == 2:
        threading.Thread(target=os._exit, args=(0,)).start()
        while True:
            pass
    return x * x
