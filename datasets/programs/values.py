"""Values as data: what crosses between the tests' process and the solution's.

A value is written as a tag and what it consists of. Reading builds it again by
the constructors below and nothing else: no name of a class, a function or an
attribute is ever read, so whatever arrives, the reader's classes, modules and
builtins stay as they are. Types are exact; any other object is a handle: a
number that the side where the object lives knows. A subclass of a builtin that
compares as the builtin does is the builtin's value, with a handle for what else
it has (S): what it is equal to is decided here, by the value.

  tag  value                        what follows it
  N    None
  B    bool                         one byte
  i    int                          size, its bytes, signed
  f    float                        eight bytes
  c    complex                      sixteen bytes
  s    str                          size, UTF-8
  b    bytes                        size, the bytes
  L T  list, tuple                  count, form, the items
  m k  dict, collections.Counter    count, keys and values in turns
  o    OrderedDict                  likewise
  z    defaultdict                  a value (a type or None), likewise
  e g  set, frozenset               count, the items
  y    bytearray                    size, the bytes
  q    deque                        a value (maxlen), count, the items
  F    fractions.Fraction           two values
  D    decimal.Decimal              a value: its text
  d t w n h  date, time, datetime, timezone, timedelta: a tuple of fields
  Z    zoneinfo.ZoneInfo            a value: its key
  r l  range, slice                 three values
  a    numpy.ndarray                three values: type, shape, bytes
  O    numpy.ndarray of objects     two values: shape, a list
  A    array.array                  two values: type, bytes
  M    memoryview of bytes          a value: the bytes
  P U  PosixPath, PurePosixPath     a value: its text
  K V  the keys, values of a dict   a value: a list of them
  I    the items of a dict          a value: the dict
  Q    math.nan, numpy.nan          one byte: 0, 1. A list that holds one is
                                    equal to another that holds the same one.
  p    a type of TYPES              its place there
  x    re.Pattern                   two values: its text, its flags
  S    a value of a subclass        a value of KEPT, the number of its handle
  R    a list, array, ... again     its place among those read so far
  G    what the other side makes    two values: the kind, a tuple
  H    a handle                     its number

Sizes, counts, places and numbers are eight bytes, the lowest first. Items have
form 0 (values), 1 (eight bytes each: ints) or 2 (likewise: floats).
"""

import _struct
import sys

DEEPEST = 200
MOST_HANDLES = 1 << 31
FORMS = {int: (1, "q"), float: (2, "d")}


def module_type(module, name):
    """A type of a module that is imported when it is first needed."""
    return getattr(__import__(module), name)


# Types that are values themselves, by their places.
TYPES = (bool, int, float, complex, str, bytes, bytearray, list, tuple, dict,
         set, frozenset, range, slice)


TIME_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs",
              "as")


def array_type(text):
    """The dtype of numbers, texts or times: no objects, no records."""
    order, kind, size = text[:1], text[1:2], text[2:]
    if kind in ("M", "m") and size[:2] == "8[" and size[-1:] == "]":
        if order in ("<", ">") and size[2:-1] in TIME_UNITS:
            import numpy
            return numpy.dtype(text)
    if (order not in ("<", ">", "=", "|") or kind not in ("b", "i", "u", "f",
                                                          "c", "U", "S")
            or not size.isdecimal() or len(size) > 9 or int(size) == 0):
        raise ValueError("an array of " + text[:20])
    import numpy
    return numpy.dtype(text)


def is_zone(key):
    """Whether it names a time zone of the system. For any other name ZoneInfo
    would look for modules."""
    import os
    if type(key) is not str or len(key) > 100 or not key.isascii():
        return False
    signs = str.maketrans("_-+", "aaa")
    return (all(part.translate(signs).isalnum() for part in key.split("/"))
            and any(os.path.isfile(os.path.join(folder, key))
                    for folder in module_type("zoneinfo", "TZPATH")))


# --- Values that know their object ---------------------------------------

def kept_class(base):
    """A class whose values are those of `base` in all that is compared or
    computed, and whose other attributes are the object's."""
    class Known(base):
        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return getattr(self.__dict__["_object"], name)

        def __copy__(self):
            return self

        def __deepcopy__(self, memo):
            return self

        def __str__(self):
            return str(self.__dict__["_object"])

        def __repr__(self):
            return repr(self.__dict__["_object"])

    Known.__name__ = Known.__qualname__ = base.__name__
    return Known


