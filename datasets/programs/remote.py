"""The solution's process as the tests see it: orders and replies, and a Remote
in place of every object that is no plain value.

Its text stands between those of lent.py and worker.py, whose frames it uses.
"""

class Ended(BaseException):
    """The solution's process is gone or late: no test can go on."""

    def __init__(self, kind, message):
        super().__init__(kind, message)
        self.kind = kind
        self.message = message


PLAIN = (bool, int, float, complex, str, bytes, bytearray, list, tuple, dict,
         set, frozenset)
SINGLE = (int, float, complex, str, bytes)
CALLS_TIME = 4     # the tests' CPU time on calls, in that of the solution


def number_of(x):
    """What is written for an object that is no plain value (values.py)."""
    if type(x) in KEPT_CLASSES:
        x = x.__dict__["_object"]
    if type(x) is Walk and x.place == len(x.view.items):
        x = x.view.source
    if type(x) is Remote:
        return Handle(object.__getattribute__(x, "_number"))
    if is_nothing(x):
        return plain_array(x)
    found = made_of(x)
    if found is not None:
        return found
    # The tests' own enumerations and the like.
    for base in PLAIN:
        if isinstance(x, base):
            return base(x)
    raise TypeError("the tests hand the solution a %s, which cannot leave "
                    "their process" % type(x).__name__)


KEPT_CLASSES = frozenset(KEPT.values())

remotes = {}  # by their numbers: an object has one Remote
taken_of = set()  # numbers of iterators that next() took from, and no walk
bound = {}  # quiet methods: (number of the object, name) by their numbers


def is_quiet(name):
    """Whether a call of the method of this name changes no object."""
    return (name in QUIET or name.startswith(("is_", "has_"))
            ) and name not in methods


def remote_of(number):
    found = remotes.get(number)
    if found is None:
        found = remotes[number] = Remote(number)
    return found


def read_reply(data):
    """("value", result, arguments afterwards or None), or an error to raise.
    Afterwards: what has a place in them (values.py)."""
    texts = []
    reply = read_value(data, remote_of, nothing=array_of_nothing, texts=texts,
                       made=lent_back)
    if (type(reply) is tuple and len(reply) == 4 and reply[0] == "ask"
            and type(reply[1]) is int and 0 <= reply[1] < len(lent)
            and type(reply[2]) is tuple and type(reply[3]) is dict
            and all(type(key) is str for key in reply[3])):
        see_texts(texts[1:])
        return reply
    del texts[:1]  # the kind of reply
    if type(reply) is tuple and len(reply) == 3 and reply[0] == "value":
        if reply[2] is None:
            see_texts(texts)
            return reply
        if type(reply[2]) is bytes:
            after = read_value(reply[2], remote_of, texts=texts,
                               made=lent_back)
            see_texts(texts)
            if type(after) is tuple:
                return reply[0], reply[1], after
    if type(reply) is tuple and len(reply) == 6 and reply[0] == "raise":
        _, names, text, line, args, raised = reply
        see_texts(texts)
        if (type(names) is list and names and type(text) is str
                and type(line) is int and type(args) is tuple
                and all(type(name) is str for name in names)):
            return error_of(names, text, line, args, raised)
    raise ValueError("an invalid reply")


def error_of(names, text, line, args, raised):
    """raised: the error as an object of the program, or None."""
    kind = Exception
    for name in names:
        found = error_class(name)
        if found is not None:
            kind = found
            break
    own = names[0].rpartition(".")[2]
    if own != kind.__name__ and own.isidentifier() and len(own) <= 100:
        # A class of the program: a name, the text that it has there, and the
        # attributes of the object.
        def attribute(self, name):
            if name.startswith("__") or type(raised) is not Remote:
                raise AttributeError(name)
            return getattr(raised, name)

        kind = type(own, (kind,), {"__str__": lambda self: text,
                                   "__module__": "solution",
                                   "__getattr__": attribute})
    try:
        if issubclass(kind, UnicodeError) and len(args) == 5:
            if not 0 <= args[2] < args[3] <= len(args[1]):
                raise ValueError("no place in the text")
        error = kind(*args)
    except Exception:
        error = kind.__new__(kind)
        error.args = (text,)
    where = " (line %d of the solution)" % line if line else ""
    error.said = "%s: %s%s" % (own, text, where)
    return error


