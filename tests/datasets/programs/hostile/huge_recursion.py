# verdict: out of memory | failed
# memory: 80
# Python 3.11 loses the error when memory runs out inside a call.
import sys

sys.setrecursionlimit(1 << 30)


def square(x):
    return square(x)
