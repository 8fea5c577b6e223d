# verdict: failed
while True:
    print("x" * 65536)
