"""Only data crosses between a program and its tests (values.py): every kind of
value round-trips, and no received bytes change the reader's classes, modules or
builtins."""

import array
import builtins
import collections
import datetime
import decimal
import fractions
import importlib.util
import math
import os
import pathlib
import random
import re
import sys
import time
import unittest
import zoneinfo

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
SPEC = importlib.util.spec_from_file_location(
    "values", os.path.join(ROOT, "datasets", "programs", "values.py"))
values = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(values)

# As in the worker: the source texts concatenated.
REMOTE = dict(vars(values))
for NAME in ("arrays.py", "views.py", "lent.py", "remote.py"):
    with open(os.path.join(ROOT, "datasets", "programs", NAME),
              encoding="utf-8") as REMOTE_FILE:
        exec(compile(REMOTE_FILE.read(), NAME, "exec"), REMOTE)

SECONDS = 600 if os.environ.get("ESPALIER_LONG") else 10


class Handle:
    """An object of the other side; equal handles are identical."""

    known = {}

    def __init__(self, number):
        self.number = number


def handle(number):
    return Handle.known.setdefault(number, Handle(number))


class Held:
    def __init__(self):
        self.objects = []

    def number(self, x):
        self.objects.append(x)
        return values.Handle(len(self.objects) - 1)


def there_and_back(x):
    return values.read_value(values.write_value(x, Held().number), handle)


ZONE = datetime.timezone(datetime.timedelta(hours=-5, minutes=30), "zone")
PLAIN = [
    None, True, False, 0, 1, -1, 127, 128, -128, -129, 255, 256, 1 << 63,
    -(1 << 63), (1 << 64) + 1, 10 ** 100, 0.0, -0.0, 1.5, math.inf, 5e-324,
    1j, -0.5 + 2j, "", "é\n\0", "\ud800", b"", b"\0\xff", bytearray(b"ab"),
    [], [1], [1, 2, 3, 4, 5], [1, 2, 3, 1 << 70, 5], [True, False] * 3,
    [1.5, math.inf, -2.5, 0.0], [1, 1.0, 2, 2.0], (), (1,), tuple(range(9)),
    ((), [(), []]), {}, {1: 2, "a": [1], (1, 2): {3: 4}}, set(), {1, "a"},
    frozenset(), frozenset([1, frozenset([2])]), range(5), range(9, -3, -2),
    slice(1, None, 2), int, dict, slice, collections.Counter("abcab"),
    collections.OrderedDict([(2, 1), (1, 2)]), collections.deque([1, 2], 5),
    collections.deque([[1]]), fractions.Fraction(-3, 4),
    decimal.Decimal("1.50"), decimal.Decimal("-Infinity"),
    datetime.date(2024, 2, 29), datetime.time(1, 2, 3, 4, ZONE, fold=1),
    datetime.datetime(2024, 2, 29, 23, 59, 59, 999999),
    datetime.datetime(2024, 2, 29, tzinfo=ZONE), ZONE, datetime.timezone.utc,
    datetime.timedelta(-1, 5, 6), {1: 2, "a": 3}.keys(), {1: [2]}.values(),
    {1: [2]}.items(), array.array("d", [1, 2.5]), array.array("i"),
    pathlib.Path("/a/b"), pathlib.PurePosixPath("c"),
    zoneinfo.ZoneInfo("Etc/GMT+5"),
    datetime.datetime(2024, 2, 29, tzinfo=zoneinfo.ZoneInfo("UTC")),
    collections.defaultdict(list, {1: [2]}), collections.defaultdict(None),
    re.compile("a(b)+", re.I), re.compile(b"[ab]", re.S),
]


