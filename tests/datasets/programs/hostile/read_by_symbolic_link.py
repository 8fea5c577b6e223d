# verdict: failed
import os

os.symlink("/etc/shadow", "link")
os.symlink("/proc/1/root/etc/shadow", "other")
for name in ("other", "link"):
    try:
        open(name).read()
    except FileNotFoundError as error:
        missing = error
raise missing
