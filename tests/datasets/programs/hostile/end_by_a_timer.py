# verdict: crashed
# A signal handler exits the process with status 0 while it computes.
import os
import signal

signal.signal(signal.SIGALRM, lambda *unused: os._exit(0))
signal.setitimer(signal.ITIMER_REAL, 0.01)


def square(x):
    while True:
        pass
