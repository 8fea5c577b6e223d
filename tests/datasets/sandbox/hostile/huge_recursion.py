# verdict: out of memory
import sys

sys.setrecursionlimit(1 << 30)


def square(x):
    return square(x)
