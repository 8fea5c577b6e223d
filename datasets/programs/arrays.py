"""Arrays without elements, as the tests' process meets them.

numpy compares by broadcasting, and finds nothing in an array of nothing that
differs from what is expected. So one that comes from the program is of a class
of its own here: it is an error to compute with it and an array that has
elements, to ask whether it equals a number or to take one from it, or to ask
for its truth value (as it is in numpy from 2.2 on). Whether it is above or
below a number may be asked, as of any result that may be empty. And where
numpy's own functions say whether arrays are alike, one that has elements is not
like one that has none, wherever they come from.

What numpy makes an array of, an object of the program, is held to the same.

So is what tests have numpy make of an array or a list of the program
(`numpy.array(f(x)) - y`), if it has no elements.

What this leaves: a test that hands the program's list to a function of numpy
(`numpy.subtract(f(x), y)`), or makes another one of it, and then asks whether
all is right, which it is of nothing as all([]) is. And `type(f(x)) is
numpy.ndarray` is false of an array without elements; isinstance() and == of
types say that it is one.

Its text stands between those of values.py and views.py.
"""

# What is asked of a number that is expected. Of a remainder anything may be.
JUDGING = frozenset(("equal", "not_equal", "subtract", "logical_xor"))
DIVIDING = frozenset(("remainder", "fmod", "bitwise_and"))

# numpy's functions of two values that are to be alike, and what they are called
# in numpy.testing.
ALIKE = ("allclose", "isclose", "array_equiv")
ASSERTED = ("assert_allclose", "assert_almost_equal", "assert_approx_equal",
            "assert_array_almost_equal", "assert_array_almost_equal_nulp",
            "assert_array_equal", "assert_array_less", "assert_array_max_ulp",
            "assert_equal")

# numpy's functions that make an array of its own class.
MAKERS = ("array", "asarray", "asanyarray", "ascontiguousarray",
          "asfortranarray", "asarray_chkfinite", "copy")

nothing_class = None  # made when it is first needed
given_lists = {}      # the program's lists without elements, by their ids


def is_array(x):
    numpy = sys.modules.get("numpy")
    return numpy is not None and (type(x) is numpy.ndarray or is_nothing(x))


def is_nothing(x):
    return nothing_class is not None and type.__eq__(type(x),
                                                     nothing_class) is True


def plain_array(x):
    return x.view(sys.modules["numpy"].ndarray) if is_nothing(x) else x


def array_of_nothing(x):
    """x, an array without elements, as one that judges nothing."""
    global nothing_class
    if nothing_class is None:
        nothing_class = make_nothing_class()
    return x.view(nothing_class)


def see_list(x):
    """Takes note of what a call gave, if it is a list that holds nothing."""
    if type(x) in (list, tuple) and holds_nothing(x):
        given_lists[id(x)] = x


def holds_nothing(x, depth=0):
    return type(x) in (list, tuple) and depth < 8 and all(
        holds_nothing(item, depth + 1) for item in x)


def is_given(x, depth=0):
    """Whether an array of x is one of what the program gave."""
    if type(x) is Remote or is_nothing(x) or id(x) in given_lists:
        return True
    return type(x) in (list, tuple) and depth < 8 and any(
        is_given(item, depth + 1) for item in x)


def array_of_object(x):
    """The array that numpy makes of an object of the program; the object itself
    where it makes none."""
    import numpy
    found = numpy.asarray(x)
    if found.ndim == 0:
        return x
    return found if found.size else array_of_nothing(found)


def compute(function, method, inputs, keywords):
    """What a function of numpy finds for objects of the program."""
    inputs = [array_of_object(x) if type(x) is Remote else x for x in inputs]
    if any(type(x) is Remote for x in (*inputs, *keywords.get("out", ()))):
        raise TypeError("an object of the program is not an array")
    return getattr(function, method)(*inputs, **keywords)


