# verdict: crashed
# style: input
import os

x = int(input())
print(x * x, flush=True)
os.abort()
