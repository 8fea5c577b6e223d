# verdict: failed
# Its comparison does not end.
def square(x):
    answer = []
    answer.append(answer)
    return answer
