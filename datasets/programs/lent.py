"""What tests hand over besides values: functions, iterators, errors and named
tuples.

A function or an iterator stays in the tests' process; the program has a number
of it, and while the tests wait for one of its calls it may call that (`ask` in
worker.py). It gives plain values and its own objects, and gets a plain value or
the name of an error: neither code nor globals nor a closure. Of errors and named
tuples the other side makes its own.

Its text stands between those of views.py and remote.py.
"""

FUNCTIONS = frozenset(("function", "builtin_function_or_method", "method",
                       "method_descriptor", "wrapper_descriptor"))

# With these a program could look into the tests' process or run text there.
NOT_LENT = frozenset(
    "eval exec compile guarded_eval guarded_exec guarded_compile __import__ "
    "open input breakpoint getattr setattr delattr globals locals vars format "
    "format_map import_module getattr_static loads load".split())

# Functions and iterators that tests handed over. The program may call these,
# and nothing else of the tests' process: of them it has numbers.
lent = []


def made_of(x):
    """What the solution's process makes for a named tuple, a function, an
    iterator or an error of the tests; None for anything else."""
    kind = type(x)
    if isinstance(x, tuple) and type(getattr(kind, "_fields", None)) is tuple:
        return Made("named", kind.__name__, kind._fields, tuple(x))
    if kind.__name__ in FUNCTIONS and kind.__module__ == "builtins":
        name = getattr(x, "__name__", "function")
        return None if name in NOT_LENT else Made("function", lend(x), name)
    if kind.__module__ in ("builtins", "itertools") and hasattr(kind,
                                                                "__next__"):
        return Made("iterator", lend(x))
    if isinstance(x, BaseException):
        name = error_name(kind)
        if error_class(name) is kind:
            return Made("error", name, tuple(x.args))
    return None


def lend(x):
    for number, known in enumerate(lent):
        if known is x:
            return number
    lent.append(x)
    return len(lent) - 1


def lent_back(kind, parts):
    if (kind not in ("function", "iterator") or not parts
            or type(parts[0]) is not int or not 0 <= parts[0] < len(lent)):
        raise ValueError("an object that the tests did not hand over")
    return lent[parts[0]]


def asked(number, args, keywords):
    """What is written for the result of a lent function or iterator."""
    x = lent[number]
    try:
        result = next(x) if hasattr(type(x), "__next__") else x(*args,
                                                                **keywords)
        return write_value((True, result), number_of)
    except AssertionError as error:
        # The program may not go on as if nothing had been found.
        raise the_solution.end(Ended("failed", "in a function that the tests "
                                     "hand over: %s" % error))
    except Exception as error:
        return write_value((False, error_name(type(error))), None)
