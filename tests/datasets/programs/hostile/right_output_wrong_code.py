# verdict: failed
# style: input
x = int(input())
print(x * x)
exit(3)
