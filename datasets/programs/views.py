"""One view of each object of the program, as the tests' process keeps it.

An object that is sorted at one look and holds what is expected at the next
would pass `sorted(x) == y and all(x[i] <= x[i + 1] ...)`. So whatever tests read
of an object stays until they do something that may change objects: call a
method of one or hand one over, or set an attribute or an item. A call of the
program's function with plain values changes nothing that was read, as it would
change no plain value; it does if the published program has classes, for then
tests may mean objects that know each other.

- An attribute, an index, a slice, the length, the truth value, str() and repr()
  are read once.
- A walk finds the same items each time, and as many as len() says.
- Indices and slices give the items of the walk, unless the object is a mapping
  (has keys).
- keys(), values(), items(), get(), indices, the walk and the length of a mapping
  agree.

What disagrees fails the test. Methods that the published program's own classes
define are not held to this: of such objects the tests mean what they do.

Its text stands between those of arrays.py and lent.py.
"""

READ_AHEAD = 1000   # items that a walk takes of an object before it shows one
MOST_LOOKED_AT = 1000000  # items of an object, by `in`

PARTS = ("keys", "values", "items")
# Methods that change nothing.
QUIET = frozenset(PARTS + ("copy", "count", "index", "get"))

# What the published program's own classes define: only of such do tests ask
# PREDICATES and QUESTIONS where they do not mean a plain value.
methods = frozenset()


def defined(*names):
    """Whether the published program's classes define one of these methods."""
    return not methods.isdisjoint(names)


def disagree(text, *values):
    raise AssertionError("an object of the program contradicts itself: "
                         + text % tuple(map(short, values)))


# --- Agreement -----------------------------------------------------------

class Pristine:
    """A value as it was read: tests may change the one that they got."""

    def __init__(self, value):
        self.value = value
        self.data = None
        if type(value) not in SINGLE and type(value) is not Remote:
            self.data, self.handles = encoded(value)

    def agrees(self, other):
        """Objects of the program agree: tests see the first in place of the
        other one."""
        if type(self.value) is Remote or type(other) is Remote:
            return type(self.value) is type(other)
        if type(self.value) is not type(other):
            return False
        if self.data is None:
            same = self.value == other
            return (same is True or self.value is other
                    or self.value != self.value and other != other)
        data, handles = encoded(other)
        if data is None or handles or self.handles or data == self.data:
            return True
        before = read_value(self.data, remote_of)
        try:
            return bool(before == other)  # written in another order
        except Exception:
            return False


def encoded(value):
    """(its bytes, whether it holds an object of the program); None and True if
    it cannot be written."""
    handles = []

    def handle(x):
        found = number_of(x)
        handles.append(found)
        return found
    try:
        return write_value(value, handle), bool(handles)
    except (TypeError, ValueError, RecursionError):
        return None, True


def same_members(first, second):
    """Whether two lists hold the same, in any order."""
    if len(first) != len(second):
        return False
    if any(type(x) is Remote for x in (*first, *second)):
        return True
    try:
        return first == second or set(first) == set(second)
    except (TypeError, ValueError):
        pass
    return all(any(x is y or x == y for y in second) for x in first)


def key_of(key):
    """What stands for an index or key in a dict; None if nothing can."""
    if type(key) is slice:
        return "slice", key.start, key.stop, key.step
    if type(key) is tuple:
        parts = tuple(map(key_of, key))
        return None if None in parts else ("tuple", parts)
    if type(key) in (str, bytes, float, complex, type(None)):
        return "plain", type(key), key
    if type(key) in (int, bool):
        return "plain", int, int(key)
    return None


# --- Views ---------------------------------------------------------------

def take_items(take, most):
    """Up to `most` of what take() gives; whether that was all of it; and the
    error that ended it otherwise."""
    items = []
    for _ in range(most):
        try:
            items.append(take())
        except StopIteration:
            return items, True, None
        except Exception as error:
            return items, False, error
    return items, False, None


