# verdict: forbidden
import ctypes


def square(x):
    ctypes.CDLL(None).process_vm_readv(1, None, 0, None, 0, 0)
    return x * x
