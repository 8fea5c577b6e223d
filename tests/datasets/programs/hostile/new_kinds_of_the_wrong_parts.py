# verdict: failed
# Object arrays without a shape, time zones outside of their folder, values
# without an object, unhashable keys.
import sys

frame = sys._getframe()
while "carry_out" not in frame.f_globals:
    frame = frame.f_back
harness = frame.f_globals
carry_out = harness["carry_out"]
count = 0
HANDLE = b"H" + bytes(8)
THREE = b"T" + (3).to_bytes(8, "little") + b"\0"


def lie(order, module):
    global count
    if order[0] != "call":
        return carry_out(order, module)
    count += 1
    write = harness["held"].write
    value = [b"O" + write((1 << 62,)) + write([]),
             b"Z" + write("../../../etc/localtime"),
             b"S" + HANDLE + bytes(8), b"S" + write([49]) + bytes(8),
             b"K" + write([[]]), b"z" + HANDLE + bytes(8),
             b"A" + write("u") + write(b"1234"), b"P" + HANDLE,
             b"M" + HANDLE][count % 9]
    return THREE + write("value") + value + b"N"


harness["carry_out"] = lie


def square(x):
    return 0
