# verdict: forbidden
import subprocess


def square(x):
    return int(subprocess.run(["expr", str(x), "*", str(x)],
                              capture_output=True).stdout)
