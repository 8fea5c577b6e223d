#!/usr/bin/env python3
"""Lists the shared libraries that built programs link, with their licences.

  tools/check_licences.py BUILD_FOLDER|PROGRAM...

For every program: the libraries that it links directly (NEEDED), the Debian
package of each and the main licence in the package's copyright file. Fails on
a library under only the GPL, and on one whose licence cannot be determined.
Indirect dependencies must follow the same rule, except those that come through
Debian's LibTorch (including OpenCV and FFmpeg, some of it under the GPL) or
NTL, which Debian's FLINT links: these are only counted and listed, since the
project neither calls nor ships them.
"""

import os
import re
import subprocess
import sys

# Packages whose copyright file has no machine-readable main licence, or whose
# main stanza is not the licence of their library. For each: the library's
# licence and the reason why linking it is fine.
KNOWN = {
    "libc6": ("LGPL-2.1+", "LGPL: linked dynamically"),
    "libgcc-s1": ("GPL-3+ with GCC exception", "GCC runtime exception"),
    "libstdc++6": ("GPL-3+ with GCC exception", "GCC runtime exception"),
    "libgomp1": ("GPL-3+ with GCC exception", "GCC runtime exception"),
    "libgfortran5": ("GPL-3+ with GCC exception", "GCC runtime exception"),
    "libnuma1": ("LGPL-2.1", "LGPL: linked dynamically"),
    "libmpfr6": ("LGPL-3+", "LGPL: linked dynamically"),
    "libquadmath0": ("LGPL-2.1+", "LGPL: linked dynamically"),
    # Below libcurl, and libpq by its Kerberos and LDAP.
    "librtmp1": ("LGPL-2.1+", "LGPL: linked dynamically; rtmpdump is GPL"),
    "libcom-err2": ("MIT", "of e2fsprogs, whose programs are under the GPL"),
    "libkeyutils1": ("LGPL-2+", "its programs are under the GPL"),
    "libidn2-0": ("LGPL-3+ or GPL-2+", "LGPL: linked dynamically"),
    "libgnutls30": ("LGPL-2.1+", "LGPL: linked dynamically"),
    "libtasn1-6": ("LGPL-2.1+", "LGPL: linked dynamically"),
    "libgssapi-krb5-2": ("MIT", "MIT Kerberos"),
    "libk5crypto3": ("MIT", "MIT Kerberos"),
    "libkrb5-3": ("MIT", "MIT Kerberos"),
    "libkrb5support0": ("MIT", "MIT Kerberos"),
    "libasan8": ("Apache-2.0 with LLVM exception", "sanitizer builds only"),
    "libubsan1": ("Apache-2.0 with LLVM exception", "sanitizer builds only"),
    "libtsan2": ("Apache-2.0 with LLVM exception", "sanitizer builds only"),
}
# Libraries whose own dependencies are Debian's responsibility: LibTorch, and
# NTL, which Debian's FLINT (LGPL) links for an interface that nothing here
# calls, and which links gf2x (GPL by Debian's copyright file).
DOORS = ("libtorch", "libcaffe2", "libntl")


