// Tests may hand a program their functions, iterators, errors and named tuples,
// and ask its functions and objects what Python's own would tell.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "datasets/programs/sandbox.h"
#include "tests/datasets/programs/test_sandbox.h"

namespace espalier {
namespace {

struct Exchange {
  const char* what;
  const char* code;
  const char* test;
  std::vector<std::string> names;
  std::vector<std::string> methods;  // of the published program's classes
  VerdictKind verdict;
};

void ExpectVerdicts(Sandbox& sandbox, absl::Span<const Exchange> all) {
  for (const Exchange& one : all) {
    const auto verdict = sandbox.Run({.code = one.code,
                                      .names = one.names,
                                      .methods = one.methods,
                                      .tests = {one.test}});
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    EXPECT_EQ(verdict->kind, one.verdict)
        << one.what << ": " << verdict->message;
  }
}

TEST(HandedOver, FunctionsIteratorsErrorsAndNamedTuples) {
  ESPALIER_NEED_SANDBOX(sandbox);
  ExpectVerdicts(*sandbox, {
                               {"len",
                                R"py(
def f(g, x):
    return g(x)
)py",
                                R"py(
import operator, functools
assert f(len, 'abc') == 3
assert f(str.upper, 'a') == 'A'
assert f(lambda x: x * 7 + 1, 3) == 22
assert f(functools.reduce.__call__ and abs, -3) == 3
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"key",
                                R"py(
def f(x, key=None):
    return sorted(x, key=key)
)py",
                                R"py(
assert f([3, 1, 2], key=lambda x: -x) == [3, 2, 1]
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"iter",
                                R"py(
def f(x):
    return sum(x)
)py",
                                R"py(
assert f(iter([1, 2])) == 3
assert f((x for x in [1, 2])) == 3
assert f(map(abs, [-1])) == 1
import itertools
assert f(itertools.chain([1], [2])) == 3
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"endless",
                                R"py(
def f(x):
    return [next(x), next(x)]
)py",
                                R"py(
import itertools
c = itertools.count(5)
assert f(c) == [5, 6]
assert next(c) == 7
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"error arg",
                                R"py(
def f(x):
    return (str(x), type(x).__name__)
)py",
                                R"py(
assert f(ValueError('x')) == ('x', 'ValueError')
import json
assert f(KeyError(1)) == ('1', 'KeyError')
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"named",
                                R"py(
def f(p):
    return (p.x + p.y, isinstance(p, tuple), p._replace(x=5))
def g(p):
    p.append(p[0])
)py",
                                R"py(
from collections import namedtuple
Pt = namedtuple('Pt', 'x y')
assert f(Pt(1, 2))[0] == 3
assert f(Pt(1, 2))[2] == (5, 2)
l = [Pt(1, 2)]
g(l)
assert l == [(1, 2), (1, 2)]
assert l[1] is l[0]
)py",
                                {"f", "g"},
                                {},
                                VerdictKind::kPassed},
                               {"decorator",
                                R"py(
def f(g):
    return lambda x: g(x) + 1
)py",
                                R"py(
@f
def g(x):
    return x
assert g(1) == 2
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"decorator of classes",
                                R"py(
import functools
def f(g):
    @functools.wraps(g)
    def h(*a, **k):
        h.n += 1
        return g(*a, **k)
    h.n = 0
    return h
)py",
                                R"py(
@f
def g(x, y=1):
    return x + y
assert g(1) == 2
assert g(1, y=5) == 6
assert g.n == 2
assert g.__name__ == 'g'
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"identity",
                                R"py(
def f(g):
    return g
)py",
                                R"py(
def g():
    pass
assert f(g) is g
assert f([g])[0] is g
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"raises",
                                R"py(
def f(g):
    try:
        return g(1)
    except ZeroDivisionError:
        return 'z'
)py",
                                R"py(
def g(x):
    return x / 0
assert f(g) == 'z'
def h(x):
    raise KeyError(5)
try:
    f(h)
    assert 0
