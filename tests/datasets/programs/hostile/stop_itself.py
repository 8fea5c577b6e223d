# verdict: timed out
# wall: 2
import os
import signal

os.kill(os.getpid(), signal.SIGSTOP)
