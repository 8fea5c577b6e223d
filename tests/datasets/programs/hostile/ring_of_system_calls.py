# verdict: forbidden
# io_uring makes system calls that bypass the filter.
import ctypes


def square(x):
    parameters = ctypes.create_string_buffer(512)
    return ctypes.CDLL(None).syscall(425, 8, parameters)