except KeyError:
    pass
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"appends",
                                R"py(
def f(g):
    for i in range(3):
        g(i)
)py",
                                R"py(
out = []
f(out.append)
assert out == [0, 1, 2]
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"nested",
                                R"py(
class O:
    def __init__(s):
        s.n = 0
    def inc(s):
        s.n += 1
def f(g):
    o = O()
    g(o)
    return o.n
)py",
                                R"py(
def g(o):
    o.inc()
    o.inc()
    assert o.n == 2
assert f(g) == 2
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"recursion",
                                R"py(
def f(g, n):
    return g(n)
)py",
                                R"py(
def g(n):
    return 0 if n == 0 else 1 + f(g, n - 1)
assert f(g, 20) == 20
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"memo",
                                R"py(
def f(g):
    c = {}
    def h(x):
        if x not in c:
            c[x] = g(x)
        return c[x]
    return h
)py",
                                R"py(
calls = []
def g(x):
    calls.append(x)
    return x * x
h = f(g)
assert h(3) == 9 == h(3)
assert calls == [3]
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"assert in callback",
                                R"py(
def f(g):
    try:
        g(1)
    except BaseException:
        pass
    return 5
)py",
                                R"py(
def g(x):
    assert x == 2
assert f(g) == 5
)py",
                                {"f"},
                                {},
                                VerdictKind::kFailed},
                               {"globals",
                                R"py(
def f(g):
    return g.__globals__
)py",
                                R"py(
y = 5
def g():
    return 1
assert f(g)['y'] == 5
)py",
                                {"f"},
                                {},
                                VerdictKind::kFailed},
                               {"forged number",
                                R"py(
def f(g):
    import __main__
    import sys
    m = sys._getframe(1).f_globals
    return m['ask'](1, (), {})
)py",
                                R"py(
def s():
    return 24
def g():
    return 1
assert f(g) == s()
)py",
                                {"f"},
                                {},
                                VerdictKind::kFailed},
                               {"object to callback",
                                R"py(
class E:
    def __mul__(s, o):
        return s
    __add__ = __rmul__ = __mul__
    def __eq__(s, o):
        return True
def f(g, x):
    return g(E())
)py",
                                R"py(
g = lambda x: x * 7 + 1
assert f(g, 3) == g(3)
)py",
                                {"f"},
                                {},
                                VerdictKind::kFailed},
                               {"thread",
                                R"py(
import threading
def f(g):
    r = []
    ts = [threading.Thread(target=lambda: r.append(g(1)))]
    [x.start() for x in ts]
    [x.join() for x in ts]
    return r
)py",
                                R"py(
assert f(lambda x: x + 1) == [2]
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                           });
}

TEST(HandedOver, ObjectsOfTheProgramTellWhatPythonTells) {
  ESPALIER_NEED_SANDBOX(sandbox);
  ExpectVerdicts(*sandbox, {
                               {"doc",
                                R"py(
def f(x):
    """d"""
    return x
)py",
                                R"py(
assert f.__doc__ == 'd'
assert f.__name__ == 'f'
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"sig",
                                R"py(
def f(x, y=3, *a, z, **k):
    return x
)py",
                                R"py(
import inspect
s = inspect.signature(f)
assert list(s.parameters) == ['x', 'y', 'a', 'z', 'k']
assert s.parameters['x'].default is inspect.Parameter.empty
assert s.parameters['y'].default is not inspect.Parameter.empty
assert len(inspect.getfullargspec(f).args) == 2
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"hash",
                                R"py(
from dataclasses import dataclass
@dataclass(frozen=True)
class A:
    x: int
def f(x):
    return A(x)
)py",
                                R"py(
assert hash(f(1)) == hash(f(1))
assert len({f(1), f(1), f(2)}) == 2
assert {f(1): 5}[f(1)] == 5
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"unhash",
                                R"py(
class A:
    def __eq__(s, o):
        return True
def f(x):
    return A()
)py",
                                R"py(
