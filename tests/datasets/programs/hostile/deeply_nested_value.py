# verdict: failed
def square(x):
    value = []
    for _ in range(100000):
        value = [value]
    return value
