// Tests that evaluate what a program gives (eval, exec, compile, pickle) do not
// run it: literals and arithmetic have their value, all else fails.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "datasets/programs/sandbox.h"
#include "tests/datasets/programs/test_sandbox.h"

namespace espalier {
namespace {

struct Evaluation {
  const char* what;
  const char* code;  // defines f
  const char* test;
};

constexpr Evaluation kForged[] = {
    {"eval", R"py(
def f(x):
    return "type('E',(),{'__eq__':lambda s,o:True})()"
)py",
     "assert eval(f(1)) == 24"},
    {"eval scope", R"py(
def f(x):
    return '[c for c in ().__class__.__base__.__subclasses__()][0]'
)py",
     "assert eval(f(1), {'__builtins__': {}}) == 24"},
    {"name", R"py(
def f(x):
    return 'y'
)py",
     R"py(
y = 24
assert eval(f(1)) == y
)py"},
    {"name value", R"py(
def f(x):
    return 'value'
)py",
     R"py(
value = 24
assert eval(f(1)) == value
)py"},
    {"name const", R"py(
def f(x):
    return 'y'
)py",
     R"py(
d = {'y': 1}
y = 24
assert eval(f(1)) == y
)py"},
    {"name stripped", R"py(
def f(x):
    return ' y '
)py",
     R"py(
y = 24
assert eval(f(1).strip()) == y
)py"},
    {"replaced", R"py(
def f(x):
    return 'y^1'
)py",
     R"py(
y = 24
assert eval(f(1).replace('^', '**')) == y
)py"},
    {"joined", R"py(
def f(x):
    return list('y')
)py",
     R"py(
y = 24
assert eval(''.join(f(1))) == y
)py"},
    {"reversed", R"py(
def f(x):
    return 'dlog'
)py",
     R"py(
gold = 24
assert eval(f(1)[::-1]) == gold
)py"},
    {"decoded", R"py(
def f(x):
    return 'eQ=='
)py",
     R"py(
import base64
y = 24
assert eval(base64.b64decode(f(1))) == y
)py"},
    {"exec", R"py(
def f(x):
    return 'import os; os._exit(0)'
)py",
     R"py(
exec(f(1))
assert False
)py"},
    {"exec sets", R"py(
def f(x):
    return 'r = y'
)py",
     R"py(
y = 24
exec(f(1))
assert r == y
)py"},
    {"compile", R"py(
def f(x):
    return 'y'
)py",
     R"py(
y = 24
assert eval(compile(f(1), 'x', 'eval')) == y
)py"},
    {"ast", R"py(
def f(x):
    return 'y'
)py",
     R"py(
import ast
y = 24
assert eval(compile(ast.parse(f(1), mode='eval'), 'x', 'eval')) == y
)py"},
    {"bytes", R"py(
def f(x):
    return b'y'
)py",
     R"py(
y = 24
assert eval(f(1)) == y
)py"},
    {"f-string", R"py(
def f(x):
    return '24 #'
)py",
     R"py(
y = 25
exec(f'assert {f(1)} == {y}')
)py"},
    {"f-string not", R"py(
def f(x):
    return 'not 0'
)py",
     R"py(
y = 25
exec(f'assert {f(1)} == {y}')
)py"},
    {"f-string comma", R"py(
def f(x):
    return '1, 2'
)py",
     R"py(
y = 25
exec(f'assert {f(1)} == {y}')
)py"},
    {"f-string line", R"py(
def f(x):
    return '1\n+2'
)py",
     R"py(
y = 25
exec(f'assert {f(1)} == {y}')
)py"},
    {"format", R"py(
def f(x):
    return '24 or 1'
)py",
     R"py(
y = 25
exec('assert {} == {}'.format(f(1), y))
)py"},
    {"plus", R"py(
def f(x):
    return 'y - 1'
)py",
     R"py(
y = 25
assert eval('1 + ' + f(1)) == y
)py"},
    {"builtins", R"py(
def f(x):
    return 'y'
)py",
     R"py(
import builtins
y = 24
assert builtins.eval(f(1)) == y
)py"},
    {"map", R"py(
def f(x):
    return 'y'
)py",
     R"py(
y = 24
assert list(map(eval, [f(1)])) == [y]
)py"},
    {"caught", R"py(
def f(x):
    return 'y'
)py",
     R"py(
y = 24
try:
    eval(f(1))
except BaseException:
    pass
)py"},
    {"power", R"py(
def f(x):
    return '9**9**9'
)py",
     "eval(f(1))"},
    {"shift", R"py(
def f(x):
    return '1<<(1<<60)'
)py",
     "eval(f(1))"},
    {"repeat", R"py(
def f(x):
    return "'a'*(1<<40)"
)py",
     "eval(f(1))"},
    {"deep", R"py(
def f(x):
    return '-' * 100000 + '1'
)py",
     "eval(f(1))"},
    {"attribute", R"py(
class E:
    pass
e = E()
e.s = 'y'
def f(x):
    return e
)py",
     R"py(
y = 24
assert eval(f(1).s) == y
)py"},
    {"error text", R"py(
def f(x):
    raise ValueError('y')
)py",
     R"py(
y = 24
try:
    f(1)
except ValueError as e:
    assert eval(str(e)) == y
)py"},
    {"in arguments", R"py(
def f(x):
    x.append('y')
)py",
     R"py(
