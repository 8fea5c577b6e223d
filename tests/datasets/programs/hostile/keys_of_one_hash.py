# verdict: failed
# A dictionary that takes quadratic time to build.
def square(x):
    return {((1 << 61) - 1) * i: 0 for i in range(5000)}
