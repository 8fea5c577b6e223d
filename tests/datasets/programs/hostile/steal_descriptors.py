# verdict: forbidden
import ctypes

libc = ctypes.CDLL(None)
pidfd = libc.syscall(434, 1, 0)
print(libc.syscall(438, pidfd, 0, 0))


def square(x):
    return x * x
