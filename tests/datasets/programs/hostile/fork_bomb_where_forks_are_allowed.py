# verdict: failed
# fork: yes
# Stops at the limit: there the system says EAGAIN, and the program fails.
import os
import time

while True:
    if os.fork() == 0:
        time.sleep(1000)
