# verdict: passed
# It has a private /tmp: the mark is not visible outside.
open("/tmp/espalier_hostile_mark", "w").write("x")


def square(x):
    return x * x