KEPT = {base: kept_class(base) for base in (int, float, str, bytes, tuple)}


class Handle(int):
    """The number of an object that stays. Any other int is a value."""


class Kept:
    """What is written for an object that has a value, too."""

    def __init__(self, value, number):
        self.value = value
        self.number = number


class Made:
    """What is written for an object that the other side makes: the kind and
    what it is made of, a tuple."""

    def __init__(self, kind, *parts):
        self.kind = kind
        self.parts = parts


# --- Writing -------------------------------------------------------------

class Writer:
    """handle(x) gives the Handle of an object that is no plain value, the plain
    value that is written in its place, both as a Kept, or a Made."""

    def __init__(self, handle):
        self.handle = handle
        self.parts = []
        self.places = {}  # of lists, dicts, ... by their id
        self.kept = []    # what has a place, by the places
        self.written = []  # in place of others: it would else give up its id
        self.depth = 0

    def write(self, x):
        kind = type(x)
        put = PUT.get(kind)
        if put is not None:
            return put(self, x)
        if self.known(x):
            return
        if self.depth > DEEPEST:
            raise ValueError("a value nested over %d deep" % DEEPEST)
        self.depth += 1
        self.write_container(kind, x)
        self.depth -= 1

    def write_container(self, kind, x):
        put = CONTAINER.get(kind)
        if put is not None:
            return put(self, x)
        name = (kind.__module__, kind.__name__)
        found = FROM_MODULES.get(name)
        if found is not None and kind is module_type(*name):
            return found(self, x)
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            if isinstance(x, numpy.generic):
                item = x.item()
                if type(item) is not kind:
                    return self.write(item)
            elif kind is numpy.ndarray:
                return self.array(x)
        self.held(x)

    def held(self, x):
        found = self.handle(x)
        if type(found) is Handle:
            self.parts.append(b"H" + size(found))
        elif type(found) is Kept:
            self.parts.append(b"S")
            self.write(found.value)
            self.parts.append(size(found.number))
            self.keep(x)
        elif type(found) is Made:
            self.fields(b"G", found.kind, found.parts)
            self.keep(x)
        else:
            self.instead(x, found)

    def instead(self, x, found):
        """Writes `found` for x, whose place is that of `found`."""
        place = len(self.kept)
        if isinstance(found, (list, dict, set)):
            self.places[id(x)] = place  # it may hold itself
        self.write(found)
        place = self.places.get(id(found))
        if place is not None:
            self.written.append(found)
            self.places[id(x)] = place
            self.kept[place] = x

    def known(self, x):
        """True if x was written before, and is referred to."""
        place = self.places.get(id(x))
        if place is None:
            return False
        self.parts.append(b"R" + size(place))
        return True

    def keep(self, x):
        """What can hold itself gets its place before its items, the rest (a
        tuple, which the reader has only once it has the items) after them."""
        self.places[id(x)] = len(self.kept)
        self.kept.append(x)

    def items(self, tag, x):
        count = len(x)
        kinds = set(map(type, x)) if count > 3 else ()
        if len(kinds) == 1:
            form, code = FORMS.get(kinds.pop(), (0, ""))
            if form == 2 and not_a_number(sum(x)):
                form = 0  # it may hold math.nan itself
            if form:
                try:
                    packed = _struct.pack("<%d%s" % (count, code), *x)
                except _struct.error:  # an int of more bytes
                    pass
                else:
                    self.parts.append(tag + size(count) + bytes((form,)))
                    self.parts.append(packed)
                    return
        self.parts.append(tag + size(count) + b"\0")
        for item in x:
            self.write(item)

    def pairs(self, tag, x):
        self.keep(x)
        self.parts.append(tag + size(len(x)))
        for key, item in x.items():
            self.write(key)
            self.write(item)

    def counted(self, tag, x):
        self.parts.append(tag + size(len(x)))
        for item in x:
            self.write(item)

    def fields(self, tag, *fields):
        self.parts.append(tag)
        for field in fields:
            self.write(field)

    def array(self, x):
        if x.dtype.char == "O":
            self.fields(b"O", tuple(x.shape), x.ravel().tolist())
            return self.keep(x)
        try:
            array_type(x.dtype.str)
        except ValueError:
            return self.write(x.tolist())
        self.fields(b"a", x.dtype.str, tuple(x.shape), x.tobytes())
        self.keep(x)


