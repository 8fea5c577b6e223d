"""One program's life inside the sandbox; sandbox.h has the whole picture.

The process that starts here is the tests' process. Before it knows anything
it forks the solution's process, which gives up all that it could do harm
with and then takes orders through a pipe. Only then does the tests' process
read its one job.

So the solution's process never holds a test, an expected value, or the way to
the parent. What it hands over is plain data (values.py); any other object stays
where it is, and the tests see a Remote in its place (remote.py). An array that
has no elements is no answer where some are expected (arrays.py), and an object
stays what it was while tests look at it (views.py). Their texts stand before
this one's. Text of the program that tests evaluate does not run (evaluated.py,
the last argument). The verdict is the word of the tests' process.

Every start pays for what is imported here: hence _signal and _struct.
"""

import _signal
import builtins
import ctypes
import os
import resource
import select
import sys
import time

SOLUTION = "<solution>"
TESTS = "<tests>"
LONGEST_VALUE = 64 << 20  # bytes of one call's values
LONGEST_MESSAGE = 1000    # characters of a verdict's message
MOST_FILES = 20000        # in /tmp: an empty one costs the kernel 1 KB
STREAMS = "/tmp/.streams"  # as in worker_command.cc
# Of tests without these words no text is evaluated.
EVALUATING = ("eval", "exec", "compile", "pickle", "marshal", "shelve")


# --- Frames --------------------------------------------------------------