def make_nothing_class():
    import numpy

    class OfArrays(type):
        """Its class is numpy's, as far as that can be said."""

        def __eq__(cls, other):
            return other is numpy.ndarray or other is cls

        def __hash__(cls):
            return hash(numpy.ndarray)

    def holds_some(x):
        if isinstance(x, numpy.ndarray):
            return x.size > 0
        if isinstance(x, (list, tuple)):
            return numpy.size(x) > 0
        return True

    def check(name, others):
        """An error where a judgement would be one on nothing."""
        for other in others:
            if not holds_some(other):
                continue
            single = (not isinstance(other, (list, tuple))
                      and getattr(other, "ndim", 0) == 0)
            if name in JUDGING or not single:
                raise AssertionError(
                    "an array without elements is compared with one "
                    "that has some")

    class array(numpy.ndarray, metaclass=OfArrays):
        __slots__ = ()

        def __array_ufunc__(self, function, method, *inputs, **keywords):
            outs = keywords.get("out", ())
            if outs:
                keywords["out"] = tuple(map(plain_array, outs))
            if method == "__call__":
                if any(is_nothing(x) and x.size == 0 for x in inputs):
                    check(function.__name__, inputs)
            found = getattr(function, method)(*map(plain_array, inputs),
                                              **keywords)
            if outs:
                return outs[0] if len(outs) == 1 else outs
            # What is made of it by itself, or by numbers, is still its own.
            own = (function.__name__ not in DIVIDING
                   and all(is_nothing(x) or not isinstance(x, numpy.ndarray)
                           for x in inputs))
            if own and type(found) is numpy.ndarray and found.size == 0:
                return array_of_nothing(found)
            return found

        def __bool__(self):
            if self.size == 0:
                raise AssertionError("an array without elements is neither "
                                     "true nor false")
            return bool(plain_array(self))

        def tolist(self):
            found = plain_array(self).tolist()
            see_list(found)
            return found

        def __repr__(self):
            return repr(plain_array(self))

        def __reduce__(self):
            return plain_array(self).__reduce__()

        def __deepcopy__(self, memo):
            return self.copy()

    # Operators themselves: older releases of numpy take an error in == for an
    # answer.
    for name, function in (("eq", "equal"), ("ne", "not_equal"),
                           ("lt", "less"), ("le", "less_equal"),
                           ("gt", "greater"), ("ge", "greater_equal")):
        def compare(self, other, name="__%s__" % name, function=function):
            if self.size == 0:
                check(function, (other,))
            return getattr(plain_array(self), name)(plain_array(other))
        setattr(array, "__%s__" % name, compare)
    array.__hash__ = None
    array.__name__ = array.__qualname__ = "ndarray"
    return array


def alone(x, y, depth=0):
    """Whether one of the two has elements where the other has none."""
    if type(x) is Remote or type(y) is Remote or depth > 8:
        return False
    pairs = ()
    if type(x) is type(y) is dict:
        pairs = [(x[key], y[key]) for key in x if key in y]
    elif isinstance(x, (list, tuple)) and isinstance(y, (list, tuple)):
        pairs = [pair for pair in zip(x, y)
                 if isinstance(pair[0], (list, tuple, dict))
                 or is_array(pair[0])]
    if any(alone(*pair, depth + 1) for pair in pairs):
        return True
    if isinstance(x, dict) or isinstance(y, dict):
        return False
    try:
        numpy = sys.modules["numpy"]
        return (numpy.size(x) == 0) != (numpy.size(y) == 0)
    except ValueError:  # of lists of unlike lengths
        return False


def plain_parts(x, depth=0):
    """x with numpy's own arrays in place of those without elements."""
    if depth > 8:
        return x
    if type(x) in (list, tuple):
        return type(x)(plain_parts(item, depth + 1) for item in x)
    if type(x) is dict:
        return {key: plain_parts(item, depth + 1) for key, item in x.items()}
    return plain_array(x)


def judge_arrays(parts):
    """Makes numpy's functions tell arrays without elements from others, for
    tests that have these parts."""
    import warnings
    warnings.filterwarnings("error", "The truth value of an empty array")
    if not any("numpy" in part for part in parts):
        return
    try:
        import inspect
        import numpy
    except ImportError:  # a word, or tests that will say what they miss
        return

    def judged(function, differ):
        def compare(*args, **keywords):
            args = [array_of_object(x) if type(x) is Remote else x
                    for x in args]
            keywords = {key: array_of_object(x) if type(x) is Remote else x
                        for key, x in keywords.items()}
            if some_alone(function, args, keywords):
                return differ()
            keywords = {key: plain_parts(x) for key, x in keywords.items()}
            return function(*map(plain_parts, args), **keywords)
        compare.__name__ = function.__name__
        return compare

    def some_alone(function, args, keywords):
        try:
            both = list(inspect.signature(function).bind(
                *args, **keywords).arguments.values())[:2]
            return alone(*both)
        except Exception:
            return False  # let the function itself say what is wrong

    def fail():
        raise AssertionError("one of two arrays has no elements")

    def made(function):
        def make(*args, **keywords):
            found = function(*args, **keywords)
            if type(found) is numpy.ndarray and found.size == 0 and any(
                    map(is_given, (*args[:1], *keywords.values()))):
                return array_of_nothing(found)
            return found
        make.__name__ = function.__name__
        return make

    for name in MAKERS:
        setattr(numpy, name, made(getattr(numpy, name)))
    for name in ALIKE:
        setattr(numpy, name, judged(getattr(numpy, name),
                                    lambda: numpy.False_))
    if not any("testing" in part for part in parts):
        return
    import numpy.testing
    for name in ASSERTED:
        setattr(numpy.testing, name, judged(getattr(numpy.testing, name),
                                            fail))