class ValuesTest(unittest.TestCase):

    def test_plain_values_come_back_with_their_exact_types(self):
        for x in PLAIN + [PLAIN, tuple(PLAIN)]:
            back = there_and_back(x)
            self.assertIs(type(back), type(x))
            self.assertEqual(repr(back), repr(x))
        self.assertTrue(math.isnan(there_and_back(math.nan)))
        moved = collections.OrderedDict.fromkeys("abc")
        moved.move_to_end("a")
        self.assertEqual(list(there_and_back(moved)), ["b", "c", "a"])

    def test_a_default_is_a_type_or_left_out(self):
        back = there_and_back(collections.defaultdict(list, {1: [2]}))
        self.assertEqual((back[1], back[3]), ([2], []))
        back = there_and_back(collections.defaultdict(lambda: 7, {1: [2]}))
        self.assertEqual(back, {1: [2]})
        self.assertIsNone(back.default_factory)
        for default in (7, b"", object()):
            data = (b"z" + values.write_value(default, Held().number)
                    + values.size(0))
            with self.assertRaises(ValueError):
                values.read_value(data, handle)

    def test_memory_is_bytes(self):
        back = there_and_back(memoryview(b"ab"))
        self.assertIs(type(back), memoryview)
        self.assertEqual(back, b"ab")

    def test_a_nan_is_the_one_it_was(self):
        for x in (math.nan, [math.nan], [1.5, math.nan, 2.5, 3.5, 4.5]):
            self.assertEqual([there_and_back(x)], [x])
        back = there_and_back([1.5, float("nan"), 2.5, 3.5, math.inf])
        self.assertNotEqual(back, back[:1] + [math.nan] + back[2:])
        self.assertTrue(math.isnan(back[1]))

    def test_a_zone_is_a_name(self):
        for key in ("../../etc/localtime", "/etc/localtime", "", "a//b", "a.b",
                    "Nowhere"):
            data = b"Z" + values.write_value(key, None)
            with self.assertRaises(ValueError):
                values.read_value(data, handle)

    def test_a_time_in_a_zone_of_its_own_class_is_a_handle(self):
        class Zone(datetime.tzinfo):
            pass
        self.assertIs(type(there_and_back(datetime.time(1, tzinfo=Zone()))),
                      Handle)

    # A value that also has a handle compares and computes as the value.
    def test_a_value_that_knows_its_object(self):
        for value in (7, 2.5, "ab", b"ab", (1, [2])):
            back = values.read_value(
                values.write_value(object(),
                                   lambda x: values.Kept(value, 3)), handle)
            self.assertIs(type(back), values.KEPT[type(value)])
            self.assertTrue(back == value and value == back)
            self.assertFalse(back != value)
            self.assertFalse(back == type(value)())
            self.assertIs(back.number, handle(3).number)
            if type(value) is not tuple:
                self.assertEqual(hash(back), hash(value))
        for value in ([1], {1: 2}, None, True, values.KEPT):
            data = (b"S" + values.write_value(value, Held().number)
                    + values.size(3))
            with self.assertRaises(ValueError):
                values.read_value(data, handle)

    def test_what_is_shared_stays_shared(self):
        row = [0]
        back = there_and_back([row, row, (row,), {1: row}])
        row = back[0]
        self.assertTrue(row is back[1] is back[2][0] is back[3][1])
        loop = [1]
        loop.append(loop)
        back = there_and_back(loop)
        self.assertIs(back[1], back)
        pair = ()
        for _ in range(100):
            pair = (pair, pair)
        self.assertLess(len(values.write_value(pair, None)), 4000)
        there_and_back(pair)

    def test_other_objects_are_handles(self):
        class Text(str):
            pass

        class Number(int):
            pass

        point = collections.namedtuple("Point", "x y")
        for x in (Text("a"), Number(1), point(1, 2), object(), len, iter([1]),
                  Text, ValueError("no"), sys, ZONE.utcoffset):
            self.assertIs(type(there_and_back(x)), Handle, x)
            self.assertIs(type(there_and_back([x])[0]), Handle, x)

    def test_what_is_written_instead_is_written_once(self):
        class Row(list):
            pass

        point = collections.namedtuple("Point", "x y")
        row = Row([1])
        row.append(row)
        pair = point(row, 2)

        def base(x):
            return list(x) if type(x) is Row else tuple(x)
        kept = []
        back = values.read_value(
            values.write_value([row, pair, pair, row], base, kept), handle)
        self.assertIs(type(back[0]), list)
        self.assertTrue(back[0] is back[3] is back[0][1] is back[1][0])
        self.assertIs(back[1], back[2])
        self.assertTrue(any(x is row for x in kept))
        self.assertTrue(any(x is pair for x in kept))
        self.assertFalse(any(type(x) is tuple for x in kept))

    def test_an_int_is_no_handle(self):
        class Number(int):
            pass

        for x in (Number(0), Number(3), Number(1 << 70)):
            self.assertEqual(values.read_value(
                values.write_value(x, int), handle), int(x))

    def test_depth_and_sizes_are_bounded(self):
        deep = []
        for _ in range(values.DEEPEST - 5):
            deep = [deep]
        self.assertEqual(there_and_back(deep), deep)
        for _ in range(10):
            deep = [deep]
        with self.assertRaisesRegex(ValueError, "deep"):
            values.write_value(deep, None)
        nested = (b"L" + values.size(1) + b"\0") * 100000 + b"N"
        with self.assertRaisesRegex(ValueError, "deep"):
            values.read_value(nested, handle)
        for tag in b"iseLTmkozgybqAOPUKVIMSZx":
            with self.assertRaises(ValueError):
                values.read_value(bytes([tag]) + b"\xff" * 8, handle)

    def test_arrays_of_numbers_and_texts(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not here")
        for x in (numpy.arange(6).reshape(2, 3), numpy.zeros((0, 3)),
                  numpy.array(["ab", "c"]), numpy.array(1.5),
                  numpy.array([1 + 2j])):
            back = there_and_back(x)
            self.assertEqual((back.dtype, back.shape), (x.dtype, x.shape))
            self.assertTrue((back == x).all())
        back = there_and_back([math.nan, numpy.nan, 1.5, 2.5])
        self.assertTrue(back[0] is math.nan and back[1] is numpy.nan)
        x = numpy.array([[1, None], ["a", [2]]], dtype=object)
        back = there_and_back(x)
        self.assertEqual((back.dtype, back.shape), (x.dtype, x.shape))
        self.assertEqual(back.tolist(), x.tolist())
        days = numpy.array(["2021-01-01"], dtype="datetime64[us]")
        self.assertEqual(there_and_back(days).dtype, days.dtype)
        for shape in ((2,), (1, 1, 1), (-1,), (1 << 70,), (0, 1 << 70), ("a",)):
            data = (b"O" + values.write_value(shape, None)
                    + values.write_value([1], None))
            if shape != (1, 1, 1):
                with self.assertRaises((ValueError, OverflowError)):
                    values.read_value(data, handle)
        self.assertIs(type(there_and_back(numpy.float64(2.5))), float)
        for kind in ("|O", "|V8", "<i4,<i4", "|O8", "<M8[x]", "|M8[s]", "<M8",
                     "i", "<f999999999"):
            data = (b"a" + values.write_value(kind, None)
                    + values.write_value((1,), None)
                    + values.write_value(b"\0" * 8, None))
            with self.assertRaises((ValueError, TypeError, MemoryError)):
                values.read_value(data, handle)


def world():
    """Everything that no value may change: modules, their contents, and
    classes."""
    seen = {}
    for name, module in sorted(sys.modules.items()):
        space = getattr(module, "__dict__", None)
        if name == "__main__" or space is None:
            continue
        for key, thing in space.items():
            if key not in ("__warningregistry__", "_cache"):
                seen[name, key] = id(thing)
            if isinstance(thing, type):
                for part, what in vars(thing).items():
                    seen[thing, part] = id(what)
    for name, thing in vars(builtins).items():
        seen["builtins", name] = id(thing)
    return seen


class FuzzTest(unittest.TestCase):

    TAGS = [tag[0] for tag in values.GET]

    def damaged(self, rng, data):
        data = bytearray(data)
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(data))
            kind = rng.randrange(6)
            if kind == 0:
                data[at] = rng.randrange(256)
            elif kind == 1:
                data[at] = rng.choice(self.TAGS)
            elif kind == 2:
                del data[at:at + rng.randrange(1, 20)]
            elif kind == 3:
                data[at:at] = bytes(rng.choice(self.TAGS)
                                    for _ in range(rng.randrange(1, 9)))
            elif kind == 4:
                begin = rng.randrange(len(data))
                data[at:at] = data[begin:begin + 40]
            else:
                data[at:at] = b"H" + values.size(rng.randrange(5))
            if not data:
                data = bytearray(b"N")
        return bytes(data)

    def test_no_bytes_change_the_reader(self):
        for x in PLAIN:  # triggers lazy imports
            there_and_back(x)
        arrays = []
        try:
            import numpy
            there_and_back(numpy.nan)
            arrays = [numpy.arange(6).reshape(2, 3), numpy.array([None, 1]),
                      numpy.array(["2021-01-01"], dtype="datetime64[D]"),
                      [numpy.nan]]
        except ImportError:
            pass
        seeds = [values.write_value(x, Held().number) for x in PLAIN]
        seeds += [values.write_value(("value", x, None), Held().number)
                  for x in (PLAIN, object(), memoryview(b"ab"), [math.nan])]
        seeds += [values.write_value([object()],
                                     lambda x: values.Kept(value, 3))
                  for value in (7, 2.5, "ab", b"ab", (1, [2]))]
        seeds += [values.write_value(x, None) for x in arrays]
        rng = random.Random(7)
        before = world()
        until = time.monotonic() + SECONDS
        read = refused = 0
        pool = list(seeds)
        while time.monotonic() < until:
            for _ in range(500):
                data = self.damaged(rng, rng.choice(pool))
                try:
                    x = values.read_value(data, handle)
                except Exception:  # pylint: disable=broad-except
                    refused += 1
                    continue
                read += 1
                self.only_known(x)
                if len(data) < 400:
                    pool.append(data)
                    if len(pool) > 3000:
                        pool[rng.randrange(len(seeds), 3000)] = pool.pop()
            after = world()
            self.assertEqual([key for key in {**before, **after}
                              if before.get(key) != after.get(key)], [])
        print(f"{read + refused} inputs, {read} of them values", flush=True)
        self.assertGreater(read, 100)
        self.assertGreater(refused, 100)

    KNOWN = ({type(x) for x in PLAIN} | {Handle, memoryview}
             | set(values.KEPT.values()))

    def only_known(self, x, depth=0, seen=None):
        """Checks that every part has one of the listed types."""
        seen = set() if seen is None else seen
        if id(x) in seen or depth > 150:
            return
        seen.add(id(x))
        if type(x).__module__ == "numpy" and type(x).__name__ == "ndarray":
            self.assertIn(x.dtype.kind, "biufcUSMmO")
            x = x.tolist() if x.dtype.kind == "O" else []
        self.assertIn(type(x), self.KNOWN)
        if isinstance(x, dict):
            x = [*x.keys(), *x.values()]
        if isinstance(x, (list, tuple, set, frozenset, collections.deque)):
            for part in x:
                self.only_known(part, depth + 1, seen)


