# verdict: forbidden
import os

os.execv("/bin/sh", ["sh", "-c", "echo passed"])
