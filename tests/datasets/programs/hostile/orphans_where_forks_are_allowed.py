# verdict: passed
# fork: yes
# Grandchildren that ignore signals and run in separate sessions must not
# outlive the program.
import os
import signal
import time

if os.fork() == 0:
    os.setsid()
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)


def square(x):
    return x * x
