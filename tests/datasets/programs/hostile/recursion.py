# verdict: failed
def square(x):
    return square(x)