class View:
    """What an object showed of itself since tests last did anything that may
    change the program's objects."""

    def __init__(self, changes):
        self.changes = changes
        self.length = None    # what len() gave
        self.source = None    # the program's iterator
        self.begun = False    # a walk that has taken nothing yet
        self.items = []       # what the walks have taken of it
        self.pristine = []    # the same, as it was
        self.done = False
        self.error = None     # what ended it, if not its end
        self.attributes = {}  # by their names
        self.reads = {}       # by key_of(): what indices and keys gave
        self.faces = {}       # by places: Pristine, what indices gave
        self.parts = {}       # by the names of PARTS: (value, its items)
        self.gets = []        # (key, Pristine) of keys and get()
        self.listing = None   # what listed() made of the parts
        self.told = {}        # truth value and texts, by what asks for them
        self.plain = None     # what it is equal to

    def check(self):
        """Raises AssertionError where what was read does not agree."""
        if self.changes != the_solution.changes:
            return
        if self.length is not None and (
                self.done and self.length != len(self.items)
                or self.length < len(self.items)):
            disagree("it claims to hold %s items, gives %s", self.length,
                     len(self.items))
        if self.done and self.plain is not None:
            self.check_plain()
        if self.parts:
            self.check_parts()

    def show(self, place, item):
        """The item of a walk at this place: what was seen there before."""
        if place < len(self.items):
            if not self.pristine[place].agrees(item):
                disagree("item %s is %s, and then %s", place,
                         self.pristine[place].value, item)
            return self.items[place]
        if self.done:
            disagree("it gives %s items, and then more", len(self.items))
        found = self.faces.get(place)
        if found is not None:
            if not found.agrees(item):
                disagree("index %s gives %s, a walk %s", place, found.value,
                         item)
            item = found.value
        self.items.append(item)
        self.pristine.append(Pristine(item))
        return item

    def end(self, place):
        """A walk ended after so many items."""
        if place < len(self.items):
            disagree("it gives %s items, and then %s", len(self.items), place)
        self.done = True
        self.check()

    def read_ahead(self):
        """Takes at least as many items as were taken before, for where a walk
        stops shows what the tests look for."""
        items, done, self.error = take_items(
            lambda: next(self.source), max(READ_AHEAD, len(self.items)))
        for item in items:
            self.show(len(self.items), item)
        self.done = done
        self.check()
        if self.gets:
            self.check_gets()

    # Indices.

    def index(self, remote, key):
        name = key_of(key)
        if name in self.reads:
            found, error = self.reads[name]
            if error is not None:
                raise error
            return found
        try:
            found, error = remote_method(remote, "__getitem__", key), None
            if not defined("__getitem__", "__missing__"):
                found = self.judge_index(remote, key, found)
        except LookupError as raised:
            found, error = None, raised
        if name is not None:
            self.reads[name] = found, error
        if error is not None:
            raise error
        return found

    def judge_index(self, remote, key, found):
        whole = type(key) is int or type(key) is bool
        if not whole and type(key) is not slice or is_mapping(remote):
            self.see_get(key, found)
            return found
        if whole:
            return self.at(remote, int(key), found)
        parts = list(found) if type(found) in (list, tuple) else None
        if type(found) is Remote and type(found.__iter__()) is Walk:
            parts = list(found)
        length = length_of(remote)
        if parts is not None and length is not None:
            places = range(length)[key]
            if len(places) != len(parts):
                disagree("a slice of %s items has %s", len(places), len(parts))
            for place, part in zip(places, parts):
                self.at(remote, place, part)
        return found

    def at(self, remote, place, found):
        """What there is at an index that gave `found`."""
        if place < 0:
            length = length_of(remote)
            if length is None or place + length < 0:
                return found
            place += length
        if place < len(self.items):
            if not self.pristine[place].agrees(found):
                disagree("a walk gives %s as item %s, an index %s",
                         self.pristine[place].value, place, found)
            return self.items[place]
        before = self.faces.setdefault(place, Pristine(found))
        if not before.agrees(found):
            disagree("index %s gives %s, and then %s", place, before.value,
                     found)
        return before.value

    # Mappings.

    def part(self, name, function):
        """What keys(), values() or items() gives."""
        if name not in self.parts:
            found = the_solution.call("call", function, None, (), {},
                                      quiet=True)
            once = False
            if type(found) is Remote:
                once = type(found.__iter__()) is Remote
                items, done, error = take_items(iter(found).__next__,
                                                MOST_LOOKED_AT)
                if error is not None:
                    raise error
                if not done:
                    disagree("%s() gives over %s items", name, MOST_LOOKED_AT)
                found = items
            try:
                items = list(found)
            except TypeError:
                return found
            self.parts[name] = found, items, once
            self.check()
            self.check_gets()
        found, items, once = self.parts[name]
        if once:
            return iter(items)
        return list(items) if type(found) is list else found

    def pairs(self):
        """What items() gave; None if tests have not asked, or it gave none."""
        pairs = self.parts["items"][1] if "items" in self.parts else None
        if pairs is None or not all(type(x) in (tuple, list) and len(x) == 2
                                    for x in pairs):
            return None
        return pairs

    def keys(self):
        """The keys that tests have seen; None if they have not."""
        if "keys" in self.parts:
            return self.parts["keys"][1]
        pairs = self.pairs()
        if pairs is not None:
            return [key for key, _ in pairs]
        return self.items if self.done and not defined("__iter__") else None

    def listed(self):
        """{key: Pristine, or None where its value was not seen}; None if the
        keys are not known."""
        if self.listing is None:
            keys, pairs = self.keys(), self.pairs()
            if keys is None or any(type(key) is Remote for key in keys):
                return None
            try:
                self.listing = dict.fromkeys(keys)
                for key, value in pairs or ():
                    self.listing[key] = Pristine(value)
            except TypeError:
                return None
        return self.listing

    def see_get(self, key, found):
        """`found` is what the key has."""
        self.gets.append((key, Pristine(found)))
        self.check_get(*self.gets[-1])

    def check_get(self, key, found):
        listed = self.listed()
        if listed is None or type(key) is Remote:
            return
        if key not in listed:
            disagree("it has an item for %s, and no such key", key)
        there = listed[key]
        if there is not None and not there.agrees(found.value):
            disagree("%s has the value %s, and in items() %s", key,
                     found.value, there.value)

    def check_parts(self):
        counts = {name + "()": len(items)
                  for name, (_, items, _) in self.parts.items()}
        if self.length is not None and not defined("__len__"):
            counts["len()"] = self.length
        walked = self.done and not defined("__iter__")
        if walked:
            counts["a walk"] = len(self.items)
        if len(set(counts.values())) > 1:
            disagree("the items that it has are %s", counts)
        keys, pairs = self.keys(), self.pairs()
        if walked and keys is not None and not same_members(keys, self.items):
            disagree("its keys are %s, a walk gives %s", keys, self.items)
        if pairs is not None:
            if not same_members(keys, [key for key, _ in pairs]):
                disagree("its keys are %s, its items %s", keys, pairs)
            if "values" in self.parts and not same_members(
                    self.parts["values"][1], [value for _, value in pairs]):
                disagree("its values are %s, its items %s",
                         self.parts["values"][1], pairs)

    def check_gets(self):
        """After what keys() and items() say of what keys gave."""
        self.listing = None
        for key, found in self.gets:
            self.check_get(key, found)

    # Others.

    def tell(self, what, ask):
        """What ask() gave first."""
        if what not in self.told:
            self.told[what] = ask()
        return self.told[what]

    def see_plain(self, plain):
        if self.plain is None and plain is not None:
            self.plain = plain
            self.check()

    def check_plain(self):
        if defined("__iter__", "__len__"):
            return
        same = (all(map(Pristine.agrees, self.pristine, self.plain))
                and len(self.items) == len(self.plain)
                if type(self.plain) is list
                else same_members(self.items, list(self.plain)))
        if not same:
            disagree("a walk gives %s, and it is equal to %s", self.items,
                     self.plain)


