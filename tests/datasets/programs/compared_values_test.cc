// A verdict depends only on the data in a program's values, compared as plain
// Python compares it, never on what an object claims about itself.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/datasets/programs/test_sandbox.h"

namespace espalier {
namespace {

// numpy compares by broadcasting: comparing an empty array with anything finds
// no difference.
TEST(ComparedValues, ArraysOfNothingAreNoAnswer) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const std::string nothing =
      "import numpy as np\n"
      "def f(x):\n"
      "    return np.zeros((0, 1)) if x else []\n";
  const std::string in_class =
      "import unittest\n"
      "class T(unittest.TestCase):\n"
      "    def test(self):\n"
      "        self.assertSequenceEqual(np.zeros((1, 0)), [f(1)])\n"
      "        self.assertFalse(f(1) != [4, 16])\n"
      "result = unittest.TestResult()\n"
      "T('test').run(result)\n"
      "assert result.wasSuccessful()\n";
  for (const std::string& test : {
           std::string("if f(1) != 9: raise ValueError"),
           std::string("assert not f(1) != [9, 25]"),
           std::string("assert np.allclose(f(1), [9, 25])"),
           std::string("assert np.allclose(f(0), 9)"),
           std::string("assert np.allclose(9.0, f(0))"),
           std::string("assert np.isclose(f(1), [9, 25]).all()"),
           std::string("assert np.all(np.isclose(f(0), 9))"),
           std::string("assert np.array_equiv(f(0), 9)"),
           std::string("np.testing.assert_allclose(f(1), 9)"),
           std::string("np.testing.assert_equal(f(1), 9)"),
           std::string("np.testing.assert_array_equal(f(0), 9)"),
           std::string("from numpy.testing import assert_allclose\n"
                       "assert_allclose(f(0), 9)"),
           in_class,
       }) {
    const auto verdict = sandbox->Run({.code = nothing,
                                       .names = {"f"},
                                       .before = "import numpy as np",
                                       .tests = {test}});
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    EXPECT_EQ(verdict->kind, VerdictKind::kFailed) << test;
  }
  const auto right = sandbox->Run(
      {.code = nothing,
       .names = {"f"},
       .before = "import numpy as np",
       .tests = {"assert np.allclose(f(0), []) and len(f(1)) == 0",
                 "assert np.array_equal(f(1), np.zeros((0, 1)))",
                 "np.testing.assert_array_equal(f(0), [])",
                 "assert np.isclose([1, 2], 2).tolist() == [False, True]"}});
  ASSERT_TRUE(right.ok()) << right.status();
  EXPECT_EQ(right->kind, VerdictKind::kPassed)
      << right->test << ": " << right->message;
}

// The same for arrays compared or computed with directly, whatever the tests do
// with warnings, and for keyword arguments.
TEST(ComparedValues, ArraysOfNothingStandAgainstNothing) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const std::vector<std::string> wrong = {
      "assert (f(1) == np.array([5])).all()",
      "assert (5 == f(1)).all()",
      "assert np.all(np.array([5]) == f(1))",
      "assert np.all(f(1) == 5)",
      "assert all(f(1) == 5)",
      "assert np.equal(f(1), 5).all()",
      "assert (f(1) * 2 == 10).all()",
      "assert (f(1).astype(int)[:] == 5).all()",
      "assert (np.round(f(1)) == 5).all()",
      "assert not (f(1) != 5).any()",
      "assert np.count_nonzero(f(1) != 5) == 0",
      "assert np.linalg.norm(f(1) - np.array([5.])) < 1e-6",
      "assert np.abs(f(1) - 5.).sum() < 1e-6",
      "assert (np.abs(f(1) - [5, 6]) < 1e-6).all()",
      "assert (f(1) <= [5]).all() and (f(1) >= np.array([5])).all()",
      "assert not np.logical_xor(f(1), True).any()",
      "x = f(1)\nx -= 5\nassert not x.any()",
      "assert np.ma.allclose(f(1), 5)",
      "assert np.allclose(a=f(1), b=5)",
      "assert np.all(np.isclose(b=5, a=f(1)))",
      "np.testing.assert_array_less(f(1), 5)",
      "assert np.linalg.norm(np.array(f(1)) - [1.5]) < 1e-6",
      "assert np.abs(np.array(f(1), dtype=float) - [5.]).sum() < 1e-6",
      "assert (np.asarray(f(1)) == 5).all()",
      "assert (np.copy(f(1)) == 5).all()",
      "from numpy import array\nassert (array(object=f(1)) == 5).all()",
      "assert (np.array(f(1).tolist()) == 5).all()",
      "assert (np.array(l(1)) == 5).all()",
      "assert (np.array([l(1)]) == 5).all()",
      "assert np.abs(np.array(l(2)) - [1.5]).sum() < 1e-6",
      "np.testing.assert_allclose(actual=f(1), desired=5)",
      "np.testing.assert_equal({'a': f(1)}, {'a': 5})",
      "np.testing.assert_equal([1, f(1)], [1, np.array([5])])",
      "import warnings\nwarnings.simplefilter('ignore')\n"
      "if f(1) != 9: raise ValueError",
      "import warnings\nwarnings.simplefilter('ignore')\n"
      "assert not f(1)",
  };
  for (const char* shape : {"0", "(0, 1)"}) {
    for (const std::string& test : wrong) {
      const auto verdict =
          sandbox->Run({.code = absl::StrCat("import numpy as np\n"
                                             "def l(x):\n"
                                             "    return [[], [[]]][x - 1]\n"
                                             "def f(x):\n    return np.zeros(",
                                             shape, ")\n"),
                        .names = {"f", "l"},
                        .before = "import numpy as np\nimport numpy.testing",
                        .tests = {test}});
      ASSERT_TRUE(verdict.ok()) << verdict.status();
      EXPECT_EQ(verdict->kind, VerdictKind::kFailed) << shape << " " << test;
    }
  }
  // Objects that numpy turns into an empty array.
  for (const char* object :
       {"np.matrix(np.zeros((0, 1)))", "np.ma.zeros(0)", "Row()"}) {
    for (const char* test :
         {"assert np.allclose(f(1), [5])", "assert np.isclose(f(1), 5).all()",
          "assert not (np.abs(np.subtract(f(1), 5)) > 1e-6).any()",
          "assert (np.array([5]) == f(1)).all()",
          "np.testing.assert_allclose(desired=5, actual=f(1))"}) {
      const auto verdict =
          sandbox->Run({.code = absl::StrCat("import numpy as np\n"
                                             "class Row(list):\n    x = 1\n"
                                             "def f(x):\n    return ",
                                             object, "\n"),
                        .names = {"f"},
                        .before = "import numpy as np\nimport numpy.testing",
                        .tests = {test}});
      ASSERT_TRUE(verdict.ok()) << verdict.status();
      EXPECT_EQ(verdict->kind, VerdictKind::kFailed) << object << " " << test;
    }
  }
  const auto right = sandbox->Run(
      {.code = "import numpy as np\n"
               "class Row(list):\n    x = 1\n"
               "def row(x):\n    return Row(x)\n"
               "def masked(x):\n    return np.ma.array(x)\n"
               "def f(x):\n    return np.zeros(0) + x\n"
               "def g(x):\n    return np.array([1., 2.])\n",
       .names = {"f", "g", "row", "masked"},
       .before = "import numpy as np\nimport numpy.testing",
       .tests = {
           "assert np.allclose(row([1, 2]), [1, 2]) and np.sum(row([1])) == 1",
           "assert np.abs(np.subtract(masked([1, 2]), [1, 2])).sum() == 0",
           "assert (np.array([1, 2]) == masked([1, 2])).all()",
           "assert np.add(row([1, 2]), row([1, 2])).tolist() == [2, 4]",
           "assert np.allclose(row([]), []) and np.sqrt(row([4]))[0] == 2",
           "np.testing.assert_array_equal(masked([1, 2]), [1, 2])",
           "assert (f(1) == np.array([])).all() and f(1).tolist() == []",
           "assert np.all(np.abs(f(1) - np.array([])) < 1e-6)",
           "assert (f(1) * 2).size == 0 and f(1).sum() == 0",
           "assert (f(1) > 0).all() and np.all(f(1) <= 3)",
           "assert (f(1) % 2 == 0).all() and np.maximum(f(1), 0).size == 0",
           "assert type(f(1)).__name__ == 'ndarray'",
           "assert type(f(1)) == np.ndarray and isinstance(f(1), np.ndarray)",
           "assert repr(f(1)) == 'array([], dtype=float64)'",
           "np.testing.assert_equal({'a': f(1)}, {'a': np.array([])})",
           "np.testing.assert_array_less(f(1), f(2))",
           "np.testing.assert_allclose(actual=f(1), desired=np.array([]))",
           "assert np.ma.allclose(f(1), np.array([]))",
           "x = np.append(f(1), 5)\nassert (x == 5).all() and x == 5",
           "assert (np.array([]) - 5).size == 0 and np.array(f(1)).sum() == 0",
           "assert (np.array(f(1).tolist()) == np.array([])).all()",
           "assert np.concatenate([f(1), [1, 2]]).tolist() == [1, 2]",
           "import copy\nassert copy.deepcopy(f(1)).shape == (0,)",
           "assert g(f(1)).tolist() == [1, 2]",
           "np.testing.assert_allclose(actual=g(0), desired=[1, 2])",
           "np.testing.assert_equal(desired=[1, 2], actual=g(0))",
           "np.testing.assert_equal(actual={'a': 'b'}, desired={'a': 'b'})",
           "assert np.allclose(a=g(0), b=[1, 2])",
           "assert np.isclose(a=g(0), b=[1, 2], rtol=1e-9).all()",
           "assert np.array_equiv(a1=g(0), a2=[1, 2])",
           "try:\n    np.allclose(1)\n    assert False\nexcept TypeError:\n"
           "    pass",
       }});
  ASSERT_TRUE(right.ok()) << right.status();
  EXPECT_EQ(right->kind, VerdictKind::kPassed)
      << right->test << ": " << right->message;
}