def read_bytes(fd, count, wait=None):
    """`count` bytes of fd, or None where it ends before."""
    parts = []
    while count:
        if wait is not None:
            wait(fd)
        part = os.read(fd, min(count, 1 << 20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def read_frame(fd, wait=None, longest=1 << 62):
    head = read_bytes(fd, 8, wait)
    if head is None:
        return None
    count = int.from_bytes(head, "little")
    if count > longest:
        raise ValueError("a value of more than %d MB" % (longest >> 20))
    return read_bytes(fd, count, wait)


def write_frame(fd, data):
    data = len(data).to_bytes(8, "little") + data
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


def read_fields(fd):
    """A list of byte strings, as worker.cc writes them."""
    data = read_frame(fd)
    if data is None:
        os._exit(0)
    fields = []
    at = 0
    while at < len(data):
        count = int.from_bytes(data[at:at + 8], "little")
        fields.append(data[at + 8:at + 8 + count])
        at += 8 + count
    return fields


def write_fields(fd, fields):
    write_frame(fd, b"".join(
        len(field).to_bytes(8, "little") + field for field in fields))


# --- Errors of the standard library --------------------------------------

# Classes that errors have in the tests' process as well, besides the builtin
# ones. None that unittest takes for anything but an error.
ERRORS = frozenset(
    "array.error binascii.Error binascii.Incomplete calendar.IllegalMonthError "
    "calendar.IllegalWeekdayError concurrent.futures._base.CancelledError "
    "configparser.Error configparser.NoSectionError "
    "configparser.DuplicateSectionError configparser.DuplicateOptionError "
    "configparser.NoOptionError configparser.InterpolationError "
    "configparser.InterpolationDepthError "
    "configparser.InterpolationMissingOptionError "
    "configparser.InterpolationSyntaxError configparser.ParsingError "
    "configparser.MissingSectionHeaderError copy.Error _csv.Error "
    "dataclasses.FrozenInstanceError decimal.DecimalException "
    "decimal.DivisionByZero decimal.InvalidOperation decimal.ConversionSyntax "
    "decimal.FloatOperation decimal.Inexact decimal.Overflow decimal.Rounded "
    "decimal.Subnormal decimal.Underflow email.errors.MessageError "
    "email.errors.MessageParseError email.errors.HeaderParseError "
    "getopt.GetoptError argparse.ArgumentTypeError graphlib.CycleError "
    "gzip.BadGzipFile http.cookies.CookieError ipaddress.AddressValueError "
    "ipaddress.NetmaskValueError json.decoder.JSONDecodeError locale.Error "
    "_lzma.LZMAError numpy.AxisError numpy.linalg.LinAlgError "
    "pickle.PickleError pickle.PicklingError pickle.UnpicklingError "
    "_pickle.PickleError _pickle.PicklingError _pickle.UnpicklingError "
    "plistlib.InvalidFileException pyexpat.ExpatError "
    "xml.parsers.expat.ExpatError queue.Empty _queue.Empty queue.Full "
    "re.error shutil.Error shutil.SameFileError shutil.ReadError "
    "shutil.SpecialFileError sqlite3.Error sqlite3.Warning "
    "sqlite3.DataError sqlite3.DatabaseError sqlite3.IntegrityError "
    "sqlite3.InterfaceError sqlite3.InternalError sqlite3.NotSupportedError "
    "sqlite3.OperationalError sqlite3.ProgrammingError "
    "statistics.StatisticsError struct.error tarfile.TarError "
    "tarfile.CompressionError tarfile.ExtractError tarfile.HeaderError "
    "tarfile.ReadError tarfile.StreamError tokenize.TokenError "
    "tomllib.TOMLDecodeError urllib.error.URLError "
    "xml.etree.ElementTree.ParseError zipfile.BadZipFile "
    "zipfile.LargeZipFile zlib.error zoneinfo.ZoneInfoNotFoundError".split())

# Those whose args are not what they are made of.
MADE_OF = {
    "OSError": ("errno", "strerror", "filename"),
    "json.decoder.JSONDecodeError": ("msg", "doc", "pos"),
    "re.error": ("msg", "pattern", "pos"),
}


def error_name(kind):
    """Of a class of ERRORS with its module, else without."""
    name = "%s.%s" % (kind.__module__, kind.__qualname__)
    return name if name in ERRORS else kind.__name__


def error_class(name):
    """The class that error_name gave this name; None if it is of neither. The
    tests can catch a class of a module only if they have imported it."""
    if name not in ERRORS:
        kind = getattr(builtins, name, None)
    else:
        module, _, name = name.rpartition(".")
        kind = getattr(sys.modules.get(module), name, None)
    if isinstance(kind, type) and issubclass(kind, BaseException):
        return kind
    return None


# --- The solution's process ----------------------------------------------

# The builtin value in one of a derived class, whatever that class overrides.
BASES = {
    int: int.__int__,
    float: float.__float__,
    str: lambda x: str.__getitem__(x, slice(None)),
    bytes: lambda x: bytes.__getitem__(x, slice(None)),
    tuple: lambda x: tuple.__getitem__(x, slice(None)),
    list: lambda x: list.__getitem__(x, slice(None)),
    set: lambda x: set(set.__iter__(x)),
    frozenset: lambda x: frozenset(frozenset.__iter__(x)),
    dict: lambda x: dict(dict.items(x)),
}
NOTHING_OF_ITS_OWN = {
    "__module__", "__doc__", "__dict__", "__weakref__", "__slots__", "__hash__",
    "__annotations__", "__orig_bases__", "__parameters__", "__qualname__"}

def signature_of(x):
    """(name, kind, default as a text or None) of each parameter."""
    import inspect
    return [(p.name, int(p.kind),
             None if p.default is p.empty else repr(p.default))
            for p in inspect.signature(x).parameters.values()]


def awaited(x):
    import asyncio
    return asyncio.run(x)


# What the tests may do to objects of the program, by its name.
OPERATIONS = {"reversed": reversed, "contains": lambda x, y: y in x,
              "instance": lambda x, y: isinstance(y, x),
              "subclass": lambda x, y: issubclass(y, x), "hash": hash,
              "doc": lambda x: x.__doc__, "signature": signature_of,
              "await": awaited}


def result_of(name, x, *others):
    import operator
    if name in OPERATIONS:
        return OPERATIONS[name](x, *others)
    if name.startswith("swapped "):
        return getattr(operator, name[8:])(*others, x)
    return getattr(operator, name)(x, *others)


class Lent:
    """A function of the tests that the program may call."""

    def __init__(self, kind, number, name):
        self._made = kind, number, name
        self._number = number
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args, **keywords):
        return ask(self._number, args, keywords)


class LentIterator:
    """An iterator of the tests."""

    def __init__(self, number):
        self._number = number

    def __iter__(self):
        return self

    def __next__(self):
        return ask(self._number, (), {})


def ask(number, args, keywords):
    """The result of a function of the tests. They may give orders before."""
    write_frame(pipes[1], held.write(("ask", number, args, keywords)))
    while True:
        order = held.read(read_frame(pipes[0]))
        if order[0] == "answer":
            break
        write_frame(pipes[1], reply_to(order))
    good, result = held.read(order[3])
    if good:
        return result
    raise (error_class(result) or Exception)("in a function of the tests")


pipes = ()  # of the solution's process: orders, replies


class Held:
    """Objects that stay here, by the numbers of their handles."""

    def __init__(self):
        self.objects = []
        self.numbers = {}  # by their ids
        self.named = {}    # classes of named tuples, by name and fields
        self.lent = {}     # by the tests' numbers

    def number(self, x):
        number = self.numbers.setdefault(id(x), len(self.objects))
        if number == len(self.objects):
            self.objects.append(x)
        return Handle(number)

    def place(self, x):
        """What is written for an object that is no plain value itself."""
        if type(x) is Lent:
            return Made(*x._made)
        if type(x) is LentIterator:
            return Made("iterator", x._number)
        for base in BASES:
            if base in type(x).__mro__:
                return self.derived(x, type(x), base)
        return self.number(x)

    def derived(self, x, kind, base):
        """Of a value that compares as its builtin base does, that value."""
        if kind.__eq__ is not base.__eq__ or kind.__ne__ is not base.__ne__:
            return self.number(x)
        if base in KEPT:
            hides = kind.__mro__[:kind.__mro__.index(base)]
            if any(name in vars(known) for known in hides
                   for name in dir(base) if not name.startswith("__")):
                return self.number(x)  # a field called count
            return Kept(BASES[base](x), self.number(x))
        # What can change stays where it is if it has anything of its own.
        own = set().union(*map(vars, kind.__mro__[:kind.__mro__.index(base)]))
        if own - NOTHING_OF_ITS_OWN or getattr(x, "__dict__", None):
            return self.number(x)
        return BASES[base](x)

    def write(self, x):
        return write_value(x, self.place)

    def read(self, data, kept=None):
        return read_value(data, self.objects.__getitem__, kept, self.made)

    def made(self, kind, parts):
        """The object in place of one of the tests (remote.py)."""
        if kind == "named":
            name, fields, values = parts
            known = self.named.get((name, fields))
            if known is None:
                from collections import namedtuple
                known = self.named[name, fields] = namedtuple(name, fields)
            return known(*values)
        if kind == "error":
            return error_class(parts[0])(*parts[1])
        found = self.lent.get(parts[0])
        if found is None:
            found = self.lent[parts[0]] = (Lent(kind, *parts)
                                           if kind == "function"
                                           else LentIterator(*parts))
        return found

    def plain(self, x):
        """The builtin value that a container of a derived class is equal to;
        None where it has an == of its own."""
        kind = type(x)
        for base in (list, dict, set, frozenset):
            if (base in kind.__mro__ and kind.__eq__ is base.__eq__
                    and kind.__ne__ is base.__ne__):
                return BASES[base](x)
        return None


held = Held()


def solution_line(error):
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == SOLUTION:
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError) and error.filename == SOLUTION:
        line = error.lineno or 0
    return line


