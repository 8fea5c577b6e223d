# verdict: timed out
# wall: 2
import time


def square(x):
    time.sleep(1e9)
