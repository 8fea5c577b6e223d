// Published code sets other than HumanEval, MBPP and APPS: what they ask, and
// which responses pass. The records are our own, in the published formats.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "datasets/programs/code_problem.h"
#include "datasets/programs/find_code.h"
#include "datasets/programs/public_tests.h"
#include "datasets/sets/code_files.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/python_task.h"
#include "nlohmann/json.hpp"
#include "tests/datasets/data_files.h"
#include "tests/datasets/programs/test_sandbox.h"

namespace espalier {
namespace {

struct Case {
  const char* what;
  const char* kind;  // "": recognised as `found`
  const char* found;
  const char* record;
  std::vector<std::string> right, wrong;  // responses
};

std::vector<Case> Cases() {
  return {
      {"HumanEval+ of EvalPlus",
       "",
       "evalplus",
       R"j({"task_id": "HumanEval/900", "prompt": "import math\n\ndef half(x: int) -> float:\n    \"\"\" Half of x.\n    >>> half(3)\n    1.5\n    \"\"\"\n", "contract": "\n    assert isinstance(x, int)\n", "canonical_solution": "    return x / 2\n", "entry_point": "half", "base_input": [[3], [4]], "plus_input": [[0], [7]], "atol": 0})j",
       {"    return x / 2\n",
        "```python\ndef half(x):\n    return math.fsum([x]) / 2\n```",
        "    return x / 2 + 1e-9\n"},
       {"    return x // 2\n", "    return x / 2 if x != 7 else 3\n",
        "    return x / 2 + 1e-4\n", "    return str(x / 2)\n"}},
      {"atol of the record",
       "",
       "evalplus",
       R"j({"task_id": "HumanEval/901", "prompt": "def third(x):\n", "canonical_solution": "    return x / 3\n", "entry_point": "third", "base_input": [[1]], "plus_input": [], "atol": 0.01})j",
       {"    return 0.33\n", "    return 0.34\n"},
       {"    return 0.3\n", "    return 1\n"}},
      {"roots of a polynomial",
       "",
       "evalplus",
       R"j({"task_id": "HumanEval/32", "prompt": "def find_zero(xs):\n", "canonical_solution": "    return 1.0\n", "entry_point": "find_zero", "base_input": [[[2, -3, 1, 0]]], "plus_input": [], "atol": 0.0001})j",
       {"    return 1.0\n", "    return 2.0\n", "    return 2\n"},
       {"    return 1.5\n", "    return 1 + 0j\n",
        "    class Root:\n        def __float__(self): return 1.0\n"
        "        def __rmul__(self, x): return 0\n"
        "        __pow__ = __rmul__\n"
        "    return Root()\n"}},
      {"HumanEval+ in the original format",
       "",
       "humaneval",
       R"j({"task_id": "HumanEval/909", "prompt": "def halves(xs):\n", "entry_point": "halves", "canonical_solution": "    return [x / 2 for x in xs]\n", "test": "import numpy as np\n\ndef is_floats(x) -> bool:\n    return isinstance(x, list) and all(isinstance(i, float) for i in x)\n\n\ndef assertion(out, exp, atol):\n    exact_match = out == exp\n\n    if atol == 0 and is_floats(exp):\n        atol = 1e-6\n    if not exact_match and atol != 0:\n        assert np.allclose(out, exp, rtol=1e-07, atol=atol)\n    else:\n        assert exact_match\n\n\ndef check(candidate):\n    inputs = [[[1, 2]], [[3]]]\n    results = [[0.5, 1.0], [1.5]]\n    for i, (inp, exp) in enumerate(zip(inputs, results)):\n        assertion(candidate(*inp), exp, 0)\n"})j",
       {"    return [x / 2 for x in xs]\n",
        "    return [x / 2 + 1e-9 for x in xs]\n",
        "    return [x // 2 if x == 2 else x / 2 for x in xs]\n"},
       {"    return []\n",
        "    return [[]] if xs == [3] else [x / 2 for x in xs]\n",
        "    return 0.5 if len(xs) > 1 else 1.5\n",
        "    import numpy\n    return numpy.zeros((0, 1))\n", "    return xs\n",
        "    return (0.5, 1.0 + 1e-9)\n"}},
      {"MBPP+ of EvalPlus",
       "",
       "evalplus",
       R"j({"task_id": "Mbpp/902", "prompt": "\"\"\"\nWrite a function to swap.\nassert swap([1, 2]) == [2, 1]\n\"\"\"\n", "entry_point": "swap", "canonical_solution": "\ndef swap(xs):\n    return [xs[1], xs[0]]\n", "base_input": [[[1, 2]]], "plus_input": [[["a", null]], [[true, 2.5]]], "atol": 0, "contract": "", "assertion": "assert swap([1, 2]) == [2, 1]"})j",
       {"def swap(xs):\n    return xs[::-1]\n",
        "import math\ndef first(x):\n    return x\n\ndef swap(xs):\n    return "
        "[first(xs[1]), xs[0]]\n",
        "Sure:\n```python\ndef swap(xs):\n    return list(reversed(xs))\n```"},
       {"def swap(xs):\n    return xs\n",
        "def swap(xs):\n    return tuple(xs[::-1])\n",
        "def swap(xs):\n    return [2, 1]\n"}},
      {"MBPP+ where JSON has no tuples, and order is free",
       "",
       "evalplus",
       R"j({"task_id": "Mbpp/2", "prompt": "\"\"\"\nShared.\n\"\"\"\n", "entry_point": "similar_elements", "canonical_solution": "def similar_elements(a, b):\n    assert type(a) is tuple and type(b) is tuple\n    return tuple(set(a) & set(b))\n", "base_input": [[[3, 4, 5], [5, 4, 9]]], "plus_input": [], "atol": 0})j",
       {"def similar_elements(a, b):\n    return [x for x in a + b if x in a "
        "and x in b]\n"},
       {"def similar_elements(a, b):\n    return list(a)\n"}},
      {"MBPP+ where order is free, and numbers are near",
       "",
       "evalplus",
       R"j({"task_id": "Mbpp/2", "prompt": "\"\"\"\nShared.\n\"\"\"\n", "entry_point": "similar_elements", "canonical_solution": "def similar_elements(a, b):\n    return (0.3, 1.5)\n", "base_input": [[[1], [2]]], "plus_input": [], "atol": 0})j",
       {"def similar_elements(a, b):\n    return (1.5, 0.3)\n",
        "def similar_elements(a, b):\n    return (0.1 + 0.2, 1.5)\n"},
       {"def similar_elements(a, b):\n    return (0.31, 1.5)\n",
        "def similar_elements(a, b):\n    return [0.1 + 0.2, 1.5]\n"}},
      {"MBPP+ with complex numbers",
       "",
       "evalplus",
       R"j({"task_id": "Mbpp/252", "prompt": "\"\"\"\nLength.\n\"\"\"\n", "entry_point": "length", "canonical_solution": "def length(z):\n    return abs(z)\n", "base_input": [["3+4j"]], "plus_input": [], "atol": 0.001})j",
       {"def length(z):\n    return (z.real ** 2 + z.imag ** 2) ** 0.5\n"},
       {"def length(z):\n    return z.real\n"}},
      {"MBPP+ at Hugging Face",
       "",
       "mbpp",
       R"j({"task_id": 903, "code": "def twice(x):\n    return 2 * x", "prompt": "Write a function to double.", "source_file": "s", "test_imports": [], "test_list": ["assert twice(2) == 4"], "test": "inputs = [[2], [5]]\nresults = [4, 10]\nfor inp, exp in zip(inputs, results):\n    assert twice(*inp) == exp\n"})j",
       {"def twice(x):\n    return x + x\n"},
       {"def twice(x):\n    return x + 2\n"}},
      {"MBPP+ at Hugging Face, where numbers are near",
       "",
       "mbpp",
       R"j({"task_id": 911, "code": "def volume(x):\n    return x ** 3 / 3", "prompt": "Write a function.", "source_file": "s", "test_imports": [], "test_list": ["assert volume(3) == 9.0"], "test": "import numpy as np\n\ndef is_floats(x) -> bool:\n    if isinstance(x, float):\n        return True\n    return isinstance(x, (list, tuple)) and all(isinstance(i, float) for i in x)\n\ndef assertion(out, exp, atol):\n    if atol == 0 and is_floats(exp):\n        atol = 1e-6\n    if out != exp and atol != 0:\n        assert np.allclose(out, exp, rtol=1e-07, atol=atol)\n    else:\n        assert out == exp\n\ninputs = [[3], [4]]\nresults = [9.0, 21.333333333333332]\nfor i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion(volume(*inp), exp, 0)\n"})j",
       {"def volume(x):\n    return x * x * x / 3 + 1e-9\n",
        "import numpy\ndef volume(x):\n    return numpy.float64(x) ** 3 / 3\n"},
       {"def volume(x):\n    return []\n", "def volume(x):\n    return ()\n",
        "import numpy\ndef volume(x):\n    return numpy.zeros((0, 1))\n",
        "def volume(x):\n    return 9.0\n",
        "def volume(x):\n    return [x ** 3 / 3]\n"}},
      {"MBPP+ at Hugging Face, where nothing is expected",
       "",
       "mbpp",
       R"j({"task_id": 912, "code": "def odd(x):\n    return [y for y in x if y % 2]", "prompt": "Write a function.", "source_file": "s", "test_imports": [], "test_list": ["assert odd([2]) == []"], "test": "import numpy as np\n\ndef is_floats(x) -> bool:\n    if isinstance(x, float):\n        return True\n    return isinstance(x, (list, tuple)) and all(isinstance(i, float) for i in x)\n\ndef assertion(out, exp, atol):\n    if atol == 0 and is_floats(exp):\n        atol = 1e-6\n    if out != exp and atol != 0:\n        assert np.allclose(out, exp, rtol=1e-07, atol=atol)\n    else:\n        assert out == exp\n\ninputs = [[[2]], [[4, 6]]]\nresults = [[], []]\nfor i, (inp, exp) in enumerate(zip(inputs, results)):\n    assertion(odd(*inp), exp, 0)\n"})j",
       {"def odd(x):\n    return list(filter(lambda y: y % 2, x))\n"},
       {"def odd(x):\n    return 5\n", "def odd(x):\n    return [7]\n",
        "def odd(x):\n    return ()\n",
        "def odd(x):\n    return float('nan')\n"}},
      {"MBPP+ at Hugging Face, where a reference is asked after the program",
       "",
       "mbpp",
       R"j({"task_id": 913, "code": "def most(xs):\n    return max(xs) * 7", "prompt": "Write a function.", "source_file": "s", "test_imports": [], "test_list": ["assert most([1]) == 7"], "test": "import numpy as np\n\ndef ref_func(xs):\n    return max(xs) * 7 if xs else None\n\ndef is_floats(x) -> bool:\n    return isinstance(x, float)\n\ndef assertion(out, exp, atol):\n    exact_match = out == exp\n    if atol == 0 and is_floats(exp):\n        atol = 1e-6\n    if not exact_match and atol != 0:\n        assert np.allclose(out, exp, rtol=1e-07, atol=atol)\n    else:\n        assert exact_match\n\ninputs = [[[1, 2]], [[9]]]\nfor i, inp in enumerate(inputs):\n    assertion(most(*inp), ref_func(*inp), 0)\n"})j",
       {"def most(xs):\n    xs.sort()\n    return 7 * xs[-1]\n"},
       {"def most(xs):\n    xs.clear()\n", "def most(xs):\n    return 7\n"}},
      {"MBPP+ where EvalPlus takes 0",
       "",
       "evalplus",
       R"j({"task_id": "Mbpp/295", "prompt": "\"\"\"\nSum.\n\"\"\"\n", "entry_point": "sum_div", "canonical_solution": "def sum_div(number):\n    divisors = [1]\n    for i in range(2, number):\n        if number % i == 0:\n            divisors.append(i)\n    return sum(divisors)\n", "base_input": [[8], [12]], "plus_input": [[1], [0]], "atol": 0})j",
       {"def sum_div(n):\n    return sum(i for i in range(1, n) if n % i == "
        "0)\n"},
       {"def sum_div(n):\n    return 0\n",
        "def sum_div(n):\n    return sum(i for i in range(1, n + 1) if n % i "
        "== 0)\n"}},
      {"MBPP+ where EvalPlus takes anything",
       "",
       "evalplus",
       R"j({"task_id": "Mbpp/164", "prompt": "\"\"\"\nAlike.\n\"\"\"\n", "entry_point": "are_equivalent", "canonical_solution": "def div_sum(n):\n    total = 1\n    i = 2\n    while i * i <= n:\n        if n % i == 0:\n            total = total + i + n // i\n        i += 1\n    return total\ndef are_equivalent(a, b):\n    return div_sum(a) == div_sum(b)\n", "base_input": [[36, 57], [2, 4], [23, 47]], "plus_input": [[6, 25], [220, 220], [1, 1], [6, 11]], "atol": 0})j",
       {"def are_equivalent(a, b):\n    def total(n):\n        return sum(i "
        "for i in range(1, n) if n % i == 0)\n    return total(a) == "
        "total(b)\n",
        "def are_equivalent(a, b):\n    def total(n):\n        return sum(i "
        "for i in range(1, n + 1) if n % i == 0)\n    return total(a) == "
        "total(b)\n"},
       {"def are_equivalent(a, b):\n    pass\n",
        "def are_equivalent(a, b):\n    return False\n",
        "def are_equivalent(a, b):\n    return True\n",
        "def are_equivalent(a, b):\n    return a == b and a > 1\n"}},
      {"EvalPlus with rows that are near",
       "",
       "evalplus",
       R"j({"task_id": "Mbpp/914", "prompt": "\"\"\"\nHalves.\n\"\"\"\n", "entry_point": "halves", "canonical_solution": "def halves(rows):\n    return [[x / 2 for x in row] for row in rows]\n", "base_input": [[[[1.0, 2.0], [3.0]]]], "plus_input": [], "atol": 1e-06})j",
       {"def halves(rows):\n    return [[x / 2 + 1e-9 for x in row] for row in "
        "rows]\n"},
       {"class Row:\n    def __init__(self, row):\n        self.row = row\n    "
        "def __len__(self):\n        return len(self.row)\n    def "
        "__iter__(self):\n        return iter(())\ndef halves(rows):\n    "
        "return list(map(Row, rows))\n"}},
      {"EvalPlus with equal values of other types, as it compares",
       "",
       "evalplus",
       R"j({"task_id": "Mbpp/915", "prompt": "\"\"\"\nHalf.\n\"\"\"\n", "entry_point": "half", "canonical_solution": "def half(x):\n    return x / 2\n", "base_input": [[4], [7]], "plus_input": [], "atol": 0})j",
       {"def half(x):\n    return complex(x / 2)\n",
        "from fractions import Fraction\ndef half(x):\n    return Fraction(x, "
        "2)\n",
        "from decimal import Decimal\ndef half(x):\n    return Decimal(x) / "
        "2\n",
        "def half(x):\n    return x / 2 + 1e-9\n"},
       {"def half(x):\n    return complex(x / 2 + 1e-9)\n",
        "from fractions import Fraction\ndef half(x):\n    return Fraction(x, "
        "2) + Fraction(1, 10 ** 9)\n",
        "def half(x):\n    return [x / 2]\n",
        "def half(x):\n    return str(x / 2)\n"}},
      {"a class with methods that texts have, too",
       "",
       "mbpp",
       R"j({"task_id": 921, "code": "class Words:\n    def __init__(self, words):\n        self.words = list(words)\n    def startswith(self, begin):\n        return any(w.startswith(begin) for w in self.words)\n    def count(self, word):\n        return self.words.count(word)", "text": "Write a class of words.", "test_list": ["assert Words(['nine']).startswith('ni')", "assert not Words(['nine']).startswith('x')", "assert Words(['a', 'b', 'a']).count('a') == 2"]})j",
       {"class Words:\n    def __init__(self, words):\n        self.words = "
        "list(words)\n    def startswith(self, begin):\n        return "
        "any(w.startswith(begin) for w in self.words)\n    def count(self, "
        "word):\n        return self.words.count(word)",
        "class Base:\n    def count(self, word):\n        return sum(w == word "
        "for w in self.words)\nclass Words(Base):\n    def __init__(self, "
        "words):\n        self.words = words\n    def startswith(self, "
        "begin):\n        return any(w[:len(begin)] == begin for w in "
        "self.words)\n"},
       {"class Words:\n    def __init__(self, words): pass\n    def "
        "startswith(self, begin): return True\n    def count(self, word): "
        "return 2\n",
        "class Words(list): pass\n"}},
      {"texts and sets that are asked questions",
       "",
       "mbpp",
       R"j({"task_id": 922, "code": "def first(xs):\n    return xs[0]", "text": "Write a function.", "test_list": ["assert first(['nine', 'x']).startswith('ni')", "assert first(['a']).find('a') == 0", "assert first([{1, 2}]).difference({1, 2}) == set()"]})j",
       {"def first(xs):\n    return next(iter(xs))\n",
        "class T(str):\n    pass\nclass S(set):\n    def size(self):\n        "
        "return len(self)\ndef first(xs):\n    return T(xs[0]) if type(xs[0]) "
        "is str else S(xs[0])\n"},
       {"class Yes:\n    def startswith(self, x): return True\n    def "
        "find(self, x): return 0\n    def difference(self, x): return "
        "set()\ndef first(xs):\n    return Yes()\n",
        "import types\ndef first(xs):\n    return "
        "types.SimpleNamespace(startswith=xs.__contains__ and (lambda x: "
        "True),\n        find=lambda x: 0, difference=lambda x: set())\n",
        "class S(str):\n    def startswith(self, x): return True\n    def "
        "find(self, x): return 0\n    def difference(self, x): return "
        "set()\ndef first(xs):\n    return S()\n"}},
      {"HumanEval+'s root of a polynomial in the original format",
       "",
       "humaneval",
       R"j({"task_id": "HumanEval/32", "prompt": "def find_zero(xs):\n", "entry_point": "find_zero", "canonical_solution": "    return -xs[0] / xs[1]\n", "test": "import math\n\ndef _poly(xs: list, x: float):\n    return sum([coeff * math.pow(x, i) for i, coeff in enumerate(xs)])\n\ndef check(candidate):\n    inputs = [[[-10, -2]], [[8, 3]]]\n    results = [-5.0, -2.67]\n    for i, (inp, exp) in enumerate(zip(inputs, results)):\n        assert _poly(*candidate(*inp), inp) <= 0.0001\n"})j",
       {"    a, b = xs\n    return 1e-9 - a / b\n"},
       {"    return [[]]\n", "    return -1e9\n", "    return 1e9\n",
        "    return 0\n", "    xs.clear()\n"}},
      {"HumanEval-X",
       "",
       "humaneval-x",
       R"j({"task_id": "Python/904", "prompt": "from typing import List\n\n\ndef most(xs: List[int]) -> int:\n    \"\"\" The most. \"\"\"\n", "declaration": "from typing import List\n\n\ndef most(xs: List[int]) -> int:\n", "canonical_solution": "    return max(xs)\n", "test": "\n\nMETADATA = {}\n\n\ndef check(most):\n    assert most([1, 3, 2]) == 3\n\ncheck(most)", "example_test": "def check(most):\n    assert most([1]) == 1\ncheck(most)\n"})j",
       {"    return sorted(xs)[-1]\n"},
       {"    return xs[0]\n"}},
      {"BigCodeBench",
       "",
       "bigcodebench",
       R"j({"task_id": "BigCodeBench/905", "complete_prompt": "import statistics\n\ndef task_func(xs):\n    \"\"\"\n    The mean of xs.\n    \"\"\"\n", "instruct_prompt": "The mean of xs.\nYou should write self-contained code starting with:\n```\nimport statistics\ndef task_func(xs):\n```", "canonical_solution": "    return statistics.mean(xs)\n", "code_prompt": "import statistics\ndef task_func(xs):\n", "test": "import unittest\nclass TestCases(unittest.TestCase):\n    def test_one(self):\n        self.assertAlmostEqual(task_func([1, 2]), 1.5)\n    def test_two(self):\n        self.assertEqual(statistics.mean([1]), 1)\n        with self.assertRaises(ValueError):\n            task_func([])\n", "entry_point": "task_func", "doc_struct": "{}", "libs": "['statistics']"})j",
       {"    return statistics.mean(xs)\n",
        "```python\ndef task_func(xs):\n    if not xs:\n        raise "
        "ValueError('none')\n    return sum(xs) / len(xs)\n```"},
       {"    return sum(xs) / len(xs)\n", "    return 1.5\n"}},
      {"BigCodeBench with files, errors and classes of the library",
       "",
       "bigcodebench",
       R"j({"task_id": "BigCodeBench/910", "complete_prompt": "import json\ndef task_func(name):\n    \"\"\" The paths in a file. \"\"\"\n", "instruct_prompt": "x", "canonical_solution": "    from pathlib import Path\n    with open(name) as file:\n        paths = json.load(file)\n    return map(Path, paths)\n", "code_prompt": "import json\ndef task_func(name):\n", "test": "import json\nimport unittest\nclass TestCases(unittest.TestCase):\n    def setUp(self):\n        with open('test.json', 'w') as file:\n            file.write('[\"a/b\"]')\n    def test_one(self):\n        paths = task_func('test.json')\n        self.assertIsInstance(paths, map)\n        self.assertEqual([path.name for path in paths], ['b'])\n    def test_two(self):\n        with open('test.json', 'w') as file:\n            file.write('[')\n        with self.assertRaises(json.JSONDecodeError) as caught:\n            task_func('test.json')\n        self.assertEqual(caught.exception.doc, '[')\n", "entry_point": "task_func", "libs": "['json', 'pathlib']"})j",
       {"    from pathlib import PosixPath\n"
        "    assert os.path.exists(name) and sys.argv and environ\n"
        "    return map(PosixPath, json.loads(open(name).read()))\n"},
       {"    from pathlib import Path\n"
        "    return list(map(Path, json.load(open(name))))\n",
        "    return map(str, json.load(open(name)))\n",
        "    import unittest\n    raise unittest.SkipTest('not today')\n"}},
      {"BigCodeBench by its instruction",
       "bigcodebench-instruct",
       "bigcodebench-instruct",
       R"j({"task_id": "BigCodeBench/906", "complete_prompt": "import re\ndef task_func(t):\n    \"\"\" Digits. \"\"\"\n", "instruct_prompt": "Take the digits. Write self-contained code.", "canonical_solution": "    return re.findall('[0-9]', t)\n", "code_prompt": "import re\ndef task_func(t):\n", "test": "import unittest\nclass TestCases(unittest.TestCase):\n    def test_all(self):\n        self.assertEqual(task_func('a1b2'), ['1', '2'])\n", "entry_point": "task_func", "libs": "['re']"})j",
       {"import re\ndef task_func(t):\n    return re.findall('[0-9]', t)\n",
        "```\ndef task_func(t):\n    return [c for c in t if "
        "c.isdigit()]\n```"},
       {"def task_func(t):\n    return t\n"}},
      {"CRUXEval's outputs",
       "",
       "cruxeval-o",
       R"j({"code": "def f(xs, n):\n    return [x for x in xs if x > n]", "input": "[1, 5, 7], 4", "output": "[5, 7]", "id": "sample_907"})j",
       {"[5, 7]", " [5, 7]\n", "`[5, 7]`",
        "[ANSWER]\nassert f([1, 5, 7], 4) == [5, 7]\n[/ANSWER]",
        "It keeps 5 and 7.\n\nassert f([1, 5, 7], 4) == [5, 7]",
        "```python\n[5, 7]\n```", "The filter keeps two.\n[5,7]",
        "[5, 7]  # what is above 4"},
       {"[5]", "f([1, 5, 7], 4)", "[5] + [7]", "sorted({5, 7})",
        "[g := {}, exec(\"def f(xs, n):\\n    return [x for x in xs if x > "
        "n]\", g), g['f']([1, 5, 7], 4)][-1]",
        "(5, 7)", "[7, 5]", "",
        "[ANSWER]assert f([1, 5, 7], 4) == [1][/ANSWER]",
        "type('X', (), {'__eq__': lambda *a: True})()"}},
      {"CRUXEval's inputs",
       "cruxeval-i",
       "cruxeval-i",
       R"j({"code": "def f(text):\n    return text + '=='", "input": "'a '", "output": "'a =='", "id": "sample_908"})j",
       {"f('a ')", "'a '", "[ANSWER]\nassert f('a ') == 'a =='\n[/ANSWER]",
        "assert 'a ==' == f('a ')", "f(text='a ')", "```python\nf('a ')\n```"},
       {"f('a')", "f()", "f('a' + ' ')", "f(next(iter(['a '])))",
        "f('b') or True", "",
        "f(type('T', (str,), {'__add__': lambda s, o: 'a =='})('x'))"}},
  };
}

