# verdict: timed out
import re


def square(x):
    return re.match("(a|aa)+$", "a" * 60 + "b")
