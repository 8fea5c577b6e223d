# verdict: failed
# Small to send, but exponentially large to walk through.
def square(x):
    answer = [1]
    for _ in range(40):
        answer = [answer, answer]
    return answer
