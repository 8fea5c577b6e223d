# verdict: out of memory
# style: input
everything = [0] * (1 << 40)
