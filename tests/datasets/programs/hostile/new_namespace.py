# verdict: forbidden
import ctypes

ctypes.CDLL(None).unshare(0x10000000)


def square(x):
    return x * x
