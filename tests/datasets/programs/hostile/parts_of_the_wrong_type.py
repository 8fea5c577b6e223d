# verdict: failed
# Values whose parts are handles: a fraction, a date, an array, a zone.
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
    value = [b"F" + HANDLE + HANDLE, b"d" + THREE + 3 * HANDLE,
             b"a" + 3 * HANDLE, b"n" + 2 * HANDLE][count % 4]
    return THREE + harness["held"].write("value") + value + b"N"


harness["carry_out"] = lie


def square(x):
    return 0