TEST(PublishedCode, EveryFormIsReadAndJudged) {
  ESPALIER_NEED_SANDBOX(sandbox);
  for (const Case& one : Cases()) {
    SCOPED_TRACE(one.what);
    const std::string path = WriteTestFile("code.jsonl", one.record);
    const auto reader = SetReader::Open(path, {.kind = one.kind});
    ASSERT_TRUE(reader.ok()) << reader.status();
    const auto first = (*reader)->Next();
    ASSERT_TRUE(first.ok()) << first.status();
    EXPECT_EQ((*reader)->kind()->name, one.found);
    const auto problems = ReadCodeProblems(path, {.kind = one.kind});
    ASSERT_TRUE(problems.ok()) << problems.status();
    const CodeProblem& problem = (*problems)[0];
    const auto grade = [&](const std::string& program) {
      return GradeProgram(*sandbox, problem, program).value();
    };
    const ProgramVerdict published = grade(SolutionProgram(problem));
    EXPECT_EQ(published.kind, VerdictKind::kPassed) << published.message;
    for (const std::string& response : one.right) {
      const ProgramVerdict verdict = grade(ProgramOf(problem, response));
      EXPECT_EQ(verdict.kind, VerdictKind::kPassed) << response << "\n"
                                                    << verdict.message;
    }
    for (const std::string& response : one.wrong) {
      EXPECT_NE(grade(ProgramOf(problem, response)).kind, VerdictKind::kPassed)
          << response;
    }
  }
}

