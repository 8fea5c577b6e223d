# verdict: timed out
# style: input
while True:
    pass
