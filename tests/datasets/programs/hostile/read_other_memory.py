# verdict: failed
for process in range(1, 100):
    try:
        open("/proc/%d/mem" % process, "rb").read(1)
    except FileNotFoundError as error:
        missing = error
raise missing