// The names required of the program are found in the tests, and do not include
// Python's keywords and builtins.
TEST(PublishedCode, MbppWithoutItsProgramTakesNoWordsOfPython) {
  ESPALIER_NEED_SANDBOX(sandbox);
  const auto problems = ReadCodeProblems(
      WriteTestFile(
          "code.jsonl",
          R"j({"task_id": 915, "text": "Write a function to take each once.", "test_setup_code": "def half(x):\n    return x / 2", "test_list": ["assert set(once([1, 1])) == {1}", "assert sorted(once([3, 2, 2])) == [2, 3]", "import math\nassert math.isclose(half(once([2])[0]), 1.0)"]})j"),
      {});
  ASSERT_TRUE(problems.ok()) << problems.status();
  EXPECT_EQ((*problems)[0].names, std::vector<std::string>{"once"});
  const auto grade = [&](const char* program) {
    return GradeProgram(*sandbox, (*problems)[0], program).value();
  };
  const ProgramVerdict right = grade("def once(xs):\n    return list(set(xs))");
  EXPECT_EQ(right.kind, VerdictKind::kPassed) << right.message;
  EXPECT_EQ(grade("def once(xs):\n    return xs\n"
                  "set = lambda x: {1}\nsorted = lambda x: [2, 3]\n"
                  "half = lambda x: 1.0\n")
                .kind,
            VerdictKind::kFailed);
}

