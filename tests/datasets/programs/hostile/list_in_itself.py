# verdict: failed
# Comparing it never ends.
def square(x):
    answer = []
    answer.append(answer)
    return answer