class CopiedBackTest(unittest.TestCase):
    """What a function changes in its arguments also changes in the tests' copy,
    as if both were one object."""

    KINDS = ("list", "list", "dict", "tuple", "deque", "Counter",
             "OrderedDict", "defaultdict", "bytearray")

    def made(self, draw, pool, depth=0):
        if pool and draw.random() < 0.25:
            return draw.choice(pool)
        if depth > 4 or draw.random() < 0.3:
            return draw.choice([0, 1, 2, "a", None, 2.5])
        kind = draw.choice(self.KINDS)
        if kind == "tuple":
            return tuple(self.made(draw, pool, depth + 1)
                         for _ in range(draw.randrange(3)))
        made = getattr(builtins, kind, None) or getattr(collections, kind)
        x = made(list) if kind == "defaultdict" else made()
        pool.append(x)
        for i in range(draw.randrange(4)):
            if kind in ("list", "deque"):
                x.append(self.made(draw, pool, depth + 1))
            elif kind == "bytearray":
                x.append(i)
            else:
                x[i] = (i if kind == "Counter"
                        else self.made(draw, pool, depth + 1))
        return x

    @staticmethod
    def change(draw, kept):
        # A tuple in itself is written twice, so tuples are excluded.
        movable = [x for x in kept if type(x) is not tuple]
        for _ in range(draw.randrange(1, 6)):
            x, other = draw.choice(movable), draw.choice(movable)
            new = draw.choice([7, [8], (9,), other, [other], (other,)])
            if isinstance(x, (list, collections.deque)):
                draw.choice([lambda: x.append(new), x.reverse, x.clear])()
            elif isinstance(x, collections.Counter):
                x["k"] += 1
            elif isinstance(x, dict):
                draw.choice([lambda: x.update({draw.randrange(5): new}),
                             x.clear])()
            else:
                x.extend(b"z")

    def test_changes_are_those_of_a_plain_run(self):
        def no_handle(x):
            raise ValueError("a handle")

        def written(x):
            return values.write_value(x, no_handle)
        changed = 0
        for seed in range(3000):
            draw = random.Random(seed)
            pool = []
            args = ([self.made(draw, pool) for _ in range(2)],)
            mine, theirs, plain = [], [], []
            blob = values.write_value(args, no_handle, mine)
            handed = values.read_value(blob, no_handle, theirs)
            alone = values.read_value(blob, no_handle, plain)
            self.assertEqual(list(map(type, mine)), list(map(type, theirs)))
            self.change(random.Random(seed), theirs)
            self.change(random.Random(seed), plain)
            try:
                back = values.read_value(written(tuple(theirs)), no_handle)
            except ValueError:  # nested too deep by now
                continue
            REMOTE["copy_back"](mine, back, {})
            self.assertEqual(written(args), written(alone), seed)
            changed += written(alone) != blob
        self.assertGreater(changed, 1000)

    def test_what_was_not_handed_over_changes_nothing(self):
        mine = [[1], {"a": 2}]
        for back in ([], [[3]], [[3], [4]], [{}, [3]], [[3], {}, []]):
            REMOTE["copy_back"](mine, back, {})
            self.assertEqual(mine, [[1], {"a": 2}])

if __name__ == "__main__":
    unittest.main()
