#!/usr/bin/env python3
"""Checks project rules that a compiler does not.

  tools/check_layers.py [ROOT]      checks the files that git tracks in ROOT

Layers: a file includes its own layer and layers named earlier in LAYERS;
tests/X and bench/X belong to the layer that they test. Folders do not include each
other in a cycle, not even within a layer. Only the folders of TORCH_FOLDERS
include LibTorch and each other's headers. include/espalier includes itself,
Abseil and the standard library; search/ uses neither threads nor clocks; only
base/clock.cc reads the time.

House rules: header guards are named after the path, no two headers declare a
type of the same name, no file is longer than 800 lines, nothing marked as
unfinished, no `#if 0`, no merge markers, no paths of one person's machine.

Files that may be compiled joined (espalier_join in cmake/EspalierBuild.cmake:
those of a layer, of the commands, of a folder of tests) do not define the same
file-local name.

Prints one line per violation, "file:line: what, and what to do", and exits
with 1 if there are any.
"""

import os
import re
import subprocess
import sys

# Lowest first. A folder belongs to the longest entry that is a prefix of its
# path.
LAYERS = [
    "include/espalier", "base", "search", "datasets", "src/trace",
    "models", "src/engine", "src/queue", "src/serve", "src/eval", "src/learn",
    "tools",
]
# The layer that tests/X and bench/X belong to; they include what it may.
MIRRORS = {
    "base": "base", "search": "search", "datasets": "datasets",
    "trace": "src/trace", "models": "models", "fuzz": "models",
    "torch": "src/learn", "zoo": "tools", "engine": "src/engine",
    "learn": "src/learn", "queue": "src/queue", "serve": "src/serve",
    "eval": "src/eval", "tools": "tools",
}
TORCH_FOLDERS = [
    "models/differentiable", "models/torch_executor", "src/learn",
    "tests/torch", "tests/learn", "tests/zoo", "tools/learn", "tools/zoo",
    "bench/learn",
]
TORCH_HEADER = re.compile(r"^(torch|ATen|c10|caffe2)/")
API_SYSTEM_FOLDERS = ("absl/",)
THREAD_OR_TIME = {
    "atomic", "barrier", "chrono", "condition_variable", "ctime", "future",
    "latch", "mutex", "pthread.h", "semaphore", "shared_mutex", "stop_token",
    "sys/time.h", "thread", "time.h",
}
THREAD_OR_TIME_OWN = {
    "base/clock.h", "base/executor.h", "base/mutex.h",
    "base/progress.h",
}
READS_TIME = re.compile(
    r"_clock::now\s*\(|\bclock_gettime\s*\(|\bgettimeofday\s*\("
    r"|\btime\s*\(\s*(nullptr|NULL|0)\s*\)")
MAY_READ_TIME = ("base/clock.cc", "tests/", "bench/")
PARSES_JSON = re.compile(r"\b[Jj]son::(sax_)?parse\s*\(")
MAY_PARSE_JSON = ("base/parse_json.cc", "tests/", "bench/")
LONGEST_FILE = 800
# Text tied to one person's machine or to unfinished work. The patterns are
# written so that this file does not match itself.
HOUSE_PATTERNS = [
    (re.compile(r"(?<![\w.$}{)~-])/(home|work|Users)/[\w.]+"),
     "a path of somebody's own machine", "use a relative path or a variable"),
    (re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b"), "an unfinished place",
     "finish it or describe it in docs/"),
    (re.compile(r"^\s*#\s*if\s+0\b"), "code that is switched off", "delete it"),
    (re.compile(r"^(<<<<<<<|>>>>>>>) "), "a merge mark", "resolve it"),
    # It expands to a path relative to the build folder, or cut at the root.
    (re.compile(r"path\(_" r"_FILE_" r"_\)"),
     "a file sought by the name of the source",
     "name it from the project's root, where tests run"),
]
# A type at namespace level of a header; all headers use one namespace.
TYPE = re.compile(r"^(?:struct|class|enum class|enum) (?:\[\[\w+\]\] )?(\w+)"
                  r"(?: final)?(?: :| \{|:|$)")