class Solution:
    """The way to the solution's process."""

    def __init__(self, pid, orders, replies, options):
        self.pid = pid
        self.orders = orders
        self.replies = replies
        self.options = options
        self.ended = None       # Ended, once it was raised
        self.seconds = 0.0      # of CPU
        self.waits = 0.0        # CPU time of the tests' process on calls
        self.calls = 0
        self.changes = 0        # orders that may change the program's objects
        self.functions = frozenset()  # numbers of what tests call by its name
        self.last_call = None   # what it gave, in a list
        self.deadline = 0.0
        self.status = None

    def wait_status(self, seconds):
        """True once the process has ended."""
        until = time.monotonic() + seconds
        while self.status is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid != 0:
                self.status = status
                self.seconds = usage.ru_utime + usage.ru_stime
            elif time.monotonic() >= until:
                return False
            else:
                time.sleep(0.001)
        return True

    def ended_by(self):
        """What the end of the process means."""
        if self.status is None:
            return Ended("crashed",
                         "the program closed its connection to the tests")
        if os.WIFSIGNALED(self.status):
            signal = os.WTERMSIG(self.status)
            if signal == _signal.SIGSYS:
                return Ended("forbidden", "a forbidden system call (network, "
                             "new processes, tracing, mounting, ...)")
            if signal == _signal.SIGXCPU or (
                    signal == _signal.SIGKILL
                    and self.seconds >= self.options.cpu):
                return Ended("timed out", "over %g s of CPU time"
                             % self.options.cpu)
            return Ended("crashed", "the program's process was ended by signal "
                         "%d (%s)" % (signal, _signal.strsignal(signal)))
        return Ended("crashed", "the program ended its process with exit code "
                     "%d before the tests had ended"
                     % os.WEXITSTATUS(self.status))

    def wait_readable(self, fd):
        while True:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise self.end(Ended("timed out",
                                     "over %g s" % self.options.wall))
            poll = select.poll()
            poll.register(fd, select.POLLIN)
            if poll.poll(min(50, left * 1000 + 1)):
                return
            if self.wait_status(0):
                return
            self.check_files()

    def check_files(self):
        """tmpfs bounds the bytes of files, and nothing their number."""
        if self.options.weak:
            return
        disk = os.statvfs("/tmp")
        if disk.f_files - disk.f_ffree > MOST_FILES:
            raise self.end(Ended("failed", "the program created over %d files"
                                 % MOST_FILES))

    def end(self, ended):
        if self.ended is None:
            self.ended = ended
        return self.ended

    def order(self, what, number=0, name=None, blob=b""):
        if self.ended is not None:
            raise self.ended
        # An object without an end takes the tests' time and hardly its own; so
        # do long values, which the tests' process writes and reads.
        if self.waits > CALLS_TIME * self.options.cpu:
            raise self.end(Ended("timed out", "over %g s of CPU time for calls "
                                 "of the program"
                                 % (CALLS_TIME * self.options.cpu)))
        began = time.process_time()
        try:
            return self.exchange(what, number, name, blob)
        finally:
            self.waits += time.process_time() - began

    def exchange(self, what, number, name, blob):
        began = time.process_time()
        reply = self.transfer(what, number, name, blob)
        while type(reply) is tuple and reply[0] == "ask":
            if time.process_time() - began > CALLS_TIME * self.options.cpu:
                raise self.end(Ended("timed out", "over %g s of CPU time for "
                                     "functions of the tests"
                                     % (CALLS_TIME * self.options.cpu)))
            reply = self.transfer("answer", 0, None, asked(*reply[1:]))
        if type(reply) is tuple:
            return reply
        # What ends an iteration may not end one of the tests' own.
        if isinstance(reply, (StopIteration, StopAsyncIteration,
                              GeneratorExit)) and name != "__next__":
            said = reply.said
            reply = RuntimeError("the solution raised " + type(reply).__name__)
            reply.said = said
        raise reply

    def transfer(self, what, number, name, blob):
        """Sends an order and reads the reply: a tuple or an error."""
        try:
            write_frame(self.orders, write_value((what, number, name, blob),
                                                 number_of))
            reply = read_frame(self.replies, self.wait_readable, LONGEST_VALUE)
        except BrokenPipeError:
            reply = None
        except ValueError as error:
            raise self.end(Ended("failed", "the solution gave %s" % error))
        if reply is None:
            self.wait_status(1.0)
            raise self.end(self.ended_by())
        try:
            return read_reply(reply)
        except MemoryError:
            raise
        except Exception as error:
            raise self.end(Ended("failed", "the solution returned a value that "
                                 "cannot be read: %s" % error))

    def call(self, what, number, name, args, keywords, quiet=False):
        """quiet: of what changes no object of the program."""
        kept = []
        single = {}  # numbers and texts of classes of the tests
        handed = []  # objects of the program

        def handle(x):
            found = number_of(x)
            if type(found) in SINGLE:
                single[type(found), found] = x
            elif type(found) is Handle or type(found) is Made:
                handed.append(found)
            return found

        blob = write_value((args, keywords), handle, kept)
        if what == "call" and not quiet:
            if number in self.functions and not handed and not methods:
                views.pop(number, None)
            else:
                self.changes += 1
        elif what == "set" or name in CHANGING:
            self.changes += 1
        if what == "call":
            self.calls += 1
            self.last_call = None
        _, result, after = self.order(what, number, name, blob)
        if what == "call" and result is None and after is not None:
            copy_back(kept, after, single)
        if what == "call":
            self.last_call = [result]
            see_list(result)
        return result