def size(n):
    return n.to_bytes(8, "little")


def sized(tag, data):
    return tag + size(len(data)) + data


def not_a_number(x):
    return x != x


def put_float(writer, x):
    if not_a_number(x):
        numpy = sys.modules.get("numpy")
        if numpy is not None and x is getattr(numpy, "nan", None):
            return writer.parts.append(b"Q\1")
        if x is module_type("math", "nan"):
            return writer.parts.append(b"Q\0")
    writer.parts.append(b"f" + _struct.pack("<d", x))


def put_int(writer, x):
    count = x.bit_length() // 8 + 1
    writer.parts.append(b"i" + size(count) + x.to_bytes(count, "little",
                                                        signed=True))


def put_list(writer, x):
    writer.keep(x)
    writer.items(b"L", x)


def put_tuple(writer, x):
    writer.items(b"T", x)
    writer.keep(x)


def put_set(writer, x):
    writer.keep(x)
    writer.counted(b"e", x)


def put_frozenset(writer, x):
    writer.counted(b"g", x)
    writer.keep(x)


def put_bytearray(writer, x):
    writer.keep(x)
    writer.parts.append(sized(b"y", bytes(x)))


def put_deque(writer, x):
    writer.keep(x)
    writer.fields(b"q", x.maxlen)
    writer.counted(b"", x)


def put_time_zone(writer, x):
    writer.fields(b"n", x.utcoffset(None), x.tzname(None))


def put_zone(writer, x):
    if not is_zone(x.key):
        return writer.held(x)
    writer.fields(b"Z", x.key)


def in_zone(tag, *names):
    """Of a time zone of a class of its own there is no value."""
    def put(writer, x):
        if type(x.tzinfo) in zones():
            return writer.fields(tag, tuple(getattr(x, n) for n in names))
        writer.held(x)
    return put


def put_default_dict(writer, x):
    default = x.default_factory
    known = type(default) is type and default in TYPES
    # Its place is taken before what it consists of is written.
    writer.keep(x)
    writer.fields(b"z", default if known else None)
    writer.parts.append(size(len(x)))
    for key, item in x.items():
        writer.write(key)
        writer.write(item)


ARRAY_CODES = "bBhHiIlLqQfd"


def put_array(writer, x):
    if x.typecode not in ARRAY_CODES:
        return writer.held(x)
    writer.keep(x)
    writer.fields(b"A", x.typecode, x.tobytes())


def put_pattern(writer, x):
    if type(x.pattern) not in (str, bytes):
        return writer.held(x)
    writer.fields(b"x", x.pattern, x.flags)


def put_memory(writer, x):
    if x.format != "B" or x.ndim != 1:
        return writer.held(x)
    writer.fields(b"M", bytes(x))


