// What tests read of an object of the program stays while they only look: an
// object whose walk, indices, length, attributes, keys and items say different
// things fails them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "datasets/programs/sandbox.h"
#include "tests/datasets/programs/test_sandbox.h"

namespace espalier {
namespace {

// A walk finds the items of x, an index always 0.
constexpr char kTwoFaced[] = R"py(
class E:
    def __init__(s, x):
        s.x = x
    def __len__(s):
        return len(s.x)
    def __iter__(s):
        return iter(s.x)
    def __getitem__(s, k):
        return 0
)py";

struct Liar {
  const char* what;
  const char* code;  // behind kTwoFaced, defines f
  const char* test;  // which it must not pass
};

constexpr Liar kSequences[] = {
    {"contains",
     R"py(
class G(E):
    def __iter__(s):
        s.n = getattr(s, 'n', 0) + 1
        return iter(s.x if s.n == 1 else [0] * 3)
def f(x):
    return G(x)
)py",
     R"py(
r = f([3, 1, 2])
assert 3 in r
assert 1 in r
assert 2 in r
assert all((a <= b for a, b in zip(list(r), list(r)[1:])))
)py"},
    {"slices",
     R"py(
class G(E):
    def __getitem__(s, k):
        return [0] * len(s.x[k]) if isinstance(k, slice) else s.x[k]
def f(x):
    return G(x)
)py",
     R"py(
r = f([3, 1, 2])
assert sorted([r[0], r[1], r[2]]) == [1, 2, 3]
p = r[:]
assert all((a <= b for a, b in zip(p, p[1:])))
)py"},
    {"slice then walk",
     R"py(
class G(E):
    def __getitem__(s, k):
        return sorted(s.x)[k]
def f(x):
    return G(x)
)py",
     R"py(
r = f([3, 1, 2])
p = r[0:3]
assert p == [1, 2, 3]
assert list(r)[0] == 3
)py"},
    {"remote slice",
     R"py(
class G(E):
    def __getitem__(s, k):
        return G([0] * 3) if isinstance(k, slice) else 0
def f(x):
    return G(x)
)py",
     R"py(
r = f([3, 1, 2])
assert sorted(r) == [1, 2, 3]
assert all((a <= b for a, b in zip(r[:], r[:])))
)py"},
    {"negative",
     R"py(
class G(E):
    def __getitem__(s, k):
        return 0 if k < 0 else s.x[k]
def f(x):
    return G(x)
)py",
     R"py(
r = f([3, 1, 2])
assert [r[0], r[1], r[2]] == [3, 1, 2]
assert r[-1] == 0
)py"},
    {"reversed",
     R"py(
class G(E):
    def __reversed__(s):
        return iter([3, 2, 1])
def f(x):
    return G(x)
)py",
     R"py(
r = f([3, 1, 2])
assert sorted(r) == [1, 2, 3]
d = list(reversed(r))
assert d == [3, 2, 1]
)py"},
    {"self iterator",
     R"py(
class E:
    def __init__(s, x):
        s.x = x
        s.p = 0
    def __iter__(s):
        s.p += 1
        s.i = 0
        return s
    def __next__(s):
        if s.i == 3:
            raise StopIteration
        s.i += 1
        return s.x[s.i - 1] if s.p == 1 else 0
def f(x):
    return E(x)
)py",
     R"py(
r = f([3, 1, 2])
assert sorted(r) == [1, 2, 3]
q = list(r)
assert all((a <= b for a, b in zip(q, q[1:])))
assert q
)py"},
    {"self iterator of none",
     R"py(
class E:
    def __len__(s):
        return 3
    def __iter__(s):
        return s
    def __next__(s):
        raise StopIteration
def f(x):
    return E()
)py",
     R"py(
r = f([3, 1, 2])
assert len(r) == 3
for a, b in zip(r, [1, 2, 3]):
    assert a == b
)py"},
    {"self iterator, index",
     R"py(
class E:
    def __init__(s, x):
        s.x = x
        s.i = 0
    def __len__(s):
        return 3
    def __iter__(s):
        return s
    def __getitem__(s, k):
        return 0
    def __next__(s):
        if s.i == 3:
            raise StopIteration
        s.i += 1
        return s.x[s.i - 1]
def f(x):
    return E(x)
)py",
     R"py(
r = f([3, 1, 2])
assert sorted(r) == [1, 2, 3]
assert r[0] <= r[1] <= r[2]
)py"},
    {"equal and walk",
     R"py(
class E(list):
    def __iter__(s):
        return iter([1, 2, 3])
def f(x):
    return E([3])
)py",
     R"py(
