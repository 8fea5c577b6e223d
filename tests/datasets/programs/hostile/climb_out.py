# verdict: failed
import os

for _ in range(100):
    os.chdir("..")
found = []
for folder in ("etc", "root", "home", "var", "proc", "sys", "run", "boot"):
    if os.path.exists(folder):
        found += os.listdir(folder)
assert all(name in ("alternatives", "ld.so.cache") for name in found), found
raise FileNotFoundError("nothing to be seen")