def written_as(x):
    """The type that x of the tests has where it went."""
    if is_array(x):
        return "array"
    kind = type(x)
    if kind in CONTAINER or (kind.__module__, kind.__name__) in FROM_MODULES:
        return kind
    return next((base for base in PLAIN if isinstance(x, base)), kind)


def class_of_methods(x):
    """The class of the library whose methods change x, for those of a class of
    the tests may do more."""
    return next(kind for kind in type(x).__mro__
                if kind.__module__ in ("builtins", "collections", "array"))


def fill(mine, new, mapped):
    """Makes the contents of `mine` those of `new`, each as mapped() has it."""
    if is_array(mine):
        if (mine.shape == new.shape and mine.dtype == new.dtype
                and mine.flags.writeable):
            mine[...] = plain_array(new)
            if mine.dtype.char == "O":
                for i, item in enumerate(new.flat):
                    mine.flat[i] = mapped(item)
        return
    if not isinstance(mine, (list, bytearray, set, dict)) and (
            type(mine).__name__ not in ("array", "deque")):
        return
    kind = class_of_methods(mine)
    if isinstance(mine, list):
        kind.__setitem__(mine, slice(None), list(map(mapped, new)))
    elif isinstance(mine, dict):
        items = [(mapped(key), mapped(item)) for key, item in new.items()]
        kind.clear(mine)
        for key, item in items:
            kind.__setitem__(mine, key, item)
    elif isinstance(mine, set):
        items = list(map(mapped, new))
        kind.clear(mine)
        kind.update(mine, items)
    elif type(mine).__name__ == "deque":
        items = list(map(mapped, new))
        mine.clear()
        mine.extend(items)
    else:
        mine[:] = new


def copy_back(kept, changed, single):
    """Gives what the tests handed over the contents that it has now, wherever
    it stands in it: `kept` are the tests' objects, `changed` the same ones as
    they came back. What is of a class of the tests is the object that it was,
    and a number or a text of such a class where the program left its equal."""
    if (len(kept) != len(changed)
            or any(written_as(x) is not written_as(y)
                   for x, y in zip(kept, changed))):
        return
    mine = {id(new): old for old, new in zip(kept, changed)}
    seen = {}  # what came back new, and what stands for it, by the id

    def mapped(x):
        if type(x) in SINGLE:
            return single.get((type(x), x), x)
        if id(x) in mine:
            return mine[id(x)]
        if id(x) not in seen:
            seen[id(x)] = x, x
            if type(x) is tuple:
                seen[id(x)] = x, tuple(map(mapped, x))
            else:
                fill(x, x, mapped)
        return seen[id(x)][1]

    for old, new in zip(kept, changed):
        fill(old, new, mapped)