def args_of(error, names):
    """What its class made the error of, which it does not always keep."""
    for name in names:
        if name in MADE_OF:
            args = [getattr(error, part) for part in MADE_OF[name]]
            while args and args[-1] is None:
                args.pop()
            if args:
                return tuple(args)
    return tuple(error.args)


def raised(error):
    try:
        # Of a text of a class of its own, too, this makes a plain one.
        text = str.__getitem__(str(error), slice(LONGEST_MESSAGE))
    except Exception:
        text = ""
    kinds = type(error).__mro__
    names = [error_name(kind) for kind in kinds]
    line = solution_line(error)
    try:
        args = args_of(error, names)
        return held.write(("raise", names, text, line, args,
                           error))
    except Exception:
        return held.write(("raise", names, text, line, (text,), None))


def carry_out(order, module):
    what, number, name, blob = order
    if what == "load":
        exec(name, module.__dict__)
        exec(compile(blob, SOLUTION, "exec"), module.__dict__)
        return held.write(("value", None, None))
    if what == "names":
        found = {n: module.__dict__[n] for n in name if n in module.__dict__}
        return held.write(("value", found, None))
    kept = []
    args, keywords = held.read(blob, kept)
    target = held.objects[number]
    if what == "get":
        result = getattr(target, name)
    elif what == "set":
        result = setattr(target, name, args[0])
    elif what == "bool":
        result = bool(target)
    elif what == "same":
        result = bool(target == args[0])
    elif what == "plain":
        result = held.plain(target)
    elif what == "kind":
        result = "%s.%s" % (type(target).__module__, type(target).__qualname__)
    elif what == "operate":
        result = result_of(name, target, *args)
    else:
        if what == "method" and not hasattr(type(target), name):
            if name != "__iter__" or not hasattr(type(target), "__getitem__"):
                raise TypeError("a %s has no %s" % (type(target).__name__,
                                                    name))
            target, name, args = iter, None, (target,)
        if name is not None:
            target = getattr(target, name)
        result = target(*args, **keywords)
    # A function that works in place gives None: the tests look at what they
    # handed over. Else arguments stay as they were, for the tests may ask a
    # reference for the right answer to them after this call.
    after = None
    if (what == "call" and result is None
            and held.write((args, keywords)) != blob):
        after = held.write(tuple(kept))
    return held.write(("value", result, after))


