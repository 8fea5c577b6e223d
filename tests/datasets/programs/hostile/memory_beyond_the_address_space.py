# verdict: failed
# Memory that a limit on address space does not count.
import os

files = [os.memfd_create("x") for _ in range(8)]
while True:
    for file in files:
        os.write(file, b"x" * (1 << 20))
