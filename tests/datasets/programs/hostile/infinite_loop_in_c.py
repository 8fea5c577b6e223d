# verdict: timed out


def square(x):
    return 9 ** 9 ** 9
