# verdict: out of memory
everything = bytearray(600 << 20)
