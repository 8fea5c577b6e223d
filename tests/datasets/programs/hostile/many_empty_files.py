# verdict: failed
# wall: 60
i = 0
while True:
    open("/tmp/%d" % i, "w").close()
    i += 1