def short(x):
    """A repr bounded in time: shared parts may be written many times."""
    import reprlib
    write = reprlib.Repr()
    write.maxlist = write.maxtuple = write.maxdict = 40
    write.maxset = write.maxfrozenset = write.maxdeque = write.maxarray = 40
    write.maxlevel = 4
    write.maxstring = write.maxlong = write.maxother = 200
    try:
        text = write.repr(x)
    except (Exception, Ended):
        text = "a " + type(x).__name__
    return text if len(text) <= 200 else text[:200] + "..."


the_solution = None

guards = None  # of tests that evaluate (evaluated.py)


def see_texts(texts):
    if guards is not None:
        guards.received.update(texts)


# What an object may say that it is an instance of. None of these is compared,
# computed with or judged as a plain value.
KINDS = frozenset(
    "builtins.generator builtins.coroutine builtins.async_generator "
    "builtins.function builtins.builtin_function_or_method builtins.method "
    "builtins.map builtins.filter builtins.zip builtins.enumerate "
    "builtins.reversed builtins.list_iterator builtins.dict_keyiterator "
    "builtins.mappingproxy builtins.module re.Match "
    "argparse.Namespace configparser.ConfigParser csv.DictReader "
    "csv.DictWriter email.message.Message email.message.EmailMessage "
    "email.mime.multipart.MIMEMultipart email.mime.text.MIMEText "
    "functools.partial hashlib.HASH http.cookies.SimpleCookie io.BytesIO "
    "_io.BytesIO io.StringIO _io.StringIO _io.TextIOWrapper _io.BufferedReader "
    "_io.BufferedWriter ipaddress.IPv4Address ipaddress.IPv4Network "
    "ipaddress.IPv6Address ipaddress.IPv6Network itertools.chain "
    "itertools.count itertools.cycle itertools.groupby itertools.islice "
    "itertools.permutations itertools.product itertools.combinations "
    "logging.Logger logging.FileHandler logging.StreamHandler queue.Queue "
    "queue.LifoQueue queue.PriorityQueue random.Random sqlite3.Connection "
    "sqlite3.Cursor string.Template threading.Thread types.SimpleNamespace "
    "uuid.UUID xml.etree.ElementTree.Element "
    "xml.etree.ElementTree.ElementTree zipfile.ZipFile".split())


def known_class(name):
    """The class of KINDS that has this name; Remote if there is none."""
    if type(name) is str and name in KINDS:
        module, _, name = name.rpartition(".")
        import types
        found = {"generator": types.GeneratorType,
                 "coroutine": types.CoroutineType,
                 "async_generator": types.AsyncGeneratorType,
                 "function": types.FunctionType,
                 "builtin_function_or_method": types.BuiltinFunctionType,
                 "method": types.MethodType,
                 "mappingproxy": types.MappingProxyType,
                 "module": types.ModuleType,
                 "list_iterator": type(iter([])),
                 "dict_keyiterator": type(iter({})),
                 }.get(name) or getattr(sys.modules.get(module), name, None)
        if isinstance(found, type):
            return found
    return Remote


classes = {}  # of objects by their numbers, once somebody has asked

CONTAINERS = (list, dict, set, frozenset)

# Questions of yes or no that texts, sets, numbers, paths and arrays answer. An
# object that says yes to all of them would be any text that a test looks for.
PREDICATES = frozenset(
    "startswith endswith isalnum isalpha isascii isdecimal isdigit "
    "isidentifier islower isnumeric isprintable isspace istitle isupper "
    "issubset issuperset isdisjoint is_integer is_zero is_nan is_finite "
    "is_infinite is_signed same_quantum exists is_file is_dir is_symlink "
    "is_absolute is_relative_to samefile match full_match all any "
    "equals".split())
# Questions about a value that tests hand over: it tells an object what is
# expected, and lets it answer 0, nothing, or that very value.
QUESTIONS = frozenset(
    "find rfind index rindex count partition rpartition split rsplit strip "
    "lstrip rstrip removeprefix removesuffix replace translate union "
    "intersection difference symmetric_difference compare clip dot "
    "searchsorted relative_to joinpath with_name with_stem "
    "with_suffix remove".split())