# Layers whose files a build may join, and the files that are always compiled
# by themselves (cmake/EspalierBuild.cmake).
JOINED = re.compile(
    r"^(base|search|datasets|models/(?:torch_executor|differentiable)|models"
    r"|src/\w+|tools/(?:espalier|zoo)|tests/\w+)/.*\.cc$")
NEVER_JOINED = re.compile(
    r"^models/(kernels|kernel_executor)/"
    r"|^datasets/tasks/|/(to_float|softmax|top_sum|kernels_[a-z0-9]*)\.cc$")
FILE_LOCAL = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.S | re.M)
LOCAL_FUNCTION = re.compile(
    r"^(?:template <[^\n]*\n)?(?!using|return|struct|class|enum|namespace)"
    r"[A-Za-z_][\w:<>,&* \n]*?[ &*\n](\w+)\(([^;{}]*)\)(?: const)? \{", re.M)
LOCAL_TYPE = re.compile(
    r"^(?:struct|class|enum class|enum|using) (\w+)(?: [={:]|;)", re.M)
LOCAL_ALIAS = re.compile(r"^using \w+ = [^;]*;", re.M)
LOCAL_CONSTANT = re.compile(
    r"^(?:static )?(?:constexpr|const) [^\n(;]*?\b(k[A-Z]\w*)\b", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(path):
    """Rank of the layer that `path` belongs to; None outside all layers."""
    parts = path.split("/")
    if parts[0] == "examples":
        return 0  # what an embedding program sees
    if parts[0] in ("tests", "bench"):
        if len(parts) < 3:
            return len(LAYERS) - 1
        mirrored = MIRRORS.get(parts[1])
        return LAYERS.index(mirrored) if mirrored else None
    best = None
    for rank, folder in enumerate(LAYERS):
        if path.startswith(folder + "/"):
            if best is None or len(folder) > len(LAYERS[best]):
                best = rank
    return best


def in_folders(path, folders):
    return any(path.startswith(f + "/") for f in folders)


def guard_of(path):
    # include/espalier/search_options.h and include/espalier/method_options.h differ.
    stem = "api/" + path[len("include/espalier/"):] if path.startswith(
        "include/espalier/") else path
    return "ESPALIER_" + re.sub(r"[^A-Za-z0-9]", "_", stem).upper() + "_"


def resolve(included, tracked):
    """The tracked file that `included` names, or None.

    A generated protobuf header resolves to its .proto file."""
    if included.endswith(".pb.h"):
        included = included[:-len(".pb.h")] + ".proto"
    for path in (included, "include/" + included):
        if path in tracked:
            return path
    return None


def check_include(path, bracket, included, tracked):
    """Yields the violations of one #include of the C++ file `path`."""
    rank = layer_of(path)
    torch_folder = in_folders(path, TORCH_FOLDERS)
    if TORCH_HEADER.match(included):
        if not torch_folder:
            yield (f"includes LibTorch's {included}: only "
                   f"{', '.join(TORCH_FOLDERS)} may")
        return
    target = resolve(included, tracked)
    if path.startswith("search/") and (included in THREAD_OR_TIME or
                                       target in THREAD_OR_TIME_OWN):
        yield (f"includes {included}: search/ knows neither threads nor time, "
               "hand results in through requests")
    if path.startswith("include/espalier/") and target is None:
        standard = bracket == "<" and "/" not in included and (
            not included.endswith(".h"))
        if not standard and not included.startswith(API_SYSTEM_FOLDERS):
            yield (f"includes {included}: the API includes itself, Abseil and "
                   "the standard library only")
    if target is None:
        # A project of its own, which users copy.
        if path.startswith("examples/") and f"examples/{included}" in tracked:
            return
        if bracket == '"' and included.split("/")[0] in (
                "base", "src", "search", "datasets", "models", "tools", "espalier",
                "tests", "bench") or (bracket == '"' and "/" not in included):
            yield (f'includes "{included}", which is not a file of the '
                   "repository: name it from the root (base/check.h) or "
                   "add it to git")
        return
    if target.startswith("include/espalier/") and not included.startswith(
            "espalier/"):
        yield f'includes {included}: write "espalier/..." as users do'
    if in_folders(target, TORCH_FOLDERS) and not torch_folder:
        yield (f"includes {target}, which a build without LibTorch lacks: only "
               f"{', '.join(TORCH_FOLDERS)} may")
        return
    target_rank = layer_of(target)
    if rank is None:
        yield (f"lies in no layer: add its folder to LAYERS or MIRRORS in "
               "tools/check_layers.py and to CONTRIBUTING.md")
    elif target_rank is None or target_rank > rank:
        yield (f"includes {target} of a later layer: move what is shared to "
               f"{LAYERS[rank]} or lower")
    elif target.split("/")[0] in ("tests", "bench") and (
            path.split("/")[0] not in ("tests", "bench")):
        yield f"includes {target}: code does not depend on tests"


def check_file(path, text, tracked):
    """Yields (line, message) for every violation in one file."""
    lines = text.split("\n")
    cpp = path.endswith((".h", ".cc"))
    script = path.endswith((".py", ".sh", ".cmake")) or path in (
        "tools/dev", ".ci/run", "CMakeLists.txt")
    if (cpp or script) and len(lines) - 1 > LONGEST_FILE:
        yield 1, (f"has {len(lines) - 1} lines, more than {LONGEST_FILE}: "
                  "split it by concern")
    for number, line in enumerate(lines, 1):
        for pattern, what, remedy in HOUSE_PATTERNS:
            if pattern.search(line):
                yield number, f"holds {what}: {remedy}"
    if not cpp:
        return
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            for message in check_include(path, *match.groups(), tracked):
                yield number, message
        if PARSES_JSON.search(line) and not path.startswith(MAY_PARSE_JSON):
            yield number, ("parses JSON, which may nest without bound: call "
                           "base/parse_json.h")
        if READS_TIME.search(line) and not path.startswith(MAY_READ_TIME):
            yield number, "reads the time: take a Clock (base/clock.h)"
    # foo-inl.h is compiled once per vector target, under Highway's own toggle.
    if path.endswith(".h") and not path.endswith("-inl.h"):
        guard = guard_of(path)
        if f"#ifndef {guard}\n#define {guard}\n" not in text:
            yield 1, f"needs the header guard {guard}"
        if "#pragma once" in text:
            yield 1, f"uses #pragma once: use the guard {guard}"


class Types:
    """The linker merges two types of the same name and keeps the functions of
    one for both, which corrupts memory, e.g. when a vector is freed."""

    def __init__(self):
        self.first = {}

    def check_header(self, path, text):
        if path.startswith("tests/") or path.endswith("-inl.h"):
            return
        namespace = re.search(r"^namespace [\w:]+", text, re.M)
        for number, line in enumerate(text.split("\n"), 1):
            match = TYPE.match(line)
            if not match:
                continue
            name = (namespace.group() if namespace else "", match.group(1))
            other = self.first.setdefault(name, path)
            if other != path:
                yield number, (f"declares {match.group(1)}, as {other} does: "
                               "choose another name")


class JoinedNames:
    """File-local names, which clash where several files are one unit."""

    def __init__(self):
        self.first = {}

    def check_source(self, path, text):
        joined = JOINED.match(path)
        if not joined or NEVER_JOINED.search(path):
            return
        layer = joined.group(1).replace("models/differentiable",
                                        "models/torch_executor")
        for part in FILE_LOCAL.finditer(text):
            names = [(match, match.group(1), parameter_types(match.group(2)))
                     for match in LOCAL_FUNCTION.finditer(part.group(1))]
            for pattern in (LOCAL_TYPE, LOCAL_CONSTANT):
                for match in pattern.finditer(part.group(1)):
                    alias = LOCAL_ALIAS.match(part.group(1), match.start())
                    names.append((match, match.group(1),
                                  alias.group() if alias else ""))
            for match, name, form in names:
                other = self.other(layer, name, form, path)
                if other:
                    number = 1 + text.count(
                        "\n", 0, part.start(1) + match.start(1))
                    yield number, (f"defines {name}, as {other} does, and a "
                                   "build may join them: choose another name")

    def other(self, layer, name, form, path):
        """Another file that defines `name`. Functions that differ in their
        parameter types may share a name, but not with a type; the same alias
        may be written twice."""
        known = self.first.setdefault((layer, name), {})
        known.setdefault(form, path)
        if form.startswith("("):
            clashes = [one for one in known
                       if one == form or not one.startswith("(")]
        else:
            clashes = [one for one in known
                       if one != form or not form.startswith("using")]
        return next((known[one] for one in clashes if known[one] != path),
                    None)


def parameter_types(parameters):
    """The parameters of a function without their names and defaults."""
    types = []
    for one in re.sub(r"\s+", " ", parameters).split(","):
        one = one.split("=")[0].strip()
        types.append(re.sub(r"(?<=[ &*>])\w+$", "", one).strip())
    return "(" + ", ".join(types) + ")"


class Folders:
    """Includes between folders of one layer, to find cycles."""

    def __init__(self):
        self.edges = {}  # (from, to): (path, line, target) of the include

    def add(self, path, number, target):
        source, other = os.path.dirname(path), os.path.dirname(target)
        if source != other and layer_of(path) == layer_of(target) and (
                not path.startswith(("tests/", "bench/"))):
            self.edges.setdefault((source, other), (path, number, target))

    def reaches(self, start, goal):
        seen, todo = {start}, [start]
        while todo:
            here = todo.pop()
            for source, other in self.edges:
                if source == here and other not in seen:
                    seen.add(other)
                    todo.append(other)
        return goal in seen

    def circles(self):
        """Yields (path, line, message), one per edge of a cycle."""
        for (source, other), (path, number, target) in self.edges.items():
            if self.reaches(other, source):
                yield path, number, (
                    f"includes {target}, whose folder includes {source} in "
                    "turn: move what both need to a folder of its own")


def tracked_files(root):
    out = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"], cwd=root,
        check=True, stdout=subprocess.PIPE).stdout.decode()
    return [f for f in out.split("\0") if f and os.path.isfile(
        os.path.join(root, f))]


def check_tree(root):
    """All violations below `root`, as sorted lines of text."""
    files = tracked_files(root)
    tracked = set(files)
    found = []
    types = Types()
    joined = JoinedNames()
    folders = Folders()
    for path in files:
        with open(os.path.join(root, path), "rb") as handle:
            data = handle.read()
        if b"\0" in data or len(data) > 1 << 20:
            continue  # models, images, vocabularies
        text = data.decode("utf-8", "replace")
        for number, message in check_file(path, text, tracked):
            found.append((path, number, message))
        if path.endswith(".h"):
            for number, message in types.check_header(path, text):
                found.append((path, number, message))
        for number, message in joined.check_source(path, text):
            found.append((path, number, message))
        if path.endswith((".h", ".cc")):
            for number, line in enumerate(text.split("\n"), 1):
                match = INCLUDE.match(line)
                target = match and resolve(match.group(2), tracked)
                if target:
                    folders.add(path, number, target)
    found.extend(folders.circles())
    return [f"{p}:{n}: {m}" for p, n, m in sorted(found)]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(here)
    violations = check_tree(root)
    for violation in violations:
        print(violation)
    if violations:
        print(f"{len(violations)} violations of the house rules")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
