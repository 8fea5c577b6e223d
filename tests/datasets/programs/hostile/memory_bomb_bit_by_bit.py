# verdict: out of memory


def square(x):
    parts = []
    while True:
        parts.append(bytearray(1 << 20))
