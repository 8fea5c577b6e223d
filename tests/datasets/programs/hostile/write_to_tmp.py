# verdict: passed
# Its /tmp is its own: the mark is not seen outside.
open("/tmp/espalier_hostile_mark", "w").write("x")


def square(x):
    return x * x