try:
    hash(f(1))
    assert 0
except TypeError:
    pass
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"ops",
                                R"py(
class f:
    def __init__(s, x):
        s.x = x
    def __add__(s, o):
        return f(s.x + (o.x if isinstance(o, f) else o))
    def __rmul__(s, o):
        return f(s.x * o)
    def __sub__(s, o):
        return 0
    def __eq__(s, o):
        return s.x == o.x
)py",
                                R"py(
assert f(1) + 1 == f(2)
assert (3 * f(2)).x == 6
)py",
                                {"f"},
                                {"__init__", "__add__", "__rmul__", "__eq__"},
                                VerdictKind::kPassed},
                               {"ops not defined",
                                R"py(
class f:
    def __init__(s, x):
        s.x = x
    def __add__(s, o):
        return f(s.x + (o.x if isinstance(o, f) else o))
    def __rmul__(s, o):
        return f(s.x * o)
    def __sub__(s, o):
        return 0
    def __eq__(s, o):
        return s.x == o.x
)py",
                                R"py(
assert f(1) - 4 == 0
)py",
                                {"f"},
                                {"__init__", "__add__"},
                                VerdictKind::kFailed},
                               {"ops none",
                                R"py(
class f:
    def __init__(s, x):
        s.x = x
    def __add__(s, o):
        return f(s.x + (o.x if isinstance(o, f) else o))
    def __rmul__(s, o):
        return f(s.x * o)
    def __sub__(s, o):
        return 0
    def __eq__(s, o):
        return s.x == o.x
)py",
                                R"py(
assert f(1) + 1 == f(2)
)py",
                                {"f"},
                                {},
                                VerdictKind::kFailed},
                               {"async",
                                R"py(
import asyncio
async def g(x):
    return x
async def f(x):
    await asyncio.sleep(0.01)
    return await g(x) + 1
)py",
                                R"py(
import asyncio
assert asyncio.run(f(1)) == 2
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"async2",
                                R"py(
async def f(x):
    return x + 1
)py",
                                R"py(
import asyncio
async def m():
    return (await f(1), await asyncio.gather(f(2), f(3)))
assert asyncio.run(m()) == (2, [3, 4])
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"async err",
                                R"py(
async def f(x):
    return 1 / x
)py",
                                R"py(
import asyncio
try:
    asyncio.run(f(0))
    assert 0
except ZeroDivisionError:
    pass
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"error attributes",
                                R"py(
class MyE(Exception):
    def __init__(s, m, code):
        super().__init__(m)
        s.code = code
def f(x):
    if x == 'a':
        raise MyE('boom', 5)
    return 1 / x
)py",
                                R"py(
try:
    f('a')
    assert 0
except Exception as e:
    assert type(e).__name__ == 'MyE'
    assert e.code == 5
    assert str(e) == 'boom'
    assert not hasattr(e, 'other')
)py",
                                {"f"},
                                {},
                                VerdictKind::kPassed},
                               {"error attributes change",
                                R"py(
class MyE(Exception):
    n = 0
    @property
    def a(s):
        MyE.n += 1
        return MyE.n
def f(x):
    raise MyE('x')
)py",
                                R"py(
try:
    f('a')
except Exception as e:
    assert e.a != e.a
)py",
                                {"f"},
                                {},
                                VerdictKind::kFailed},
                           });
}

// Calls of the tests' functions take the tests' time, which has a limit, too.
TEST(HandedOver, AFunctionCalledForEverTimesOut) {
  SandboxOptions options = PatientOptions();
  options.limits.cpu_seconds = 0.5;
  ESPALIER_NEED_SANDBOX_WITH(sandbox, options);
  ExpectVerdicts(*sandbox, {{"for ever",
                             "def f(g):\n    while True: g(1)\n",
                             "f(lambda x: sum(range(100000)))",
                             {"f"},
                             {},
                             VerdictKind::kTimedOut}});
}

}  // namespace
}  // namespace espalier