// A word in a test does not make the library a requirement.
TEST(ComparedValues, TestsThatNameNumpyRunWhereItIsAbsent) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(std::getenv("TMPDIR")) / "without_numpy";
  fs::create_directories(folder);
  // The worker is no longer root at this point.
  const fs::perms read =
      fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec;
  fs::permissions(folder.parent_path(), read);
  std::ofstream(folder / "numpy.py") << "raise ImportError('no numpy here')\n";
  const std::string python = folder / "python3";
  std::ofstream(python) << "#!/bin/sh\nexport PYTHONPATH=" << folder.string()
                        << "\nexec /usr/bin/python3 \"$@\"\n";
  fs::permissions(python, read);
  SandboxOptions options = PatientOptions();
  options.mode = SandboxMode::kWeak;
  options.python = python;
  auto made = Sandbox::Create(options);
  ASSERT_TRUE(made.ok()) << made.status();
  for (const auto& [test, kind] :
       {std::pair("assert f('numpy') == 'numpy'", VerdictKind::kPassed),
        std::pair("import numpy", VerdictKind::kFailed)}) {
    const auto verdict = (*made)->Run(
        {.code = "def f(x):\n    return x\n", .names = {"f"}, .tests = {test}});
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    EXPECT_EQ(verdict->kind, kind) << verdict->message;
  }
}

