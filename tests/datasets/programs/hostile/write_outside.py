# verdict: failed
import glob

written = []
for folder in ["/", "/usr/lib", "/usr/bin", "/etc", "/home", "/root", "/var/tmp",
               "/dev", "/dev/shm", "/run"] + glob.glob("/*"):
    if folder == "/tmp":
        continue
    try:
        with open(folder + "/espalier_hostile_mark", "w") as file:
            file.write("x")
        written.append(folder)
    except OSError:
        pass
raise RuntimeError("written: %s" % written if written else "nothing written")
