# verdict: out of memory
# style: input
everything = [0] * (100 << 20)
