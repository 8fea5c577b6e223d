# verdict: failed
with open("/tmp/file", "wb") as file:
    file.truncate(1 << 50)