def serve(orders, replies):
    module = type(sys)("solution")
    sys.modules["solution"] = module
    global pipes, memory_gone
    pipes = orders, replies
    memory_gone = raised(MemoryError())
    while True:
        data = read_frame(orders)
        if data is None:
            os._exit(0)
        order = held.read(data)
        if order[0] == "main":
            return run_main(order[3], replies)
        write_frame(replies, reply_to(order))


def reply_to(order):
    try:
        return carry_out(order, sys.modules["solution"])
    except MemoryError:
        return memory_gone
    except BaseException as error:
        return raised(error)


def run_main(code, replies):
    module = type(sys)("__main__")
    module.__builtins__ = builtins
    sys.modules["__main__"] = module
    sys.argv = ["solution.py"]
    try:
        exec(compile(code, SOLUTION, "exec"), module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        write_frame(replies, raised(error))
        sys.exit(1)


# --- Giving up powers ----------------------------------------------------

def limit(which, amount, more=0):
    amount = int(amount)
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        amount = min(amount, hard)
        more = min(more, hard - amount)
    resource.setrlimit(which, (amount, amount + more))


def filter_system_calls(code):
    class Program(ctypes.Structure):
        _fields_ = [("count", ctypes.c_ushort), ("code", ctypes.c_char_p)]

    program = Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    number = ctypes.c_ulong
    # Nor may others look into this process, or a crash start the machine's
    # own handling of core dumps.
    if libc.prctl(4, number(0), number(0), number(0), number(0)) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_DUMPABLE")
    if libc.prctl(38, number(1), number(0), number(0), number(0)) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_NO_NEW_PRIVS")
    if libc.prctl(22, number(2), ctypes.byref(program)) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_SECCOMP")


def die_with_parent():
    if ctypes.CDLL(None).prctl(1, ctypes.c_ulong(_signal.SIGKILL)) != 0:
        raise OSError("PR_SET_PDEATHSIG")


def open_files():
    """What the program has as standard input, output and errors. /dev/stdin and
    the like lead to STREAMS, for there is no /proc."""
    named = os.path.isdir(STREAMS)
    files = []
    for stream in ("stdin", "stdout", "stderr"):
        name = ("%s/%s" % (STREAMS, stream) if named
                else "/tmp/%s" % os.urandom(8).hex())
        files.append(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        if not named:
            os.unlink(name)
    return files


# --- The tests' process --------------------------------------------------

def failing_line(error, text):
    """The tests' line that an error came from."""
    line = 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == TESTS:
            line = trace.tb_lineno
        trace = trace.tb_next
    lines = text.split("\n")
    return lines[line - 1].strip()[:300] if 0 < line <= len(lines) else ""


def message_of(error, text, solution):
    said = getattr(error, "said", None)
    where = failing_line(error, text)
    if said is None:
        try:
            detail = str(error)[:LONGEST_MESSAGE]
        except (Exception, Ended):  # it may hold an object of the program
            detail = "(no message)"
        if isinstance(error, AssertionError):
            said = detail
        else:
            said = "%s: %s in the tests" % (type(error).__name__, detail)
    parts = [part for part in (where, said) if part]
    if solution.last_call and isinstance(error, AssertionError):
        parts.append("the last call gave " + short(solution.last_call[0]))
    return "; ".join(parts)


def compare_plain_sets():
    """unittest would hand the expected set to the difference() of an object of
    the program."""
    import unittest
    case = unittest.TestCase
    compare = case.assertSetEqual

    def check(self, first, second, msg=None):
        for one in (first, second):
            if type(one) is Remote:
                raise self.failureException(
                    "an object of the program is not a set")
        compare(self, first, second, msg)
    case.assertSetEqual = check


def run_tests(solution, code, names, asked, given, before, after, tests):
    """The verdict as (kind, number of the test, message)."""
    number = 0
    text = ""
    space = {"__name__": "tests"}
    global methods
    methods = frozenset(asked)
    try:
        solution.order("load", name=given, blob=code)
        # Tests that draw numbers draw the same ones each time.
        if any("random" in test for test in tests):
            import random
            random.seed(0)
        parts = (before, after, *tests)
        if any("unittest" in part for part in parts):
            compare_plain_sets()
        judge_arrays(parts)
        global guards
        if any(word in part.replace("literal_eval", "")
               for part in parts for word in EVALUATING):
            exec(compile(solution.options.evaluated, "<evaluated>", "exec"),
                 globals())
            guards = made_guards(parts)
        text = before
        exec(compile(text, TESTS, "exec"), space)
        found = solution.order("names", name=names)[1]
        if guards is not None:
            guards.received -= set(names)  # the keys of `found`
        # These names alone: else a program could replace the tests' builtins.
        if type(found) is dict:
            space.update((name, found[name]) for name in names
                         if name in found)
            solution.functions = frozenset(
                object.__getattribute__(x, "_number") for x in found.values()
                if type(x) is Remote)
        text = after
        exec(compile(text, TESTS, "exec"), space)
        for number, text in enumerate(tests, 1):
            solution.last_call = None
            exec(compile(text, TESTS, "exec"), space)
    except Ended:
        pass
    except MemoryError as error:
        if solution.ended is None:
            solution.ended = Ended("out of memory",
                                   message_of(error, text, solution))
    except BaseException as error:
        if solution.ended is None:
            solution.ended = Ended("failed", message_of(error, text, solution))
    if len(tests) == 1:
        number = solution.calls
    if solution.ended is not None:
        return solution.ended.kind, number, solution.ended.message
    return "passed", number, ""


def run_stdio(solution, code, given, files):
    """The verdict as (kind, 1, message) and the output."""
    try:
        with open(files[0], "wb", closefd=False) as file:
            file.write(given)
        os.lseek(files[0], 0, os.SEEK_SET)
        write_frame(solution.orders, write_value(("main", 0, None, code),
                                                 number_of))
        report = read_frame(solution.replies, solution.wait_readable,
                            LONGEST_VALUE)
        solution.wait_status(max(0.0, solution.deadline - time.monotonic()))
        if solution.status is None:
            raise Ended("timed out", "over %g s" % solution.options.wall)
        exit_code = 0
        if os.WIFEXITED(solution.status):
            exit_code = os.WEXITSTATUS(solution.status)
        else:
            raise solution.ended_by()
        kind, message = "passed", ""
        if exit_code != 0:
            kind = "failed"
            message = "the program ended with exit code %d" % exit_code
            if report is not None:
                error = read_reply(report)
                message = error.said
                if isinstance(error, MemoryError):
                    kind = "out of memory"
            else:
                size = os.fstat(files[2]).st_size
                last = os.pread(files[2], 300, max(0, size - 300))
                if last:
                    message += ": " + last.decode("utf-8", "replace").strip()
    except Ended as ended:
        kind, message = ended.kind, ended.message
    except BrokenPipeError:
        solution.wait_status(1.0)
        ended = solution.ended_by()
        kind, message = ended.kind, ended.message
    except Exception as error:
        kind, message = "failed", "an unreadable report: %s" % error
    size = os.fstat(files[1]).st_size
    return (kind, 1, message), os.pread(files[1], size, 0)


# --- Both ----------------------------------------------------------------

class Options:
    def __init__(self, words):
        self.weak = words[0] == "weak"
        self.cpu, self.wall = float(words[1]), float(words[2])
        self.memory, self.file, self.threads = map(int, words[3:6])
        self.filter = bytes.fromhex(words[6])
        self.evaluated = words[7]  # evaluated.py


def module_folders():
    """sys.path without the current folder, with that of installed modules."""
    version = "python%d.%d" % sys.version_info[:2]
    installed = ("/usr/local/lib/%s/dist-packages" % version,
                 "%s/lib/python3/dist-packages" % sys.prefix,
                 "%s/lib/%s/site-packages" % (sys.prefix, version))
    return ([folder for folder in sys.path if folder]
            + [folder for folder in installed if os.path.isdir(folder)])


def become_solution(options, files):
    for fd, file in enumerate(files):
        os.dup2(file, fd)
        os.close(file)
    if not options.weak:
        # In the weak mode all of the user's processes would count.
        limit(resource.RLIMIT_NPROC, options.threads)
    limit(resource.RLIMIT_CPU, -(-options.cpu // 1), 1)
    limit(resource.RLIMIT_AS, options.memory)
    limit(resource.RLIMIT_FSIZE, options.file)
    limit(resource.RLIMIT_NOFILE, 64)
    limit(resource.RLIMIT_CORE, 0)
    filter_system_calls(options.filter)


def main():
    options = Options(sys.argv[1:])
    sys.argv[1:] = []
    sys.path[:] = module_folders()
    builtins.exit = builtins.quit = sys.exit
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    if options.weak:
        die_with_parent()
    orders, to_solution = os.pipe()
    from_solution, replies = os.pipe()
    files = open_files()
    # Tests and program find each other's files by short names.
    if options.weak:
        os.chdir("/tmp")
    pid = os.fork()
    if pid == 0:
        if options.weak:
            die_with_parent()
        os.close(to_solution)
        os.close(from_solution)
        become_solution(options, files)
        return serve(orders, replies)
    os.close(orders)
    os.close(replies)
    # Tests may print what the program gave: never into the verdict.
    channel = os.dup(0)
    nothing = os.open("/dev/null", os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    limit(resource.RLIMIT_AS, options.memory)
    limit(resource.RLIMIT_CORE, 0)
    filter_system_calls(options.filter)
    global the_solution
    the_solution = Solution(pid, to_solution, from_solution, options)
    write_fields(channel, [b"ready"])
    style, code, *rest = read_fields(channel)
    the_solution.deadline = time.monotonic() + options.wall
    output = b""
    if style == b"stdio":
        verdict, output = run_stdio(the_solution, code, rest[0], files)
    else:
        names, asked, given, before, after, *tests = [
            field.decode("utf-8", "replace") for field in rest]
        verdict = run_tests(the_solution, code, names.split(), asked.split(),
                            given, before, after, tests)
    if the_solution.status is None and not options.weak:
        # Its end tells the time that it took.
        os.kill(pid, _signal.SIGKILL)
        the_solution.wait_status(1.0)
    kind, number, message = verdict
    write_fields(channel, [kind.encode(), str(number).encode(),
                     message[:2 * LONGEST_MESSAGE].encode("utf-8", "replace"),
                     repr(the_solution.seconds).encode(), output])
    os._exit(0)


main()