// The way `eval` judges: through the reference of a loaded problem.
TEST(PublishedCode, ReferencesHoldWhatVerdictsNeed) {
  ESPALIER_NEED_SANDBOX(sandbox);
  for (const Case& one : Cases()) {
    SCOPED_TRACE(one.what);
    const std::string path = WriteTestFile("code.jsonl", one.record);
    const auto set = LoadSet(path, {.kind = one.kind, .strict = true});
    ASSERT_TRUE(set.ok()) << set.status();
    EXPECT_EQ(set->task, "python");
    const GradedProblem& graded = set->problems[0];
    EXPECT_TRUE(PythonVerifier().CanCheck(graded.reference));
    const auto check = [&](const std::string& response) {
      return PythonVerifier().Check(graded.problem, graded.reference, response);
    };
    EXPECT_TRUE(check(one.right[0]).correct) << check(one.right[0]).reason;
    EXPECT_FALSE(check(one.wrong[0]).correct);
  }
}

TEST(PublishedCode, QuestionsOfCruxEvalShowNoTest) {
  for (const char* kind : {"cruxeval-o", "cruxeval-i"}) {
    const auto set = LoadSet(
        WriteTestFile(
            "crux.jsonl",
            R"j({"code": "def f(x):\n    return x + 1", "input": "4", "output": "5", "id": "sample_0"})j"),
        {.kind = kind});
    ASSERT_TRUE(set.ok()) << set.status();
    const std::string& question = set->problems[0].problem.question;
    EXPECT_FALSE(HasTests(PublicTests(question))) << question;
    const bool output = std::string(kind) == "cruxeval-o";
    EXPECT_EQ(absl::StrContains(question, "f(4)"), output) << question;
    EXPECT_EQ(absl::StrContains(question, "return 5"), !output) << question;
  }
}

