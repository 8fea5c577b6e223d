# verdict: failed
print(open("/etc/shadow").read())
