# verdict: failed
while True:
    input()