// An object that answers all of these questions could pass for any text, set,
// list or path.
TEST(ComparedValues, ObjectsAnswerNoQuestionsOfPlainValues) {
  ESPALIER_NEED_SANDBOX(sandbox);
  struct Question {
    const char* answer;  // of any method; `a` are the arguments
    const char* test;
  };
  const Question questions[] = {
      {"True", "assert f(3).startswith('n')"},
      {"True", "assert f(3).isdigit()"},
      {"True", "assert f(3).issubset({1, 2})"},
      {"True", "assert f(3).exists()"},
      {"True", "assert f(3).all()"},
      {"True", "assert f(3).equals([9])"},
      {"True", "assert f('a').match('aa')"},
      // Regardless of earlier uses of the same value or of an equal one.
      {"True", "r = f(1)\nr.lower()\nassert r.startswith('nine')"},
      {"True", "f(1).lower()\nassert f(2).startswith('nine')"},
      {"True", "r = f(1)\nnp.allclose(r, 1)\nassert r.all()"},
      {"True", "m = f(1).startswith\nassert m('n')"},
      {"True", "assert all(map(f(1).startswith, ['n']))"},
      {"True", "assert getattr(f(1), 'endswith')('n')"},
      {"True", "assert np.all(f(1))"},
      // The question itself reveals the expected answer.
      {"0", "assert f(1).find('nine') >= 0"},
      {"0", "assert f(1).index('nine') == 0"},
      {"1", "assert f(1).count(5) == 1"},
      {"1", "assert f(1).count(value=5) == 1"},
      {"['']", "assert f(1).split('nine')[0] == ''"},
      {"['', 'n', '']", "assert f(1).partition('n')[1] == 'n'"},
      {"''", "assert f(1).replace('nine', '') == ''"},
      {"set()", "assert not f(1).difference({1, 2})"},
      {"a[0]", "assert f(1).union({1, 2}) == {1, 2}"},
      {"a[0]", "assert f(1).intersection({1, 2}) == {1, 2}"},
      {"a[0]", "assert f(1).removeprefix('nine') == 'nine'"},
      {"0", "assert f(1).compare(5) == 0"},
      {"None", "assert f(1).remove('nine') is None"},
  };
  for (const auto& [answer, test] : questions) {
    const auto verdict =
        sandbox->Run({.code = absl::StrCat("class Yes:\n"
                                           "    def __getattr__(self, name):\n"
                                           "        return lambda *a, **k: ",
                                           answer, "\nyes = Yes()\ndef f(x):\n",
                                           "    return yes\n"),
                      .names = {"f"},
                      .before = "import numpy as np",
                      .tests = {test}});
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    EXPECT_EQ(verdict->kind, VerdictKind::kFailed) << test;
  }
  // It lies about its class: that class has no such method.
  for (const char* liar :
       {"import types\n"
        "def f(x):\n    return types.SimpleNamespace(match=lambda *a: True,\n"
        "                                 isdigit=lambda: True)\n",
        "class S:\n    isdigit = startswith = lambda *a: True\n"
        "S.__module__, S.__qualname__ = 'io', 'StringIO'\n"
        "def f(x):\n    return S()\n",
        "class S:\n    isdigit = match = lambda *a: True\n"
        "S.__module__, S.__qualname__ = 're', 'Pattern'\n"
        "def f(x):\n    return S()\n",
        "def f(x):\n    def g(): pass\n"
        "    g.isdigit = g.match = lambda *a: True\n    return g\n"}) {
    for (const char* test :
         {"assert f(1).isdigit()", "import re\nassert f(1).match('nine')"}) {
      const auto verdict =
          sandbox->Run({.code = liar, .names = {"f"}, .tests = {test}});
      ASSERT_TRUE(verdict.ok()) << verdict.status();
      EXPECT_EQ(verdict->kind, VerdictKind::kFailed) << liar << test;
    }
  }
}