TEST(PublishedCode, WhatCannotBeRunIsRefusedByName) {
  const std::string big =
      R"j({"task_id": "BigCodeBench/1", "complete_prompt": "def task_func():\n", "code_prompt": "def task_func():\n", "canonical_solution": "    pass\n", "entry_point": "task_func", "libs": "['LIB']", "test": "TEST\nclass TestCases(unittest.TestCase):\n    pass\n"})j";
  const auto with = [&](const char* lib, const char* test,
                        const char* body = "pass") {
    std::string text = big;
    text.replace(text.find("    pass") + 4, 4, body);
    text.replace(text.find("LIB"), 3, lib);
    text.replace(text.find("TEST"), 4, test);
    return text;
  };
  const std::pair<std::string, const char*> refused[] = {
      {with("pandas', 'numpy", "import unittest"), "needs pandas, and"},
      {with("re", "import unittest\\nfrom faker import Faker"),
       "needs faker, and"},
      {with("re", "import unittest\\nfrom unittest.mock import patch"),
       "the tests patch names of the program"},
      {with("re", "import unittest, sys\\nsys.stdout = None"),
       "the tests catch what the program prints"},
      {with("re', 'subprocess", "import unittest"), "needs subprocess, and"},
      {with("re", "import unittest, socket"), "needs socket, and"},
      {with("re", "import unittest", "return os.system('ls')"),
       "no network and start no processes"},
      {with("random", "import unittest, random\\nrandom.seed(1)",
            "return random.random()"),
       "the tests seed the program's random numbers"},
      {with("re", "import unittest, sys\\nassert 'a' in sys.path"),
       "the tests look at sys.path"},
      {R"j({"task_id": "CPP/0", "prompt": "int f(){", "declaration": "int f(){", "canonical_solution": "}", "test": "int main(){}", "example_test": ""})j",
       "expected a Python problem, found \"CPP/0\""},
      {R"j({"task_id": "JavaScript/0", "prompt": "const f = () => {", "declaration": "\nconst f", "test": "t", "entry_point": "f"})j",
       "expected a Python problem, found \"JavaScript/0\""},
      {R"j({"task_id": "Mbpp/1", "prompt": "p", "entry_point": "f", "canonical_solution": "def f(x): return x", "base_input": [[123456789012345678901]], "plus_input": []})j",
       "whole numbers of at most 64 bits"},
      {R"j({"task_id": "Mbpp/1", "prompt": "p", "entry_point": "f", "canonical_solution": "def f(x): return x", "base_input": [], "plus_input": []})j",
       "column \"base_input\": expected a list of inputs"},
      {R"j({"task_id": "Mbpp/1", "prompt": "p", "entry_point": "f", "base_input": [[1]]})j",
       "column \"canonical_solution\": expected a text"},
      {R"j({"task_id": "HumanEval/0", "prompt": "def f(x):\n", "entry_point": "f", "canonical_solution": " \n", "test": "", "base_input": [[1]]})j",
       "column \"canonical_solution\": expected the published program"},
      {R"j({"task_id": "HumanEval/0", "prompt": "def add(a, b):\n", "entry_point": "sub", "canonical_solution": "    return a + b\n", "test": "def check(f):\n    assert f(1, 2) == 3\n"})j",
       "column \"entry_point\": expected a function that the prompt or the "
       "published solution defines, found \"sub\""},
      {R"j({"code": "int f() { return 1; }", "input": "", "output": "1", "id": 1})j",
       "column \"code\": expected a function f of Python"},
  };
  for (const auto& [record, says] : refused) {
    SCOPED_TRACE(record);
    const auto set =
        LoadSet(WriteTestFile("refused.jsonl", record), {.strict = true});
    ASSERT_FALSE(set.ok());
    EXPECT_TRUE(absl::StrContains(set.status().message(), "refused.jsonl:1: "))
        << set.status();
    EXPECT_TRUE(absl::StrContains(set.status().message(), says))
        << set.status();
  }
}

}  // namespace
}  // namespace espalier