r = f(1)
assert r == [3]
assert sorted(r) == [1, 2, 3]
)py"},
    {"for by index",
     R"py(
class E:
    def __init__(s):
        s.n = 0
    def __getitem__(s, k):
        s.n += 1
        if k == 3:
            raise IndexError
        return [3, 1, 2][k] if s.n < 5 else 0
def f(x):
    return E()
)py",
     R"py(
r = f(1)
assert sorted(r) == [1, 2, 3]
assert r[0] <= r[1] <= r[2]
)py"},
    {"index error first",
     R"py(
class E:
    n = 0
    def __getitem__(s, k):
        s.n += 1
        if s.n == 1:
            raise IndexError
        return 5
def f(x):
    return E()
)py",
     R"py(
r = f(1)
try:
    r[3]
    assert 0
except IndexError:
    pass
assert r[3] == 5
)py"},
};

constexpr Liar kMappings[] = {
    {"keys and walk",
     R"py(
class E(dict):
    def keys(s):
        return ['a']
    def __iter__(s):
        return iter(['b'])
    def __len__(s):
        return 1
def f(x):
    return E()
)py",
     R"py(
r = f(1)
assert set(r) == {'b'}
assert set(r.keys()) == {'a'}
)py"},
    {"items and get",
     R"py(
class E(dict):
    def items(s):
        return [('a', 1)]
    def __getitem__(s, k):
        return 2
    def get(s, k, d=None):
        return 3
    def __len__(s):
        return 1
def f(x):
    return E()
)py",
     R"py(
r = f(1)
assert list(r.items()) == [('a', 1)]
assert r.get('a') == 3
)py"},
    {"items and index",
     R"py(
class E(dict):
    def items(s):
        return [('a', 1)]
    def __getitem__(s, k):
        return 2
def f(x):
    return E()
)py",
     R"py(
r = f(1)
assert r['a'] == 2
assert list(r.items()) == [('a', 1)]
)py"},
    {"values and items",
     R"py(
class E(dict):
    def items(s):
        return [('a', 1)]
    def values(s):
        return [2]
def f(x):
    return E()
)py",
     R"py(
r = f(1)
assert list(r.values()) == [2]
assert list(r.items()) == [('a', 1)]
)py"},
    {"items twice",
     R"py(
class E(dict):
    n = 0
    def items(s):
        s.n += 1
        return [('a', s.n)]
def f(x):
    return E()
)py",
     R"py(
r = f(1)
assert list(r.items()) == [('a', 1)]
assert list(r.items()) == [('a', 2)]
)py"},
    {"index of no key",
     R"py(
class E(dict):
    def keys(s):
        return [1, 2]
    def __iter__(s):
        return iter([1, 2])
    def __len__(s):
        return 2
    def __getitem__(s, k):
        return 0
def f(x):
    return E()
)py",
     R"py(
r = f(1)
assert sorted(r) == [1, 2]
assert r[0] == 0
)py"},
    {"len after items",
     R"py(
class E(dict):
    def __len__(s):
        return 1
    def items(s):
        return []
def f(x):
    return E()
)py",
     R"py(
r = f(1)
for k, v in r.items():
    assert 0
assert len(r) == 1
)py"},
};

constexpr Liar kOthers[] = {
    {"truth",
     R"py(
class E:
    n = 0
    def __bool__(s):
        s.n += 1
        return s.n == 1
def f(x):
    return E()
)py",
     R"py(
r = f(1)
assert r
assert not r
)py"},
    {"text",
     R"py(
class E:
    n = 0
    def __str__(s):
        s.n += 1
        return 'ab'[s.n % 2]
def f(x):
    return E()
)py",
     R"py(
r = f(1)
assert str(r) != str(r)
)py"},
    {"format",
     R"py(
class E:
    n = 0
    def __str__(s):
        s.n += 1
        return 'ab'[s.n % 2]
def f(x):
    return E()
)py",
     R"py(
r = f(1)
assert f'{r}' != '%s' % r
)py"},
    {"float",
     R"py(
class E:
    def __float__(s):
        return 1.5
    def __int__(s):
        return 2
    def __index__(s):
        return 2
def f(x):
    return E()
)py",
     R"py(
import math
assert math.isclose(float(f(1)), 1.5)
)py"},
    {"hash",
     R"py(
class E:
    def __hash__(s):
        return hash(5)
    def __eq__(s, o):
        return True
def f(x):
    return E()
)py",
     R"py(
assert {5: 1}.get(f(1)) == 1
)py"},
    {"nested list",
     R"py(
def f(x):
    return [E(x), E(x)]
)py",
     R"py(