// An object with the expected length that is empty when compared, or that
// changes each time.
TEST(ComparedValues, ObjectsStayWhatTheyAreWhileTestsLook) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const std::string long_and_empty =
      "class A:\n"
      "    def __init__(self, n):\n        self.n = n\n"
      "    def __len__(self):\n        return self.n\n"
      "    def __iter__(self):\n        return iter(())\n"
      "    def __getitem__(self, i):\n        raise IndexError\n"
      "def f(x):\n    return A(len(x))\n";
  const std::string shrinking =
      "class A:\n"
      "    def __init__(self, n):\n        self.n = n\n"
      "    def __len__(self):\n"
      "        n, self.n = self.n, 0\n        return n\n"
      "def f(x):\n    return A(len(x))\n";
  const std::string once =
      "class A(list):\n    walks = 0\n"
      "    def __iter__(self):\n        self.walks += 1\n"
      "        return iter([*list.__iter__(self)] if self.walks < 2 else ())\n"
      "def f(x):\n    return A(x)\n";
  const std::string expect = "y = [1.5, 2.5]\nr = f([1, 2])\n";
  const std::pair<std::string, std::string> forged[] = {
      {long_and_empty,
       "assert len(r) == len(y)\nfor a, b in zip(r, y): assert a == b"},
      {long_and_empty,
       "assert len(r) == len(y) and all(a == b for a, b in zip(y, r))"},
      {long_and_empty, "list(zip(r, y))\nassert len(r) == len(y)"},
      {shrinking,
       "assert len(r) == len(y)\n"
       "for i in range(len(r)): assert r[i] == y[i]"},
      {once,
       "assert sorted(r) == [1, 2] and all(a == b for a, b in zip(r, y))"},
  };
  for (const auto& [code, test] : forged) {
    const auto verdict =
        sandbox->Run({.code = code, .names = {"f"}, .tests = {expect + test}});
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    EXPECT_EQ(verdict->kind, VerdictKind::kFailed) << code << test;
  }
  const auto right = sandbox->Run(
      {.code = "class Stack:\n"
               "    def __init__(self):\n        self.x = []\n"
               "    def push(self, y):\n        self.x.append(y)\n"
               "    def __len__(self):\n        return len(self.x)\n"
               "    def __iter__(self):\n"
               "        for y in self.x:\n            yield y\n"
               "    def __getitem__(self, i):\n        return self.x[i]\n"
               "    def __setitem__(self, i, y):\n        self.x[i] = y\n"
               "def grow(stack):\n    stack.push(9)\n"
               "class Graph:\n"  // its length is not what it yields
               "    def __len__(self):\n        return 7\n"
               "    def __iter__(self):\n        return iter('ab')\n"
               "def upto(n):\n    yield from range(n)\n"
               "def through(x):\n    return [y + 1 for y in x]\n",
       .names = {"Stack", "grow", "Graph", "upto", "through"},
       .tests = {
           "s = Stack()\nassert len(s) == 0 and list(s) == []\n"
           "s.push(1)\nassert len(s) == 1 and list(s) == [1] == [*s]\n"
           "grow(s)\nassert len(s) == 2 and list(s) == [1, 9]\n"
           "s[0] = 4\nassert s[0] == 4 and list(s) == [4, 9]\n"
           "assert 9 in s and 5 not in s and sorted(s) == [4, 9]",
           "s = Stack()\ns.push(1)\ns.push(2)\na, b = iter(s), iter(s)\n"
           "assert next(a) == next(b) == 1 and next(a) == 2 and [*b] == [2]\n"
           "assert next(a, 0) == 0",
           "s = Stack()\ns.push(1)\ns.push(2)\n"
           "assert through(iter(s)) == [2, 3] == through(s)",
           "s = Stack()\ns.push(1)\n"
           "for x in s:\n    if len(s) < 4: s.push(x + 1)\n"
           "assert list(s) == [1, 2, 3, 4]",
           "g = Graph()\nassert list(g) == ['a', 'b'] == sorted(g)\n"
           "assert tuple(g) == ('a', 'b') and set(g) == {'a', 'b'}",
           "g = upto(3)\nassert next(g) == 0 and list(g) == [1, 2] and not "
           "list(g)"}});
  ASSERT_TRUE(right.ok()) << right.status();
  EXPECT_EQ(right->kind, VerdictKind::kPassed)
      << right->test << ": " << right->message;
}

