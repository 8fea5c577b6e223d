# verdict: failed
# Another thread writes into every pipe while an answer is awaited.
import os
import threading
import time


def write():
    while True:
        for number in range(3, 20):
            try:
                os.write(number, b"\1\0\0\0\0\0\0\0N")
            except OSError:
                pass
        time.sleep(0.001)


threading.Thread(target=write, daemon=True).start()


def square(x):
    time.sleep(0.1)
    return 1
