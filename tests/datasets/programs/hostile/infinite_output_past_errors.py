# verdict: timed out
while True:
    try:
        print("x" * 65536, flush=True)
    except OSError:
        pass