def field_of(x, name):
    """The attribute of a tuple of the program. A field of a named tuple is its
    item."""
    if name.startswith("__"):
        raise AttributeError(name)
    remote = x.__dict__["_object"]
    found = getattr(remote, name)
    fields = getattr(remote, "_fields", ()) if name != "_fields" else ()
    if type(fields) is tuple and name in fields and not defined(name):
        place = fields.index(name)
        if place < len(x) and not Pristine(x[place]).agrees(found):
            disagree("item %s is %s, and the field %s", place, x[place], found)
    return found


KEPT[tuple].__getattr__ = field_of

views = {}  # by the numbers of objects


def view_of(number):
    found = views.get(number)
    if found is None or found.changes != the_solution.changes:
        found = views[number] = View(the_solution.changes)
    return found


def remote_method(remote, name, *args):
    number = object.__getattribute__(remote, "_number")
    return the_solution.call("method", number, name, args, {})


def length_of(remote):
    """None if it has none."""
    try:
        return len(remote)
    except TypeError:
        return None


mappings = {}  # whether an object has keys, by its number


def is_mapping(remote):
    number = object.__getattribute__(remote, "_number")
    if number not in mappings:
        mappings[number] = not holds_children(remote) and hasattr(remote,
                                                                  "keys")
    return mappings[number]