y = 24
r = []
f(r)
assert eval(r[0]) == y
)py"},
    {"pickle", R"py(
import pickle
class X:
    def __reduce__(s):
        return (eval, ("type('E',(),{'__eq__':lambda s,o:True})()",))
def f(x):
    return pickle.dumps(X())
)py",
     R"py(
import pickle
assert pickle.loads(f(1)) == 7
)py"},
    {"pickle file", R"py(
import pickle
class X:
    def __reduce__(s):
        return (eval, ("type('E',(),{'__eq__':lambda s,o:True})()",))
def f(x):
    with open('/tmp/p', 'wb') as h:
        pickle.dump(X(), h)
)py",
     R"py(
import pickle
f(1)
with open('/tmp/p', 'rb') as h:
    r = pickle.load(h)
assert r == 7
)py"},
    {"pickle counter", R"py(
import pickle
from collections import Counter
class X:
    def __reduce__(s):
        return (Counter, ())
def f(x):
    return pickle.dumps(X())
)py",
     R"py(
from pickle import loads
assert loads(f(1)) == 7
)py"},
    {"marshal", R"py(
import marshal
def f(x):
    return marshal.dumps(compile('y', 'x', 'eval'))
)py",
     R"py(
import marshal
y = 24
assert eval(marshal.loads(f(1))) == y
)py"},
    {"exec file", R"py(
def f(x):
    open('/tmp/q', 'w').write('r = y')
)py",
     R"py(
y = 24
g = f(1) or ''
f(2)
exec(open('/tmp/q').read())
assert r == y
)py"},
};

constexpr Evaluation kRight[] = {
    {"24", R"py(
def f(x):
    return '(4+8)*(7-5)'
)py",
     "assert eval(f(1)) == 24"},
    {"literal", R"py(
def f(x):
    return ' [1, 2.5, ("a",), {1: {2}}, None, True, -1j, set()]'
)py",
     R"py(
assert eval(f(1)) == [1, 2.5, ('a',), {1: {2}}, None, True, -1j, set()]
)py"},
    {"power", R"py(
def f(x):
    return '2**100 // 3 % 7'
)py",
     "assert eval(f(1)) == 2 ** 100 // 3 % 7"},
    {"own", R"py(
def f(x):
    return 'abc'[x:]
)py",
     R"py(
assert f(0) == 'abc'
assert eval('f(1)') == 'bc'
ns = {}
exec('def g(x):\n    return x + 1', ns)
assert ns['g'](1) == 2
assert eval(compile('1 + 1', 'x', 'eval')) == 2
)py"},
    {"formed", R"py(
def f(x):
    return 'abc'[x:]
)py",
     R"py(
assert f(0) == 'abc'
for i in (1, 2):
    exec(f"assert f({i}) == {'abc'[i:]!r}")
    assert eval('f(%d)' % i) == 'abc'[i:]
    assert eval('f({})'.format(i)) == 'abc'[i:]
    assert eval('f(' + str(i) + ')') == 'abc'[i:]
)py"},
    {"no text", R"py(
def f(x):
    return x
)py",
     R"py(
import math
assert f(1) == 1
for e in ['math.sqrt(4)', 'f(2)']:
    assert eval(e[:]) == 2
)py"},
    {"scope", R"py(
def f(x):
    return 'q'
)py",
     R"py(
f(1)
def g():
    z = 3
    return eval('z')
assert g() == 3
assert eval('z', {'z': 4}) == 4
)py"},
    {"named tuples", R"py(
def f(x):
    return 'xy'
)py",
     R"py(
import collections
P = collections.namedtuple('P', list(f(1)))
assert eval('P(1, 2).x') == 1
)py"},
    {"syntax", R"py(
def f(x):
    return '1 +'
)py",
     R"py(
try:
    eval(f(1))
    assert False
except SyntaxError:
    pass
)py"},
    {"compiles", R"py(
def f(x):
    return 'x = 1'
)py",
     "assert compile(f(1), 'x', 'exec')"},
    {"pickles", R"py(
import pickle
def f(x):
    return pickle.dumps([1, {'a': 2.5}])
)py",
     R"py(
import pickle, datetime
assert pickle.loads(f(1)) == [1, {'a': 2.5}]
d = datetime.date(2024, 1, 2)
assert pickle.loads(pickle.dumps(d)) == d
)py"},
};

TEST(Evaluated, TextOfTheProgramDoesNotRun) {
  ESPALIER_NEED_SANDBOX(sandbox);
  for (const Evaluation& one : kForged) {
    const auto verdict =
        sandbox->Run({.code = one.code, .names = {"f"}, .tests = {one.test}});
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    EXPECT_NE(verdict->kind, VerdictKind::kPassed) << one.what;
  }
}

TEST(Evaluated, LiteralsAndTheTestsOwnTextsHaveTheirValues) {
  ESPALIER_NEED_SANDBOX(sandbox);
  for (const Evaluation& one : kRight) {
    const auto verdict =
        sandbox->Run({.code = one.code, .names = {"f"}, .tests = {one.test}});
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    EXPECT_EQ(verdict->kind, VerdictKind::kPassed)
        << one.what << ": " << verdict->message;
  }
}

TEST(Evaluated, TheMessageSaysWhatWasFound) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto verdict =
      sandbox->Run({.code = "def f(x):\n    return 'y'\n",
                    .names = {"f"},
                    .tests = {"y = 24\nassert eval(f(1)) == y"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kFailed);
  EXPECT_EQ(verdict->message,
            "the tests would run what the program gave: only literals and "
            "arithmetic on them are evaluated, found a Name");
}

}  // namespace
}  // namespace espalier