def only_of_plain_values(name, method):
    """A method of the program in place of one that plain values have."""
    def ask(*args, **keywords):
        given = (*args, *keywords.values())
        between = given and all(type(x) is Remote for x in given)
        if between or not given and name not in PREDICATES:
            return method(*args, **keywords)
        raise TypeError("an object of the program has no %s: only plain "
                        "values have it" % name)
    return ask


# The methods of objects, among those that the tests' process asks for by
# itself, that may change something.
CHANGING = frozenset(("__setitem__", "__delitem__", "__enter__", "__exit__"))


def operate(x, name, *others):
    return the_solution.call("operate", x._number, name, others, {})


hashes = {}  # by the numbers of objects


def signature_of_parts(parts):
    """Of the parameters that the program told; their defaults are texts."""
    import inspect
    return inspect.Signature([
        inspect.Parameter(name, inspect._ParameterKind(kind),
                          default=inspect.Parameter.empty if default is None
                          else default)
        for name, kind, default in parts])


class Remote:
    # An object of the solution's process. (No docstring: __doc__ is its own.)
    #
    # It is equal to no plain value but that of a builtin container that it
    # derives from: the solution's own idea of == must not decide a test. Nor
    # does it learn what is expected where that can be helped: `in` walks
    # through it, an operator is the program's only between two of its objects, for
    # `f(x) - 4` would tell it, and so are the methods of plain values that are
    # asked about a value. What tests hand to its other methods it knows.

    __slots__ = ("_number",)

    def __init__(self, number):
        object.__setattr__(self, "_number", int(number))

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __call__(self, *args, **keywords):
        owner, name = bound.get(self._number, (None, None))
        if name in PARTS and not args and not keywords:
            return view_of(owner).part(name, self._number)
        if name == "get" and not is_mapping(remote_of(owner)):
            name = None  # which may be a cache
        found = the_solution.call("call", self._number, None, args, keywords,
                                  quiet=name is not None)
        if name == "get" and args and found is not None and (
                len(args) < 2 or found is not args[1]):
            view_of(owner).see_get(args[0], found)
        return found

    def __getattr__(self, name):
        if name.startswith("__") and name not in ("__name__", "__qualname__",
                                                  "__wrapped__"):
            raise AttributeError(name)
        seen = view_of(self._number).attributes
        if name not in seen:
            seen[name] = self.attribute(name)
        return seen[name]

    def attribute(self, name):
        found = the_solution.call("get", self._number, name, (), {})
        if type(found) is Remote and is_quiet(name) and not (
                holds_children(self)):
            bound[found._number] = self._number, name
        guarded = name in PREDICATES or name in QUESTIONS
        if type(found) is not Remote or not guarded or name in methods:
            return found
        plain = the_solution.call("plain", self._number, None, (), {})
        if type(plain) in CONTAINERS and hasattr(plain, name):
            return getattr(plain, name)
        # The program chooses what it is an instance of, and that class has no
        # more methods than it has.
        kind = self.__class__
        if kind is not Remote and hasattr(kind, name):
            return found
        return only_of_plain_values(name, found)

    def __setattr__(self, name, new):
        the_solution.call("set", self._number, name, (new,), {})

    @property
    def __class__(self):
        number = object.__getattribute__(self, "_number")
        found = classes.get(number)
        if found is None:
            name = the_solution.call("kind", number, None, (), {})
            found = classes[number] = known_class(name)
        return found

    def __eq__(self, other):
        if type(other) is Remote:
            return the_solution.call("same", self._number, None, (other,), {})
        if type(other) not in CONTAINERS:
            return False
        # Of a container that compares as its builtin base does, the value it
        # has now is what the tests compare, as if the program had given that.
        plain = the_solution.call("plain", self._number, None, (), {})
        if type(plain) not in CONTAINERS:
            return False
        view_of(self._number).see_plain(plain)
        return plain == other

    def __array_ufunc__(self, function, method, *inputs, **keywords):
        return compute(function, method, inputs, keywords)

    def __hash__(self):
        found = hashes.get(self._number)
        if found is None:
            found = hashes[self._number] = operate(self, "hash")
        return found

    @property
    def __doc__(self):
        found = operate(self, "doc")
        return found if type(found) is str else None

    @property
    def __signature__(self):
        return signature_of_parts(operate(self, "signature"))

    def __await__(self):
        return operate(self, "await")
        yield

    def __len__(self):
        view = view_of(self._number)
        if view.length is not None:
            return view.length
        length = the_solution.call("method", self._number, "__len__", (), {})
        if view.begun:
            view.begun = False  # list() and the like guess how long they get
        else:
            view.length = length
            view.check()
        return length

    def __getitem__(self, key):
        return view_of(self._number).index(self, key)

    def __iter__(self):
        view = view_of(self._number)
        if view.source is None:
            found = the_solution.call("method", self._number, "__iter__", (),
                                      {})
            if found is self:  # an iterator, which is walked through once
                if self._number not in streams:
                    streams[self._number] = Stream(
                        self._number, self._number in taken_of)
                return self
            if type(found) is not Remote:
                return found
            view.source = found
        view.begun = True
        return Walk(view, self)

    def __bool__(self):
        return view_of(self._number).tell("bool", lambda: the_solution.call(
            "bool", self._number, None, (), {}))

    def __reversed__(self):
        found = operate(self, "reversed")
        if is_mapping(self) or defined("__reversed__", "__iter__"):
            return found
        items, done, error = take_items(iter(found).__next__, MOST_LOOKED_AT)
        if error is not None:
            raise error
        if not done:
            disagree("it gives over %s items", MOST_LOOKED_AT)
        view = view_of(self._number)
        return iter([view.at(self, len(items) - 1 - place, item)
                     for place, item in enumerate(items)])

    def __contains__(self, x):
        if type(x) is Remote:
            return bool(operate(self, "contains", x))
        found = False
        for taken, item in enumerate(self):
            if taken == MOST_LOOKED_AT:
                raise AssertionError("an object of the program gives over %d "
                                     "items" % MOST_LOOKED_AT)
            found = found or x is item or x == item
        return found

    def __next__(self):
        stream = streams.get(self._number)
        if stream is not None:
            return next(stream)
        if self.__class__ is known_class("builtins.coroutine"):
            raise StopIteration(operate(self, "await"))
        taken_of.add(self._number)
        return the_solution.call("method", self._number, "__next__", (), {})

    def __instancecheck__(self, x):
        if type(x) in KEPT_CLASSES:
            x = x.__dict__["_object"]
        return type(x) is Remote and bool(operate(self, "instance", x))

    def __subclasscheck__(self, x):
        return type(x) is Remote and bool(operate(self, "subclass", x))

    def __exit__(self, *error):
        # It does not see what the tests raised, and cannot make them go on.
        the_solution.call("method", self._number, "__exit__",
                          (None, None, None), {})
        return False


