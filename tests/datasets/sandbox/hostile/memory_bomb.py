# verdict: out of memory
everything = bytearray(1 << 40)