r = f([3, 1, 2])
for one in r:
    assert sorted(one) == [1, 2, 3]
    assert one[0] <= one[1] <= one[2]
)py"},
    {"nested attribute",
     R"py(
class O:
    pass
def f(x):
    o = O()
    o.rows = E(x)
    return o
)py",
     R"py(
r = f([3, 1, 2])
assert sorted(r.rows) == [1, 2, 3]
assert r.rows[0] <= r.rows[1] <= r.rows[2]
)py"},
    {"attribute objects change",
     R"py(
class O:
    n = 0
    @property
    def rows(s):
        s.n += 1
        return [3, 1, 2] if s.n == 1 else [0, 0, 0]
def f(x):
    return O()
)py",
     R"py(
r = f([3, 1, 2])
assert sorted(r.rows) == [1, 2, 3]
assert r.rows[0] <= r.rows[1] <= r.rows[2]
)py"},
    {"other calls between",
     R"py(
def f(x):
    return E(x)
)py",
     R"py(
r = f([3, 1, 2])
assert sorted(r) == [1, 2, 3]
f([5])
assert r[0] <= r[1] <= r[2]
)py"},
    {"quiet methods between",
     R"py(
class G(E):
    n = 0
    def is_done(s):
        s.x = [0] * 3
        return True
    @property
    def a(s):
        return s.x[0]
def f(x):
    return G(list(x))
)py",
     R"py(
r = f([3, 1, 2])
assert r.a == 3
assert r.is_done()
assert r.a == 0
)py"},
    {"copy between",
     R"py(
class G(E):
    def copy(s):
        s.x = [0] * 3
        return s
def f(x):
    return G(list(x))
)py",
     R"py(
r = f([3, 1, 2])
assert sorted(r) == [1, 2, 3]
r.copy()
assert r[0] == 0
)py"},
    {"numpy",
     R"py(
def f(x):
    return E(x)
)py",
     R"py(
import numpy as np
r = f([3, 1, 2])
assert sorted(r) == [1, 2, 3]
assert np.asarray(r).sum() == 6
assert r[0] == 0
)py"},
    {"matrix index",
     R"py(
class E:
    n = 0
    def __getitem__(s, k):
        s.n += 1
        return s.n
def f(x):
    return E()
)py",
     R"py(
r = f(1)
assert r[0, 1:2] != r[0, 1:2]
)py"},
    {"named tuple",
     R"py(
class P(tuple):
    n = 0
    @property
    def x(s):
        P.n += 1
        return P.n
def f(x):
    return P((1, 2))
)py",
     R"py(
r = f(1)
assert r.x != r.x
)py"},
    {"field of a named tuple",
     R"py(
from collections import namedtuple
B = namedtuple('B', 'x y')
class P(B):
    @property
    def x(s):
        return 2
def f(n):
    return P(1, n)
)py",
     R"py(
r = f(35)
assert r[0] * r[1] == 35
assert r.x > 1
assert r[1] > 1
)py"},
    {"class attr",
     R"py(
class M(type):
    n = 0
    @property
    def x(s):
        M.n += 1
        return M.n
class E(metaclass=M):
    pass
def f(x):
    return E
)py",
     R"py(
r = f(1)
assert r.x != r.x
)py"},
};

void ExpectFailed(Sandbox& sandbox, absl::Span<const Liar> liars) {
  for (const Liar& liar : liars) {
    const auto verdict =
        sandbox.Run({.code = absl::StrCat(kTwoFaced, liar.code),
                     .names = {"f"},
                     .tests = {liar.test}});
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    EXPECT_EQ(verdict->kind, VerdictKind::kFailed) << liar.what;
  }
}

TEST(Views, SequencesWithTwoFacesFail) {
  ESPALIER_NEED_SANDBOX(sandbox);
  ExpectFailed(*sandbox, kSequences);
}

TEST(Views, MappingsThatContradictThemselvesFail) {
  ESPALIER_NEED_SANDBOX(sandbox);
  ExpectFailed(*sandbox, kMappings);
}

TEST(Views, ObjectsThatChangeBetweenLooksFail) {
  ESPALIER_NEED_SANDBOX(sandbox);
  ExpectFailed(*sandbox, kOthers);
}

// The message says what disagrees.
TEST(Views, AContradictionIsNamed) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto verdict = sandbox->Run(
      {.code = absl::StrCat(kTwoFaced, "def f(x):\n    return E(x)\n"),
       .names = {"f"},
       .tests = {"r = f([3, 1])\nassert sorted(r) == [1, 3]\n"
                 "assert r[0] == 3"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_NE(verdict->message.find("a walk gives 3 as item 0, an index 0"),
            std::string::npos)
      << verdict->message;
}

}  // namespace
}  // namespace espalier
