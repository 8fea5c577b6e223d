# verdict: failed | crashed
# A tuple with a negative size.
import ctypes


def square(x):
    value = (1, 2)
    ctypes.c_ssize_t.from_address(id(value) + 16).value = -1
    return value