TEST(ComparedValues, ObjectsAnswerWhatIsAskedOfTheirClasses) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto right = sandbox->Run(
      {.code = "import re\n"
               "import xml.etree.ElementTree as trees\n"
               "def f(x):\n"
               "    return re.compile(x, re.I)\n"
               "def g(x):\n"
               "    return {'t': 'nine', 's': {1}, 'l': [1, 1]}[x]\n"
               "def tree(x):\n"
               "    return trees.fromstring(x)\n"
               "class Words:\n"
               "    def __init__(self, words=()):\n"
               "        self.words = list(words)\n"
               "        self.count = 3\n"
               "        self.index = [1]\n"
               "        self.title = 't'\n"
               "    def find(self, word):\n"
               "        return self.words.index(word)\n"
               "    def replace(self):\n"
               "        return 'r'\n"
               "    def equals(self, other):\n"
               "        return self.words == other.words\n"
               "def words(x):\n"
               "    return Words(x)\n"
               "class Row(list):\n"
               "    def first(self):\n"
               "        return self[0]\n"
               "def row(x):\n"
               "    return Row(x)\n",
       .names = {"f", "g", "tree", "Words", "words", "row"},
       .methods = {"find"},
       .tests = {
           "import re\np = f('a+')\n"
           "assert p.match('AA') and not p.match('b')\n"
           "assert isinstance(p, re.Pattern) and p.sub('x', 'ba') == 'bx'",
           "assert g('t').startswith('ni') and g('s').issubset({1})",
           "assert g('t').find('n') == 0 and g('l').count(1) == 2",
           "import xml.etree.ElementTree\n"
           "assert tree('<a><b>c</b></a>').find('b').text == 'c'",
           "w = words(['a'])\nassert w.count == 3 and w.index == [1]\n"
           "assert w.title == 't' and w.replace() == 'r'",
           "assert Words(['a', 'b']).find('b') == 1 == words('ab').find('b')",
           "assert words('ab').equals(Words('ab'))\n"
           "assert not words('ab').equals(words('b'))",
           "assert row([1, 2, 1]).count(1) == 2 and row([1]).first() == 1"}});
  ASSERT_TRUE(right.ok()) << right.status();
  EXPECT_EQ(right->kind, VerdictKind::kPassed)
      << right->test << ": " << right->message;
}

