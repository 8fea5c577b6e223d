# verdict: failed
# Memory that no limit on address space counts.
import os

files = [os.memfd_create("x") for _ in range(8)]
while True:
    for file in files:
        os.write(file, b"x" * (1 << 20))
