# verdict: failed
# style: input
# Its output is what was written to the descriptor, not what has its name.
import os

os.unlink("/tmp/.streams/stdout")
with open("/tmp/.streams/stdout", "w", encoding="utf-8") as file:
    file.write(str(int(input()) ** 2))
