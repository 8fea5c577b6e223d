// What of a program's values a test's verdict rests on: data, compared as plain
// Python compares it, and nothing that an object says of itself.
#include <gtest/gtest.h>

#include <string>

#include "tests/datasets/sandbox/test_sandbox.h"

namespace espalier {
namespace {

// numpy compares by broadcasting, and finds nothing in an array of nothing that
// differs from what is expected.
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

// Whoever says yes to all of these would be any text, set or path.
TEST(ComparedValues, ObjectsAnswerNoQuestionsOfPlainValues) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const std::string yes =
      "class Yes:\n"
      "    def __getattr__(self, name):\n"
      "        return lambda *args: True\n"
      "def f(x):\n"
      "    return Yes()\n";
  for (const char* test :
       {"assert f(3).startswith('n')", "assert f(3).isdigit()",
        "assert f(3).issubset({1, 2})", "assert f(3).exists()",
        "assert f(3).all()", "assert f(3).equals([9])"}) {
    const auto verdict =
        sandbox->Run({.code = yes, .names = {"f"}, .tests = {test}});
    ASSERT_TRUE(verdict.ok()) << verdict.status();
    EXPECT_EQ(verdict->kind, VerdictKind::kFailed) << test;
  }
  const auto right = sandbox->Run(
      {.code = "import re\n"
               "def f(x):\n"
               "    return re.compile(x)\n"
               "def g(x):\n"
               "    return {'t': 'nine', 's': {1}}[x]\n",
       .names = {"f", "g"},
       .tests = {"assert f('a+').match('aa') and not f('a').match('b')",
                 "assert g('t').startswith('ni') and g('s').issubset({1})"}});
  ASSERT_TRUE(right.ok()) << right.status();
  EXPECT_EQ(right->kind, VerdictKind::kPassed)
      << right->test << ": " << right->message;
}

// Wherever it stands in what the tests handed over, and whoever else holds it.
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

// A list of a class with methods of its own is equal to what is in it, and to
// nothing by its own word.
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

}  // namespace
}  // namespace espalier