def run(*command):
    return subprocess.run(command, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode()


def is_program(path):
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        return False
    with open(path, "rb") as handle:
        return handle.read(4) == b"\x7fELF"


def needed(path):
    """Names of the libraries that the file links directly."""
    return re.findall(r"\(NEEDED\).*\[(.+?)\]", run("readelf", "-d", path))


def resolved(path):
    """Library name -> file, for everything that the loader would map."""
    files = {}
    for line in run("ldd", path).splitlines():
        match = re.match(r"\s*(\S+) => (/\S+)", line)
        if match:
            files[match.group(1)] = match.group(2)
        elif re.match(r"\s*/\S*ld-linux\S*", line):
            name = os.path.basename(line.split()[0])
            files[name] = line.split()[0]
    return files


def behind_doors(libraries, files, doors=DOORS):
    """Names of `libraries` and their dependencies that are reachable without
    passing through a library of `doors`; a door itself is reachable."""
    seen, work = set(), list(libraries)
    while work:
        name = work.pop()
        if name in seen or name not in files:
            continue
        seen.add(name)
        if not name.startswith(doors):
            work.extend(needed(files[name]))
    return seen


def package_of(path):
    for candidate in (path, os.path.realpath(path),
                      os.path.realpath(path).removeprefix("/usr")):
        out = run("dpkg", "-S", candidate)
        if out:
            return out.split(":")[0]
    return None


def main_licence(text):
    """The licence of `Files: *` in a machine-readable copyright file, or the
    one in its header; None if the file is free text."""
    if not re.match(r"^\s*Format(-Specification)?:", text):
        return None
    stanzas = re.split(r"\n\s*\n", text)
    header = None
    for number, stanza in enumerate(stanzas):
        files = re.search(r"^Files:\s*((?:.*\n?)(?:[ \t]+\S.*\n?)*)", stanza,
                          re.M)
        licence = re.search(r"^License:[ \t]*(\S.*)$", stanza, re.M)
        if not licence:
            continue
        if number == 0:
            header = licence.group(1).strip()
        if files and "*" in files.group(1).split():
            return licence.group(1).strip()
    return header


def gpl_alone(licence):
    """True if every alternative in `licence` is the GPL without an exception
    that permits linking."""
    choices = re.split(r"\s+or\s+|\s*\|\s*", licence, flags=re.I)

    def is_gpl(choice):
        parts = re.split(r"\s+and\s+|\s*,\s*", choice, flags=re.I)
        return any(re.match(r"(A?GPL|GNU General Public)", part.strip(), re.I)
                   and not re.search(r"exception", part, re.I)
                   for part in parts)

    return all(is_gpl(choice) for choice in choices)


def judge(package, doc="/usr/share/doc"):
    """(licence, verdict) of a package; verdict is "" if linking is fine."""
    if package is None:
        return "?", "belongs to no Debian package"
    if package in KNOWN:
        return KNOWN[package][0], ""
    try:
        with open(os.path.join(doc, package, "copyright"),
                  encoding="utf-8", errors="replace") as handle:
            licence = main_licence(handle.read())
    except OSError:
        licence = None
    if licence is None:
        return "?", ("states no main licence: read its copyright file and add "
                     "it to KNOWN in tools/check_licences.py")
    if gpl_alone(licence):
        return licence, "is under the GPL only: use another library"
    return licence, ""


def check(program):
    """Prints the program's libraries; returns the problems as lines."""
    files = resolved(program)
    direct = needed(program)
    trouble = [f"{program}: library {name} is not installed"
               for name in direct if name not in files]
    own = behind_doors(direct, files)
    print(f"{program}")
    packages = {}
    for name in sorted(own):
        packages.setdefault(package_of(files[name]), []).append(name)
    for package in sorted(packages, key=str):
        licence, verdict = judge(package)
        names = " ".join(packages[package])
        named = any(n in direct for n in packages[package])
        print(f"  {'' if named else '(indirect) '}{package}: {licence}"
              f"  [{names}]")
        if verdict:
            trouble.append(f"{program}: {package} ({names}) {verdict}")
    rest = sorted({str(package_of(files[n])) for n in files if n not in own})
    if rest:
        gpl = [p for p in rest if "GPL only" in judge(p)[1]]
        print(f"  (through LibTorch, NTL) {len(rest)} further packages of Debian's"
              f"; under the GPL only: {', '.join(gpl) or 'none'}")
    return trouble


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    programs = []
    for argument in sys.argv[1:]:
        if os.path.isdir(argument):
            programs += [p for p in sorted(
                os.path.join(argument, n) for n in os.listdir(argument)
                if not n.endswith(("_test", "_benchmark"))) if is_program(p)]
        else:
            programs.append(argument)
    if not programs:
        print(f"no program in {' '.join(sys.argv[1:])}: build first")
        return 1
    trouble = [line for program in programs for line in check(program)]
    for line in trouble:
        print(line)
    return 1 if trouble else 0


if __name__ == "__main__":
    sys.exit(main())
