# verdict: failed
# style: input
while True:
    print("x" * 65536)