def holds_children(remote):
    """Whether it is an element of XML, whose keys and items are attributes and
    whose length and walk are of its children. Only tests that know the class
    are told so."""
    kind = remote.__class__
    return (kind.__module__, kind.__name__) == ("xml.etree.ElementTree",
                                                "Element")


class Walk:
    """An iterator over what an object holds: each one gives the same."""

    def __init__(self, view, remote):
        self.view = view
        self.remote = remote
        self.place = 0

    def __iter__(self):
        return self

    def __next__(self):
        view = self.view
        view.begun = False
        if self.place == len(view.items):
            if not view.done and view.error is None:
                view.read_ahead()
            elif view.done and view.changes != the_solution.changes:
                # Tests that add to what they walk through.
                again = iter(self.remote)
                if type(again) is Walk:
                    view = self.view = again.view
                    view.begun = False
                    if not view.done:
                        view.read_ahead()
            if self.place >= len(view.items):
                if view.error is not None:
                    raise view.error
                raise StopIteration
        self.place += 1
        return view.items[self.place - 1]


class Stream:
    """What was read ahead of an iterator of the program, which is walked
    through once, whoever walks. Where it begins again it gives the same."""

    def __init__(self, number, begun):
        self.number = number
        self.ahead = []  # the next one last
        self.taken = 0   # of the iterator
        self.done = False
        self.error = None
        self.view = view_of(number)
        # How many it has shown since it began, in this view; None if that is
        # not known.
        self.place = None if begun else 0

    def take(self):
        return the_solution.call("method", self.number, "__next__", (), {})

    def read_ahead(self):
        items, self.done, self.error = take_items(
            self.take, max(READ_AHEAD, self.taken))
        self.taken += len(items)
        self.ahead = items[::-1]

    def look(self):
        view = view_of(self.number)
        if view is not self.view:
            self.view = view
            if self.place:
                self.place = None
        return self.place is not None and not defined("__iter__", "__next__")

    def __next__(self):
        if not self.ahead and not self.done and self.error is None:
            self.read_ahead()
        judged = self.look()
        if self.ahead:
            item = self.ahead.pop()
            if judged:
                item = self.view.show(self.place, item)
                self.place += 1
            return item
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        # It may go on after its end.
        self.done = False
        if judged and (self.place or not self.view.done):
            self.view.end(self.place)
        self.place = 0
        raise StopIteration


streams = {}  # by the numbers of iterators that somebody walked through
