# verdict: crashed
import sys

sys.setrecursionlimit(1 << 30)


class Nested:
    def __repr__(self):
        return repr([self])


def square(x):
    return repr(Nested())
