# verdict: forbidden
import os

os.setuid(0)


def square(x):
    return x * x
