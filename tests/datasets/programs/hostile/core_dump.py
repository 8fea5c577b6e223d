# verdict: crashed
import os
import resource
import signal

try:
    resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30))
except ValueError:
    pass
os.kill(os.getpid(), signal.SIGSEGV)
