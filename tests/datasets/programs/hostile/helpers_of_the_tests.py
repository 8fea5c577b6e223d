# verdict: failed
# Names that published tests define or call.
def square(x):
    return x


def check(*args, **keywords):
    return None


def poly(*args):
    return 0


candidate = assertion = is_floats = encode_shift = encode_cyclic = check
