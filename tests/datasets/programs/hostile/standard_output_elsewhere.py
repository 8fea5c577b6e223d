# verdict: failed
# style: input
# The output is what is written to the descriptor, not to sys.stdout.
import os

os.unlink("/tmp/.streams/stdout")
with open("/tmp/.streams/stdout", "w", encoding="utf-8") as file:
    file.write(str(int(input()) ** 2))
