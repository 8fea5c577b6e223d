# verdict: forbidden
# The same calls by the numbers of 32-bit programs (x32: getpid).
import ctypes

ctypes.CDLL(None).syscall(0x40000000 + 39)


def square(x):
    return x * x