// At any depth of what the tests passed, and whoever else holds a reference.
TEST(ComparedValues, ArgumentsChangeInPlaceAtAnyDepth) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto verdict = sandbox->Run(
      {.code = "def add(x):\n    x[0].append(9)\n"
               "def turn(x):\n    x.reverse()\n"
               "def wrap(x):\n    x.append((x[0], [x[0]]))\n"
               "def count(x, *, d, a):\n    x['k'] += 1\n    d.append(x)\n"
               "    a *= 2\n",
       .names = {"add", "turn", "wrap", "count"},
       .before = "import collections\nimport numpy as np",
       .tests = {"i = [1]\nx = [i, i]\nadd(x)\n"
                 "assert i == [1, 9] and x[0] is x[1] is i",
                 "x = ([],)\nadd(x)\nassert x == ([9],)",
                 "i = [1]\nx = [i, [2]]\nturn(x)\n"
                 "assert i == [1] and x == [[2], [1]] and x[1] is i",
                 "i = [1]\nx = [i]\nwrap(x)\n"
                 "assert x[1] == ([1], [[1]]) and x[1][0] is x[1][1][0] is i",
                 "x = collections.Counter('k')\nd = collections.deque()\n"
                 "a = np.array([1, 2])\ncount(x, d=d, a=a)\n"
                 "assert x == {'k': 2} and d[0] is x\n"
                 "assert a.tolist() == [2, 4]"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kPassed)
      << verdict->test << ": " << verdict->message;
}

// Arrays change in place like lists, and values of the tests' own classes keep
// their identity and class.
TEST(ComparedValues, ArgumentsOfOtherClassesChangeInPlace) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto verdict = sandbox->Run(
      {.code = "def double(x):\n    for a in x: a *= 2\n"
               "def order(x):\n    x.sort()\n"
               "def turn(x):\n    x.reverse()\n"
               "def first(x):\n    x[0] = 9\n"
               "def add(x):\n    x.append(1)\n"
               "def clear(x):\n    x.clear()\n"
               "def put(x):\n    x['z'] = 1\n    x['a'].append(2)\n",
       .names = {"double", "order", "turn", "first", "add", "clear", "put"},
       .before = "import collections, enum\nimport numpy as np\n"
                 "P = collections.namedtuple('P', 'x y')\n"
                 "class Row(list): pass\n"
                 "class Word(str): pass\n"
                 "class Level(enum.IntEnum):\n    LOW = 1\n    HIGH = 2\n"
                 "class Table(dict): pass\n"
                 "class Ordered(collections.OrderedDict): pass\n"
                 "class Strict(list):\n"
                 "    def __setitem__(self, i, x): raise ValueError\n",
       .tests = {"a = np.array([1, 2])\nx = [a]\ndouble(x)\n"
                 "assert a.tolist() == [2, 4] and x[0] is a",
                 "a = np.array([1, 2])\nx = (a, a)\ndouble(x)\n"
                 "assert a.tolist() == [4, 8]",
                 "a = np.array([1, 2])\nx = [a, [3]]\nturn(x)\n"
                 "assert x[0] == [3] and x[1] is a",
                 "a = np.array([[3, 1], [2, 0]], dtype=object)\nfirst(a)\n"
                 "assert a.tolist() == [[9, 9], [2, 0]]",
                 "a = np.array([3, 1])\na.flags.writeable = False\nx = [a, 4]\n"
                 "turn(x)\nassert x[1] is a",
                 "x = [P(2, 1), P(1, 2)]\ny = list(x)\norder(x)\n"
                 "assert x == [P(1, 2), P(2, 1)] and x[0] is y[1]\n"
                 "assert x[0].x == 1",
                 "x = Row([3, 1, 2])\norder(x)\n"
                 "assert x == [1, 2, 3] and type(x) is Row",
                 "r = Row([1])\nx = [3, 2, r]\nfirst(x)\n"
                 "assert x == [9, 2, [1]] and x[2] is r",
                 "w = Word('w')\nx = [3, 2, w]\nfirst(x)\n"
                 "assert x[0] == 9 and x[2] is w",
                 "x = [Level.HIGH, Level.LOW]\norder(x)\n"
                 "assert x[0] is Level.LOW and x[1] is Level.HIGH",
                 "x = Table(a=[1])\nput(x)\n"
                 "assert x == {'a': [1, 2], 'z': 1} and type(x) is Table",
                 "x = Ordered(a=[1])\nput(x)\n"
                 "assert list(x.items()) == [('a', [1, 2]), ('z', 1)]",
                 "r = Row()\nr.append(r)\nadd(r)\n"
                 "assert r[0] is r and r[1] == 1",
                 "r = Row([1])\nx = [r, r]\nadd(x)\nassert x[0] is x[1] is r",
                 "x = Strict([2, 1])\norder(x)\nassert x == [1, 2]",
                 "l = [1]\nx = [P(l, 0)]\nadd(l)\nclear(x)\n"
                 "assert l == [1, 1] and x == []"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kPassed)
      << verdict->test << ": " << verdict->message;
}

// An int subclass of the tests is a number, not a handle.
TEST(ComparedValues, NumbersOfTheTestsClassesAreNumbers) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto verdict = sandbox->Run(
      {.code = "def f(x):\n    return x\ndef g(x):\n    return x is f\n",
       .names = {"f", "g"},
       .before = "import enum\nclass E(enum.IntEnum):\n    Z = 0\n    B = 1\n"
                 "class I(int): pass\nclass S(str): pass\n",
       .tests = {"assert f(E.Z) == 0 and f(E.B) == 1 and not g(E.Z)",
                 "assert f([E.B, E.Z]) == [1, 0] and f({E.B: E.Z}) == {1: 0}",
                 "assert f(x=I(7)) == 7 and f(I(-3)) == -3",
                 "assert f(I(2 ** 70)) == 2 ** 70 and type(f(I(1))) is int",
                 "assert f((S('a'), S('a'))) == ('a', 'a')",
                 "assert f(f) is f and g(f) and f([f, g, f]) == [f, g, f]"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kPassed)
      << verdict->test << ": " << verdict->message;
}

// A list subclass with its own methods is equal to its contents, whatever its
// own __eq__ says.
TEST(ComparedValues, ContainersOfDerivedClassesCompareByTheirValues) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const std::string code =
      "class Row(list):\n"
      "    def first(self):\n"
      "        return self[0]\n"
      "class Liar(Row):\n"
      "    def __eq__(self, other):\n"
      "        return True\n"
      "    def __iter__(self):\n"
      "        return iter(())\n"
      "class Some(set):\n"
      "    def twice(self):\n"
      "        return 2 * len(self)\n"
      "class Words:\n"
      "    def __init__(self):\n"
      "        self.words = []\n"
      "    def put(self, word):\n"
      "        self.words.append(word)\n"
      "    def startswith(self, word):\n"
      "        return any(w.startswith(word) for w in self.words)\n";
  const auto right = sandbox->Run(
      {.code = code,
       .names = {"Row", "Some", "Words"},
       .methods = {"startswith"},
       .tests = {"assert Row([1, 2]) == [1, 2] and [1] == Row([1])",
                 "assert Row([1]) != [2] and not Row([1]) == (1,)",
                 "r = Row([1])\nr.append(2)\n"
                 "assert r == [1, 2] and r.first() == 1",
                 "assert Some([1]).issubset({1, 2}) and Some([1]) == {1}",
                 "w = Words()\nw.put('nine')\n"
                 "assert w.startswith('ni') and not w.startswith('x')"}});
  ASSERT_TRUE(right.ok()) << right.status();
  EXPECT_EQ(right->kind, VerdictKind::kPassed)
      << right->test << ": " << right->message;
  for (const char* test : {"assert Liar([1]) == [2]", "assert [2] == Liar([1])",
                           "assert Some([3]).issubset({1, 2})"}) {
    const auto wrong = sandbox->Run(
        {.code = code, .names = {"Liar", "Some"}, .tests = {test}});
    ASSERT_TRUE(wrong.ok()) << wrong.status();
    EXPECT_EQ(wrong->kind, VerdictKind::kFailed) << test;
  }
}

// Where a walk stops is what the tests look for.
TEST(ComparedValues, AWalkDoesNotTellWhereItStops) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const std::string listens =
      "last = []\n"
      "class Every:\n"
      "    def __iter__(self):\n"
      "        for i in range(100):\n"
      "            last[:] = [i]\n"
      "            yield i\n"
      "def f(x):\n"
      "    return list(last) if last else Every()\n"
      "def g(x):\n"
      "    return list(last) if last else iter(Every())\n";
  for (const char* name : {"f", "g"}) {
    for (const char* look : {"21 in ", "any(v == 21 for v in "}) {
      const std::string end = look[0] == 'a' ? ")" : "";
      const auto verdict = sandbox->Run(
          {.code = listens,
           .names = {name},
           .tests = {absl::StrCat("assert ", look, name, "(3)", end),
                     absl::StrCat("assert ", name, "(3) == [21]")}});
      ASSERT_TRUE(verdict.ok()) << verdict.status();
      EXPECT_EQ(verdict->kind, VerdictKind::kFailed) << look << name;
      EXPECT_EQ(verdict->test, 2) << look << name;
    }
  }
  const std::string endless =
      "import itertools\n"
      "class Three:\n"
      "    def __len__(self): return 3\n"
      "    def __iter__(self): return itertools.count()\n"
      "def f(x):\n"
      "    return Three()\n";
  const auto verdict = sandbox->Run(
      {.code = endless,
       .names = {"f"},
       .tests = {"r = f(1); assert len(r) == 3 and all(v in r for v in [7])"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kFailed) << verdict->message;
}

TEST(ComparedValues, IteratorsGoOnWhereTheyWere) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const std::string code =
      "import itertools\n"
      "def endless(x):\n"
      "    yield from itertools.count(x)\n"
      "def short(x):\n"
      "    yield x\n"
      "    yield x + 1\n"
      "    raise ValueError('no more')\n"
      "class Twice:\n"
      "    def __len__(self): return 2\n"
      "    def __iter__(self): return iter([4, 5])\n"
      "def twice(): return Twice()\n"
      "def many(x):\n"
      "    yield from range(x)\n";
  const auto verdict = sandbox->Run(
      {.code = code,
       .names = {"endless", "short", "twice", "many"},
       .tests = {
           "from itertools import islice\n"
           "g = endless(3)\n"
           "assert list(islice(g, 3)) == [3, 4, 5] and next(g) == 6\n"
           "assert list(zip(g, range(2))) == [(7, 0), (8, 1)]",
           "g = endless(0); assert next(g) == 0 and next(g) == 1\n"
           "for v in g:\n"
           "    if v == 5: break\n"
           "assert next(g) == 6",
           "got = []\n"
           "try:\n"
           "    for v in short(1): got.append(v)\n"
           "except ValueError as error:\n"
           "    got.append(str(error))\n"
           "assert got == [1, 2, 'no more']",
           "t = twice(); assert 5 in t and 6 not in t and len(t) == 2\n"
           "assert list(t) == [4, 5] == list(t)",
           "assert sum(many(5000)) == sum(range(5000))\n"
           "g = many(3); assert list(g) == [0, 1, 2] and list(g) == []"}});
  ASSERT_TRUE(verdict.ok()) << verdict.status();
  EXPECT_EQ(verdict->kind, VerdictKind::kPassed)
      << verdict->test << ": " << verdict->message;
}

}  // namespace
}  // namespace espalier