PUT = {
    type(None): lambda w, x: w.parts.append(b"N"),
    bool: lambda w, x: w.parts.append(b"B\1" if x else b"B\0"),
    int: put_int,
    float: put_float,
    complex: lambda w, x: w.parts.append(
        b"c" + _struct.pack("<dd", x.real, x.imag)),
    str: lambda w, x: w.parts.append(
        sized(b"s", x.encode("utf-8", "surrogatepass"))),
    bytes: lambda w, x: w.parts.append(sized(b"b", x)),
    range: lambda w, x: w.fields(b"r", x.start, x.stop, x.step),
}
CONTAINER = {
    list: put_list,
    tuple: put_tuple,
    dict: lambda w, x: w.pairs(b"m", x),
    set: put_set,
    frozenset: put_frozenset,
    bytearray: put_bytearray,
    slice: lambda w, x: w.fields(b"l", x.start, x.stop, x.step),
    memoryview: put_memory,
    type({}.keys()): lambda w, x: w.fields(b"K", list(x)),
    type({}.values()): lambda w, x: w.fields(b"V", list(x)),
    type({}.items()): lambda w, x: w.fields(b"I", dict(x)),
}
FROM_MODULES = {
    ("collections", "Counter"): lambda w, x: w.pairs(b"k", x),
    ("collections", "OrderedDict"): lambda w, x: w.pairs(b"o", x),
    ("collections", "defaultdict"): put_default_dict,
    ("collections", "deque"): put_deque,
    ("fractions", "Fraction"): lambda w, x: w.fields(
        b"F", x.numerator, x.denominator),
    ("decimal", "Decimal"): lambda w, x: w.fields(b"D", str(x)),
    ("datetime", "date"): lambda w, x: w.fields(b"d", (x.year, x.month,
                                                       x.day)),
    ("datetime", "time"): in_zone(
        b"t", "hour", "minute", "second", "microsecond", "tzinfo", "fold"),
    ("datetime", "datetime"): in_zone(
        b"w", "year", "month", "day", "hour", "minute", "second",
        "microsecond", "tzinfo", "fold"),
    ("datetime", "timezone"): put_time_zone,
    ("zoneinfo", "ZoneInfo"): put_zone,
    ("array", "array"): put_array,
    ("re", "Pattern"): put_pattern,
    ("pathlib", "PosixPath"): lambda w, x: w.fields(b"P", str(x)),
    ("pathlib", "PurePosixPath"): lambda w, x: w.fields(b"U", str(x)),
    ("datetime", "timedelta"): lambda w, x: w.fields(
        b"h", (x.days, x.seconds, x.microseconds)),
}


def put_type(writer, x):
    for place, known in enumerate(TYPES):
        if x is known:
            writer.parts.append(b"p" + size(place))
            return
    writer.held(x)


CONTAINER[type] = put_type


def write_value(x, handle, kept=None):
    """What has a place (R) goes into `kept`, in the order of the places."""
    writer = Writer(handle)
    writer.write(x)
    if kept is not None:
        kept.extend(writer.kept)
    return b"".join(writer.parts)


# --- Reading -------------------------------------------------------------

class Reader:
    """handle(number) gives what stands for an object of the other side,
    nothing(x) what stands for an array without elements. All texts and bytes
    that are read are added to the list `texts`, if there is one. made(kind,
    parts) gives what G stands for."""

    def __init__(self, data, handle, nothing, texts, made):
        self.texts = texts
        self.made = made
        self.data = data
        self.at = 0
        self.handle = handle
        self.nothing = nothing
        self.shared = []
        self.heights = []  # of what is shared: how deep it is nested
        self.depth = 0
        self.highest = 0   # among what was read of the container around

    def take(self, count):
        begin = self.at
        self.at = begin + count
        if self.at > len(self.data):
            raise ValueError("a value that is cut off")
        return self.data[begin:self.at]

    def size(self):
        return int.from_bytes(self.take(8), "little")

    def count(self, least=1):
        """A number of things of at least so many bytes each."""
        count = self.size()
        if count * least > len(self.data) - self.at:
            raise ValueError("a value that is cut off")
        return count

    def read(self):
        get = GET.get(self.take(1))
        if get is None:
            raise ValueError("an unknown kind of value")
        if self.depth > DEEPEST:
            raise ValueError("a value nested over %d deep" % DEEPEST)
        self.depth += 1
        around, self.highest = self.highest, 0
        first = len(self.shared)
        x = get(self)
        height = self.highest + 1
        # What is referred to counts as often as it is nested: hashing a tuple
        # that is nested too deep ends the process.
        if self.depth + height > DEEPEST + 2:
            raise ValueError("a value nested over %d deep" % DEEPEST)
        if len(self.shared) > first:
            # A list took its place before its items, a tuple after them.
            place = first if self.shared[first] is x else -1
            if self.shared[place] is x:
                self.heights[place] = height
        self.highest = max(around, height)
        self.depth -= 1
        return x

    def text(self, x):
        if self.texts is not None:
            self.texts.append(x)
        return x

    def typed(self, *kinds):
        x = self.read()
        if type(x) not in kinds:
            raise ValueError("a value with a part of the wrong type")
        return x

    def fields(self, *kinds):
        """A tuple of values of these types."""
        fields = self.typed(tuple)
        if (len(fields) != len(kinds)
                or not all(type(x) in kind
                           for x, kind in zip(fields, kinds))):
            raise ValueError("a value with a part of the wrong type")
        return fields

    def items(self):
        count = self.count()
        form = self.take(1)[0]
        if form == 0:
            return [self.read() for _ in range(count)]
        if form > 2:
            raise ValueError("an unknown form of items")
        packed = self.take(8 * count)
        return _struct.unpack("<%d%s" % (count, " qd"[form]), packed)

    def share(self, x):
        self.shared.append(x)
        self.heights.append(0)
        return x

    def share_array(self, x):
        return self.share(x if x.size else self.nothing(x))

    def again(self):
        place = self.size()
        if place >= len(self.shared):
            raise ValueError("a place that is not there")
        self.highest = max(0, self.heights[place] - 1)
        return self.shared[place]


