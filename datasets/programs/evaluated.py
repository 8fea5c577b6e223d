"""What tests evaluate, where the program's text may be in it.

`eval(candidate([4, 7, 8, 8])) == 24` runs the program's text in the tests'
process, where it could return an object that equals everything, or end the
process. So once a program has given any text, eval, exec and compile in tests
take

- a text that stands in the tests as it is, and no program gave;
- one that the tests form (f"...", +, %, format()) with literals in the holes;
- a literal, or arithmetic on literals, wherever it comes from.

With anything else the sample fails, and the message says why. compile() gives
code of any text, which only these may run. pickle.loads and the like read plain
values, and other classes only from what the tests pickled themselves.

What this leaves: functions of the standard library that evaluate a text
(timeit) or run a file.

The worker runs this text, with its own names, for tests that may evaluate.
"""

LONGEST_TEXT = 1000000   # characters that are parsed
LONGEST_FORMED = 10000   # characters of a text with holes: they are searched
MOST_HOLES = 6
MOST_BITS = 1000000      # of a number that a program's text has computed


class Unsafe(Exception):
    """No literal, and no arithmetic on literals."""


# --- Literals ------------------------------------------------------------

def bits(x):
    return x.bit_length() if isinstance(x, int) else 0


def bounded(operator, x, y):
    """Whether the result is a number of at most MOST_BITS bits."""
    if operator == "Pow" and isinstance(y, int):
        return abs(y) * max(bits(x), 1) <= MOST_BITS
    if operator == "LShift":
        return isinstance(y, int) and bits(x) + y <= MOST_BITS
    return bits(x) + bits(y) <= MOST_BITS


OPERATORS = {
    "Add": "add", "Sub": "sub", "Mult": "mul", "Div": "truediv",
    "FloorDiv": "floordiv", "Mod": "mod", "Pow": "pow", "LShift": "lshift",
    "RShift": "rshift", "BitOr": "or_", "BitAnd": "and_", "BitXor": "xor",
    "UAdd": "pos", "USub": "neg", "Invert": "invert", "Not": "not_",
    "Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtE": "le", "Gt": "gt", "GtE": "ge"}
NUMBERS = (bool, int, float, complex)


def literal(node):
    """The value of a tree of literals and arithmetic on them; Unsafe if it is
    none."""
    import operator
    kind = type(node).__name__
    if kind == "Expression":
        return literal(node.body)
    if kind == "Constant":
        return node.value
    if kind in ("Tuple", "List", "Set"):
        build = {"Tuple": tuple, "List": list, "Set": set}[kind]
        return build(map(literal, node.elts))
    if kind == "Dict" and None not in node.keys:
        return dict(zip(map(literal, node.keys), map(literal, node.values)))
    if kind == "UnaryOp":
        x = literal(node.operand)
        if type(x) in NUMBERS:
            return getattr(operator, OPERATORS[type(node.op).__name__])(x)
    if kind == "BinOp":
        name = type(node.op).__name__
        x, y = literal(node.left), literal(node.right)
        if type(x) in NUMBERS and type(y) in NUMBERS and name in OPERATORS:
            if not bounded(name, x, y):
                raise Unsafe("a number of over %d bits" % MOST_BITS)
            return getattr(operator, OPERATORS[name])(x, y)
    if kind == "Call" and getattr(node.func, "id", "") == "set" and not (
            node.args or node.keywords):
        return set()
    if kind == "Compare" and len(node.ops) == 1:
        name = type(node.ops[0]).__name__
        if name in OPERATORS:
            return getattr(operator, OPERATORS[name])(
                literal(node.left), literal(node.comparators[0]))
    raise Unsafe("a " + kind)


# --- The tests' own texts ------------------------------------------------

def forms_of(node):
    """The texts around the holes of what a test forms; None if it forms none.
    A hole is None."""
    import re
    kind = type(node).__name__
    if kind == "JoinedStr":
        return [part.value if type(part).__name__ == "Constant" else None
                for part in node.values]
    if kind == "Constant" and type(node.value) is str:
        split = re.split(r"%[srdifg]|\{[^{}]*\}", node.value)
        if len(split) > 1:
            return [x for part in split for x in (None, part)][1:]
    if kind == "BinOp" and type(node.op).__name__ == "Add":
        parts = []
        for side in (node.left, node.right):
            if type(side).__name__ == "Constant":
                parts.append(side.value if type(side.value) is str else None)
            else:
                parts += forms_of(side) or [None]
        if any(type(part) is str for part in parts):
            return parts
    return None


def enclosed(form):
    """Of each hole, whether brackets or commas of the tests are around it."""
    texts = [x or "" for x in form]
    return [texts[i - 1].rstrip()[-1:] in ("(", "[", ",")
            and texts[i + 1].lstrip()[:1] in (")", "]", ",")
            if 0 < i < len(form) - 1 else False
            for i, x in enumerate(form) if x is None]


class OwnTexts:
    """The texts in the tests' source, and those that it forms."""

    def __init__(self, parts):
        import ast
        import re
        self.texts = set()
        self.forms = []
        for part in parts:
            try:
                nodes = list(ast.walk(ast.parse(part)))
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            for node in nodes:
                if type(node).__name__ == "Constant":
                    if type(node.value) in (str, bytes):
                        self.texts.add(node.value)
                form = forms_of(node)
                if (form and form.count(None) <= MOST_HOLES
                        and any(type(x) is str and x.strip() for x in form)):
                    self.forms.append((form, re.compile("".join(
                        "(.*?)" if x is None else re.escape(x)
                        for x in form), re.S)))

    def forms_it(self, text):
        """Whether it is one that the tests form, with literals in the holes."""
        if len(text) > LONGEST_FORMED:
            return False
        for form, pattern in self.forms:
            found = pattern.fullmatch(text)
            if found and all(map(fits, found.groups(), enclosed(form))):
                return True
        return False


