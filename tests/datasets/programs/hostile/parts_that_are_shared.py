# verdict: failed
# Little to send, and more than the world holds to walk through.
def square(x):
    answer = [1]
    for _ in range(40):
        answer = [answer, answer]
    return answer
