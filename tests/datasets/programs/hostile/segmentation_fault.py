# verdict: crashed
import ctypes


def square(x):
    return ctypes.string_at(0)