for method in ("__setitem__", "__delitem__", "__enter__"):
    def forward(self, *args, method=method):
        return remote_method(self, method, *args)
    setattr(Remote, method, forward)

for method in ("__str__", "__repr__"):
    def forward(self, method=method):
        return view_of(self._number).tell(
            method, lambda: remote_method(self, method))
    setattr(Remote, method, forward)

# No conversion to a number: an object may give another one each time, and
# pass for a root of a polynomial.
for method in ("neg", "pos", "invert"):
    def forward(self, method=method):
        return operate(self, method)
    setattr(Remote, "__%s__" % method, forward)

for method in ("lt", "le", "gt", "ge", "add", "sub", "mul", "matmul",
               "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_",
               "or_", "xor"):
    name = "__%s__" % method.rstrip("_")
    swapped = "__r%s__" % method.rstrip("_")

    def forward(self, other, method=method, name=name):
        if type(other) is not Remote and not defined(name):
            return NotImplemented
        return operate(self, method, other)

    def forward_swapped(self, other, method=method, swapped=swapped):
        if not defined(swapped):
            return NotImplemented
        return operate(self, "swapped " + method, other)
    setattr(Remote, name, forward)
    if method not in ("lt", "le", "gt", "ge"):
        setattr(Remote, swapped, forward_swapped)
