# verdict: forbidden
import ctypes

ctypes.CDLL(None).syscall(321, 0, 0, 0)


def square(x):
    return x * x