def get_list(reader):
    x = reader.share([])
    x.extend(reader.items())
    return x


def get_pairs(reader, x):
    reader.share(x)
    for _ in range(reader.count(2)):
        key = reader.read()
        dict.__setitem__(x, key, reader.read())
    return x


def get_ordered(reader):
    x = reader.share(module_type("collections", "OrderedDict")())
    for _ in range(reader.count(2)):
        key = reader.read()
        x[key] = reader.read()
    return x


def get_set(reader):
    x = reader.share(set())
    for _ in range(reader.count()):
        x.add(reader.read())
    return x


def get_deque(reader):
    # Its place is taken before what it consists of is read.
    place = len(reader.shared)
    reader.share(None)
    most = reader.typed(int, type(None))
    x = module_type("collections", "deque")((), most)
    reader.shared[place] = x
    for _ in range(reader.count()):
        x.append(reader.read())
    return x


def get_default_dict(reader):
    x = reader.share(module_type("collections", "defaultdict")())
    default = reader.typed(type, type(None))
    for _ in range(reader.count(2)):
        key = reader.read()
        dict.__setitem__(x, key, reader.read())
    x.default_factory = default
    return x


INT = (int,)


def zones():
    known = (type(None), module_type("datetime", "timezone"))
    zoneinfo = sys.modules.get("zoneinfo")
    return known if zoneinfo is None else known + (zoneinfo.ZoneInfo,)


def get_zone(reader):
    key = reader.typed(str)
    if not is_zone(key):
        raise ValueError("a time zone that is not known")
    return module_type("zoneinfo", "ZoneInfo")(key)


def get_time(reader):
    *clock, zone, fold = reader.fields(INT, INT, INT, INT, zones(), INT)
    return module_type("datetime", "time")(*clock, zone, fold=fold)


def get_date_time(reader):
    *clock, zone, fold = reader.fields(INT, INT, INT, INT, INT, INT, INT,
                                       zones(), INT)
    return module_type("datetime", "datetime")(*clock, zone, fold=fold)


def get_time_zone(reader):
    offset = reader.typed(module_type("datetime", "timedelta"))
    name = reader.typed(str)
    kind = module_type("datetime", "timezone")
    return kind(offset, name) if offset or name != "UTC" else kind.utc


def get_array(reader):
    kind = array_type(reader.typed(str))
    shape = reader.typed(tuple)
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("an array without a shape")
    import numpy
    return reader.share_array(
        numpy.ndarray(shape, kind, reader.typed(bytes)).copy())


def get_objects(reader):
    shape = reader.typed(tuple)
    items = reader.typed(list)
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("an array without a shape")
    count = 1
    for n in shape:
        count *= n
    if count != len(items) or len(shape) > 32:
        raise ValueError("an array of another shape")
    import numpy
    flat = numpy.empty(count, dtype=object)
    for i, item in enumerate(items):
        flat[i] = item
    return reader.share_array(flat.reshape(shape))


def get_numbers(reader):
    place = len(reader.shared)
    reader.share(None)
    code = reader.typed(str)
    if len(code) != 1 or code not in ARRAY_CODES:
        raise ValueError("an array of " + code[:20])
    x = module_type("array", "array")(code)
    x.frombytes(reader.typed(bytes))
    reader.shared[place] = x
    return x


