# verdict: failed
# fork: yes
# Stops at the limit: fork returns EAGAIN, and the program fails.
import os
import time

while True:
    if os.fork() == 0:
        time.sleep(1000)