def fits(text, enclosed):
    """Whether it is a literal or arithmetic that does not change what stands
    around it: no "24 #", "not 0", "1, 2", "1) + x + (1" or new line. Several
    with commas between only where brackets enclose them."""
    import ast
    if any(sign in text for sign in "\n\r\f"):
        return False
    try:
        for form in ("(%s)", "[%s]"):
            tree = ast.parse(form % text, mode="eval")
            literal(tree)
            if any(type(node).__name__ in ("Not", "Compare")
                   for node in ast.walk(tree)):
                return False
        if enclosed:
            return True
        # As one value: "(1, 2)" is a tuple, and "[1, 2]" holds two.
        return len(tree.body.elts) == 1
    except Exception:
        return False


# --- The guards ----------------------------------------------------------

def as_text(x):
    if isinstance(x, (bytes, bytearray, memoryview)):
        return bytes(x).decode("utf-8", "replace")
    return x


class Guards:
    """eval, exec, compile and unpickling of tests whose source has the words.

    received: all texts that the program gave."""

    def __init__(self, parts):
        self.own = OwnTexts(parts)
        self.received = set()
        self.code = {}     # by id: (code, whether it is the tests' own)
        self.pickled = set()
        self.marshal = any("marshal" in part for part in parts)
        # Programs can write what tests read.
        self.files = any(word in part for part in parts
                         for word in ("open(", "read_text", "read_bytes"))
        self.eval, self.exec = eval, exec
        self.compile = compile

    def refuse(self, why):
        raise the_solution.end(Ended(
            "failed", "the tests would run what the program gave: " + why))

    def is_own(self, text):
        received = set(map(as_text, self.received))
        if not received and not self.files:
            return True
        text = as_text(text)
        if any(text in x for x in received):
            return False
        return text in map(as_text, self.own.texts) or self.own.forms_it(text)

    def literal_of(self, source):
        """The value of a program's text."""
        import ast
        if len(source) > LONGEST_TEXT:
            self.refuse("a text of over %d characters" % LONGEST_TEXT)
        if isinstance(source, str):
            source = source.lstrip(" \t")
        tree = ast.parse(source, mode="eval")
        try:
            return literal(tree)
        except Unsafe as unsafe:
            self.refuse("only literals and arithmetic on them are evaluated, "
                        "found %s" % unsafe)

    def is_text(self, source):
        return isinstance(source, (str, bytes, bytearray, memoryview))

    def check_code(self, code):
        known = self.code.get(id(code))
        if known is not None and not known[1] or known is None and self.marshal:
            self.refuse("code that was made of it")

    def scope(self, scope, frame):
        if not scope or scope[0] is None:
            return (frame.f_globals, scope[1] if scope[1:] and
                    scope[1] is not None else frame.f_locals)
        return scope

    def guarded_eval(self, source, *scope):
        frame = sys._getframe(1)
        scope = self.scope(scope, frame)
        if frame.f_code.co_filename == TESTS:
            if not self.is_text(source):
                self.check_code(source)
            elif not self.is_own(source):
                return self.literal_of(source)
        return self.eval(source, *scope)

    def guarded_exec(self, source, *scope, **keywords):
        frame = sys._getframe(1)
        scope = self.scope(scope, frame)
        if frame.f_code.co_filename == TESTS:
            if not self.is_text(source):
                self.check_code(source)
            elif not self.is_own(source):
                self.refuse("exec() of its text")
        return self.exec(source, *scope, **keywords)

    def guarded_compile(self, source, *args, **keywords):
        frame = sys._getframe(1)
        keywords.setdefault("dont_inherit", True)
        code = self.compile(source, *args, **keywords)
        if frame.f_code.co_filename == TESTS:
            own = (self.is_own(source) if self.is_text(source)
                   else not self.received)
            self.code[id(code)] = code, own
        return code

    def install(self):
        import builtins
        for name in ("eval", "exec", "compile"):
            setattr(builtins, name, getattr(self, "guarded_" + name))

    def guard_pickles(self):
        import io
        import pickle
        guards = self
        known = pickle.Unpickler

        class Data(known):
            """Reads plain values, and no class."""

            def find_class(self, module, name):
                guards.refuse("a pickle that names %s.%s" % (module, name))

            def persistent_load(self, pid):
                guards.refuse("a pickle of the program's own kind")

        dumps = pickle.dumps

        def made(*args, **keywords):
            data = dumps(*args, **keywords)
            guards.pickled.add(data)
            return data

        def loads(data, /, **keywords):
            if bytes(data) in guards.pickled - guards.received:
                return known(io.BytesIO(data), **keywords).load()
            return Data(io.BytesIO(data), **keywords).load()

        def load(file, **keywords):
            return loads(file.read(), **keywords)

        import _pickle
        pickle.dumps = made
        for module in (pickle, _pickle):
            module.loads, module.load, module.Unpickler = loads, load, Data


def made_guards(parts):
    guards = Guards(parts)
    guards.install()
    if any("pickle" in part or "shelve" in part for part in parts):
        guards.guard_pickles()
    return guards