# I, L, M, S, U, X and A: what else there is prints or warns.
PATTERN_FLAGS = 2 | 4 | 8 | 16 | 32 | 64 | 256


def get_pattern(reader):
    text = reader.typed(str, bytes)
    flags = reader.typed(int)
    return module_type("re", "compile")(text, flags & PATTERN_FLAGS)


def get_kept(reader):
    value = reader.typed(*KEPT)
    number = reader.size()
    if number >= MOST_HANDLES:
        raise ValueError("a handle that is too high")
    x = KEPT[type(value)](value)
    x.__dict__["_object"] = reader.handle(number)
    return reader.share(x)


def three_fields(kind, *kinds):
    return lambda reader: kind(*[reader.typed(*kinds) for _ in range(3)])


def get_made(reader):
    kind = reader.typed(str)
    parts = reader.typed(tuple)
    if reader.made is None:
        raise ValueError("an object that is not made here")
    return reader.share(reader.made(kind, parts))


def get_handle(reader):
    number = reader.size()
    if number >= MOST_HANDLES:
        raise ValueError("a handle that is too high")
    return reader.handle(number)


GET = {
    b"N": lambda r: None,
    b"B": lambda r: r.take(1) != b"\0",
    b"i": lambda r: int.from_bytes(r.take(r.count()), "little", signed=True),
    b"f": lambda r: _struct.unpack("<d", r.take(8))[0],
    b"c": lambda r: complex(*_struct.unpack("<dd", r.take(16))),
    b"s": lambda r: r.text(r.take(r.count()).decode("utf-8", "surrogatepass")),
    b"b": lambda r: r.text(r.take(r.count())),
    b"L": get_list,
    b"T": lambda r: r.share(tuple(r.items())),
    b"m": lambda r: get_pairs(r, {}),
    b"k": lambda r: get_pairs(r, module_type("collections", "Counter")()),
    b"z": get_default_dict,
    b"o": get_ordered,
    b"e": get_set,
    b"g": lambda r: r.share(
        frozenset([r.read() for _ in range(r.count())])),
    b"y": lambda r: r.share(bytearray(r.text(r.take(r.count())))),
    b"q": get_deque,
    b"F": lambda r: module_type("fractions", "Fraction")(r.typed(int),
                                                         r.typed(int)),
    b"D": lambda r: module_type("decimal", "Decimal")(r.typed(str)),
    b"d": lambda r: module_type("datetime", "date")(*r.fields(INT, INT, INT)),
    b"t": get_time,
    b"w": get_date_time,
    b"n": get_time_zone,
    b"h": lambda r: module_type("datetime", "timedelta")(
        *r.fields(INT, INT, INT)),
    b"r": three_fields(range, int),
    b"l": three_fields(slice, int, type(None)),
    b"a": get_array,
    b"O": get_objects,
    b"A": get_numbers,
    b"M": lambda r: memoryview(r.typed(bytes)),
    b"P": lambda r: module_type("pathlib", "PosixPath")(r.typed(str)),
    b"U": lambda r: module_type("pathlib", "PurePosixPath")(r.typed(str)),
    b"K": lambda r: dict.fromkeys(r.typed(list)).keys(),
    b"V": lambda r: dict(enumerate(r.typed(list))).values(),
    b"I": lambda r: r.typed(dict).items(),
    b"Q": lambda r: module_type("numpy" if r.take(1) == b"\1" else "math",
                                "nan"),
    b"Z": get_zone,
    b"x": get_pattern,
    b"S": get_kept,
    b"p": lambda r: TYPES[r.size()],
    b"R": lambda r: r.again(),
    b"G": get_made,
    b"H": get_handle,
}


def read_value(data, handle, kept=None, made=None, nothing=lambda x: x,
               texts=None):
    """ValueError, or what a constructor raises, for what is no value. `kept` as
    for write_value: the n-th is what was written as the n-th."""
    reader = Reader(data, handle, nothing, texts, made)
    x = reader.read()
    if reader.at != len(data):
        raise ValueError("more than one value")
    if kept is not None:
        kept.extend(reader.shared)
    return x
