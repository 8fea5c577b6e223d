# verdict: out of memory | failed
# memory: 80
# Python 3.11 forgets the error when memory ends inside a call.
import sys

sys.setrecursionlimit(1 << 30)


def square(x):
    return square(x)
