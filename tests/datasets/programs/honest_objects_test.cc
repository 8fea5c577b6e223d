// Honest objects pass, however tests look at them: views.py must not take a
// class that changes, or that counts and lists different things, for a liar.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "datasets/programs/sandbox.h"
#include "tests/datasets/programs/test_sandbox.h"

namespace espalier {
namespace {

struct Honest {
  const char* what;
  const char* code;
  std::vector<std::string> names;
  const char* test;
};

TEST(HonestObjects, Pass) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const Honest all[] = {
      {"stack",
       R"py(
class S:
    def __init__(s):
        s.x = []
    def push(s, v):
        s.x.append(v)
    def pop(s):
        return s.x.pop()
    def __len__(s):
        return len(s.x)
    def __iter__(s):
        return iter(s.x)
    def __getitem__(s, k):
        return s.x[k]
    def is_empty(s):
        return not s.x
    @property
    def top(s):
        return s.x[-1]
)py",
       {"S"},
       R"py(
s = S()
assert s.is_empty()
assert not s
assert len(s) == 0
s.push(1)
s.push(2)
assert s.top == 2
assert list(s) == [1, 2]
assert s[0] == 1
assert s[-1] == 2
assert s[:] == [1, 2]
assert not s.is_empty()
assert s.pop() == 2
assert s.top == 1
assert len(s) == 1
assert list(reversed(s)) == [1]
)py"},
      {"lru",
       R"py(
from collections import OrderedDict
class L:
    def __init__(s, n):
        s.n = n
        s.d = OrderedDict()
    def get(s, k):
        if k not in s.d:
            return -1
        s.d.move_to_end(k)
        return s.d[k]
    def put(s, k, v):
        s.d[k] = v
        s.d.move_to_end(k)
        if len(s.d) > s.n:
            s.d.popitem(last=False)
    def __iter__(s):
        return iter(s.d)
)py",
       {"L"},
       R"py(
c = L(2)
c.put(1, 1)
c.put(2, 2)
assert list(c) == [1, 2]
assert c.get(1) == 1
assert list(c) == [2, 1]
c.put(3, 3)
assert c.get(2) == -1
)py"},
      {"user dict",
       R"py(
from collections import UserDict, ChainMap, UserList
def d():
    return UserDict(a=1, b=[2])
def c():
    return ChainMap({'a': 1}, {'b': 2})
def l():
    return UserList([3, 1, 2])
)py",
       {"d", "c", "l"},
       R"py(
r = d()
assert dict(r) == {'a': 1, 'b': [2]}
assert r['a'] == 1
assert r.get('b') == [2]
assert r.get('z') is None
assert len(r) == 2
assert list(r.items()) == [('a', 1), ('b', [2])]
assert set(r) == set(r.keys())
assert 'a' in r
assert 'z' not in r
q = c()
assert q['b'] == 2
assert sorted(q) == ['a', 'b']
assert sorted(q.values()) == [1, 2]
u = l()
assert sorted(u) == [1, 2, 3]
assert u[0] == 3
assert list(u[1:]) == [1, 2]
assert u[-1] == 2
assert len(u) == 3
)py"},
      {"generators",
       R"py(
def g(n):
    for i in range(n):
        yield i
class R:
    def __init__(s, n):
        s.n = n
    def __iter__(s):
        s.i = 0
        return s
    def __next__(s):
        if s.i == s.n:
            raise StopIteration
        s.i += 1
        return s.i
)py",
       {"g", "R"},
       R"py(
a = g(3)
assert next(a) == 0
assert list(a) == [1, 2]
assert list(a) == []
r = R(3)
assert list(r) == [1, 2, 3]
assert list(r) == [1, 2, 3]
assert sum(r) == 6
)py"},
      {"matrix",
       R"py(
class M:
    def __init__(s, r):
        s.r = r
    def __getitem__(s, k):
        return s.r[k[0]][k[1]] if isinstance(k, tuple) else s.r[k]
    def __setitem__(s, k, v):
        s.r[k[0]][k[1]] = v
    def __iter__(s):
        return iter(s.r)
    def __len__(s):
        return len(s.r)
def m():
    return M([[1, 2], [3, 4]])
)py",
       {"m"},
       R"py(
a = m()
assert a[0, 1] == 2
assert a[1] == [3, 4]
assert [sum(x) for x in a] == [3, 7]
a[0, 1] = 9
assert a[0, 1] == 9
assert a[0] == [1, 9]
assert list(a) == [[1, 9], [3, 4]]
)py"},
      {"linked list",
       R"py(
class N:
    def __init__(s, v, n=None):
        s.val = v
        s.next = n
class LL:
    def __init__(s):
        s.head = None
        s.size = 0
    def add(s, v):
        s.head = N(v, s.head)
        s.size += 1
    def __iter__(s):
        n = s.head
        while n:
            yield n.val
            n = n.next
)py",
       {"LL"},
       R"py(
l = LL()
assert l.size == 0
assert l.head is None
l.add(1)
assert l.size == 1
assert l.head.val == 1
l.add(2)
assert l.size == 2
assert list(l) == [2, 1]
assert l.head.next.val == 1
l.head.val = 7
assert list(l) == [7, 1]
)py"},
      {"bank",
       R"py(
class A:
    count = 0
    def __init__(s, b):
        s.b = b
        A.count += 1
    @property
    def balance(s):
        return s.b
def deposit(a, x):
    a.b += x
)py",
       {"A", "deposit"},
       R"py(
a = A(5)
assert a.balance == 5
assert A.count == 1
deposit(a, 3)
assert a.balance == 8
b = A(1)
assert A.count == 2
assert b.balance == 1
)py"},
      {"element",
       R"py(
import xml.etree.ElementTree as T
def f(x):
    return T.fromstring(x)
)py",
       {"f"},
       R"py(
