# verdict: forbidden
import ctypes

ctypes.CDLL(None).mount(b"none", b"/tmp", b"tmpfs", 0, None)


def square(x):
    return x * x
