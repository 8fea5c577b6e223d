# verdict: forbidden
import os

for _ in range(10000):
    if os.fork() == 0:
        os._exit(0)
