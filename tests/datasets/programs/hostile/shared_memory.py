# verdict: failed
# Memory that processes share by a name or a number: of either kind none may be
# there, and none may be made that outlives a process.
import ctypes
import glob
from multiprocessing import shared_memory


def square(x):
    if glob.glob("/dev/shm/*"):
        return x * x
    try:
        shared_memory.SharedMemory(create=True, size=9)
        return x * x
    except Exception:
        pass
    attach = ctypes.CDLL(None).shmat
    attach.restype = ctypes.c_ssize_t
    if any(attach(number, None, 0) != -1 for number in range(100)):
        return x * x
    return 0