import xml.etree.ElementTree
e = f('<a k="1" l="2"><b/></a>')
assert len(e) == 1
assert list(e.keys()) == ['k', 'l']
assert e[0].tag == 'b'
assert e.get('k') == '1'
assert [c.tag for c in e] == ['b']
assert list(e.items()) == [('k', '1'), ('l', '2')]
)py"},
      {"closure",
       R"py(
def c():
    n = 0
    def g():
        nonlocal n
        n += 1
        return n
    return g
)py",
       {"c"},
       R"py(
g = c()
assert g() == 1
assert g() == 2
)py"},
      {"mutated by tests",
       R"py(
class O:
    pass
def f():
    o = O()
    o.x = [1]
    o.y = [[1], [2]]
    return o
class S:
    def __init__(s):
        s.r = [[1], [2]]
    def __getitem__(s, k):
        return s.r[k]
    def __iter__(s):
        return iter(s.r)
    def __len__(s):
        return 2
def g():
    return S()
)py",
       {"f", "g"},
       R"py(
o = f()
o.x.append(2)
assert o.y == [[1], [2]]
s = g()
s[0].append(5)
assert len(list(s)) == 2
assert s[1] == [2]
)py"},
      {"getitem only",
       R"py(
class V:
    def __init__(s, n):
        s.n = n
    def __getitem__(s, k):
        if k >= s.n:
            raise IndexError
        return k * 2
def f(n):
    return V(n)
)py",
       {"f"},
       R"py(
assert list(f(3)) == [0, 2, 4]
assert f(3)[1] == 2
assert 4 in f(3)
assert list(f(3)) == list(f(3))
)py"},
      {"tree",
       R"py(
class T:
    def __init__(s):
        s.left = None
        s.right = None
        s.v = None
    def insert(s, v):
        if s.v is None:
            s.v = v
        elif v < s.v:
            s.left = s.left or T()
            s.left.insert(v)
        else:
            s.right = s.right or T()
            s.right.insert(v)
    def __len__(s):
        return (s.v is not None) + len(s.left or []) + len(s.right or [])
    def __iter__(s):
        if s.left:
            yield from s.left
        if s.v is not None:
            yield s.v
        if s.right:
            yield from s.right
    def __contains__(s, x):
        return x in list(s)
)py",
       {"T"},
       R"py(
t = T()
for v in [3, 1, 2]:
    t.insert(v)
assert list(t) == [1, 2, 3]
assert len(t) == 3
assert t.left.v == 1
assert 2 in t
assert 5 not in t
assert t.right is None
t.insert(5)
assert t.right.v == 5
assert len(t) == 4
assert list(t) == [1, 2, 3, 5]
)py"},
      {"named tuple",
       R"py(
from collections import namedtuple
B = namedtuple('B', 'x y z')
class P(B):
    def norm(s):
        return s.x + s.y
    @property
    def w(s):
        return 9
def f(n):
    return P(1, n, [n])
)py",
       {"f"},
       R"py(
r = f(35)
assert r.x == 1
assert r.y == 35
assert r.z == [35]
assert r.norm() == 36
assert r.w == 9
assert r._fields == ('x', 'y', 'z')
assert r._replace(x=2) == (2, 35, [35])
)py"},
      {"ipaddress",
       R"py(
import ipaddress, re, sqlite3
def n(x):
    return ipaddress.ip_network(x)
def m(x):
    return re.match('(a)(b)', x)
)py",
       {"n", "m"},
       R"py(
a = n('10.0.0.0/30')
assert len(list(a)) == 4
assert str(a[1]) == '10.0.0.1'
assert str(list(a)[1]) == '10.0.0.1'
b = m('ab')
assert b[1] == 'a'
assert b.group(2) == 'b'
assert b.groups() == ('a', 'b')
)py"},
      {"counter subclass",
       R"py(
from collections import Counter, defaultdict
class C(Counter):
    def top(s):
        return s.most_common(1)
def f(x):
    return C(x)
class D(defaultdict):
    def a(s):
        return 1
def g():
    return D(int)
)py",
       {"f", "g"},
       R"py(
c = f('aab')
assert c['a'] == 2
assert len(c) == 2
assert sorted(c.items()) == [('a', 2), ('b', 1)]
assert c.top() == [('a', 2)]
assert dict(c) == {'a': 2, 'b': 1}
d = g()
d['x'] += 1
assert d['x'] == 1
assert len(d) == 1
)py"},
  };
  for (const Honest& one : all) {
    const auto verdict = sandbox->Run(
        {.code = one.code, .names = one.names, .tests = {one.test}});
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    EXPECT_EQ(verdict->kind, VerdictKind::kPassed)
        << one.what << ": " << verdict->message;
  }
}

// Of a class that the published program defines, tests mean its own methods.
TEST(HonestObjects, MethodsOfThePublishedProgramAreItsOwn) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const std::string graph = R"py(
class Graph:
    def __init__(self):
        self.edges = {0: [1, 2], 1: [], 2: []}
    def __iter__(self):
        return iter(self.edges)
    def __getitem__(self, node):
        return self.edges[node]
)py";
  const std::string test =
      "g = Graph()\nassert sum(len(g[node]) for node in g) == 2";
  for (const bool published : {true, false}) {
    std::vector<std::string> methods;
    if (published) methods = {"__init__", "__iter__", "__getitem__"};
    const auto verdict = sandbox->Run({.code = graph,
                                       .names = {"Graph"},
                                       .methods = methods,
                                       .tests = {test}});
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    EXPECT_EQ(verdict->kind == VerdictKind::kPassed, published)
        << verdict->message;
  }
}

}  // namespace
}  // namespace espalier
