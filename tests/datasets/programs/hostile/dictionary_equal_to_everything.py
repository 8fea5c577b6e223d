# verdict: failed
# A dict subclass: its own == must not decide anything.
class Everything(dict):
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = None

    def __sub__(self, other):
        return 0


def square(x):
    return Everything(answer=x)
