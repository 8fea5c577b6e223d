# verdict: failed
for i in range(10000):
    with open("/tmp/%d" % i, "wb") as file:
        file.write(b"x" * (1 << 20))
