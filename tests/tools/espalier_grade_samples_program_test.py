"""Runs `espalier grade --set ... --samples ...` end to end.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PROGRAM = os.environ.get("ESPALIER_PROGRAM",
                         os.path.join(ROOT, "build", "espalier"))
DATA = os.environ.get("ESPALIER_DATA")

PROBLEMS = [
    {"task_id": "Own/%d" % n, "entry_point": "times",
     "prompt": "def times(x):\n    \"\"\"%d times x.\"\"\"\n" % n,
     "canonical_solution": "    return %d * x\n" % n,
     "test": "def check(f):\n    assert f(1) == %d\n    assert f(5) == %d\n"
             % (n, 5 * n)}
    for n in range(3)]


def grade(*arguments):
    return subprocess.run([PROGRAM, "grade", *arguments], capture_output=True,
                          text=True, timeout=600, check=False)


def workers(memory):
    """The number of processes with this limit in their command line."""
    count = 0
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % name, "rb") as handle:
                words = handle.read().split(b"\0")
        except OSError:
            continue
        count += str(memory << 20).encode() in words
    return count


def namespaces():
    return subprocess.run(
        ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"],
        capture_output=True, check=False).returncode == 0


def without_bubblewrap(folder):
    """An environment with everything a sandbox needs except bubblewrap."""
    setpriv = shutil.which("setpriv")
    if setpriv:
        os.symlink(setpriv, os.path.join(folder, "setpriv"))
    return dict(os.environ, PATH=folder)


class GradeSamplesTest(unittest.TestCase):

    def setUp(self):
        # Without namespaces the weak mode is enough for these tests.
        self.sandbox = "full" if namespaces() else "weak"
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.data = self.write("problems.jsonl", PROBLEMS)

    def write(self, name, records):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as handle:
            for record in records:
                handle.write(record if isinstance(record, str)
                             else json.dumps(record))
                handle.write("\n")
        return path

    def grade(self, samples, *arguments):
        return grade("--set", "humaneval", "--data", self.data, "--samples",
                     samples, "--sandbox", self.sandbox, *arguments)

    def refused(self, result, *words, code=1):
        """The error is one line with all of `words`."""
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def samples(self, *completions):
        return self.write("samples.jsonl", [
            {"task_id": task, "completion": completion}
            for task, completion in completions])

    def test_verdicts_in_input_order_and_pass_at_k(self):
        # 1 of 2, 2 of 2 and 0 of 2 right: pass@1 is 1/2, pass@2 is 2/3.
        samples = self.samples(
            ("Own/0", "    return 0\n"), ("Own/1", "    return x\n"),
            ("Own/2", "    return x\n"), ("Own/2", "    return\n"),
            ("Own/1", "    return 1 * x\n"), ("Own/0", "    return 1\n"))
        result = self.grade(samples, "--k", "1,2,3", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([line["task_id"] for line in lines[:-1]],
                         ["Own/0", "Own/1", "Own/2", "Own/2", "Own/1",
                          "Own/0"])
        self.assertEqual([line["passed"] for line in lines[:-1]],
                         [True, True, False, False, True, False])
        self.assertEqual(lines[2]["verdict"], "failed")
        self.assertEqual(lines[2]["test"], 1)
        self.assertIn("assert f(1) == 2", lines[2]["message"])
        summary = lines[-1]
        self.assertEqual(summary["pass@1"], 0.5)
        self.assertAlmostEqual(summary["pass@2"], 2 / 3)
        self.assertNotIn("pass@3", summary)
        self.assertEqual(summary["verdicts"], {"failed": 3, "passed": 3})

    def test_table_and_file(self):
        samples = self.samples(("Own/1", "    return x\n"))
        out = os.path.join(self.folder, "verdicts.jsonl")
        result = self.grade(samples, "--out", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 samples of 1 of 3 problems", result.stdout)
        self.assertRegex(result.stdout, r"pass@1 +100.00 %")
        with open(out, encoding="utf-8") as handle:
            self.assertTrue(json.loads(handle.read())["passed"])

    def test_solutions_are_whole_programs(self):
        # The format of EvalPlus samples; a completion follows the prompt.
        samples = self.write("samples.jsonl", [
            {"task_id": "Own/2", "solution": "def times(x):\n    return 2 * x"},
            {"task_id": "Own/2", "solution": "    return 2 * x\n"},
            {"task_id": "Own/2", "completion": "    return 2 * x\n"},
            {"task_id": "Own/2", "solution": 3},
            {"task_id": "Own/2", "answer": "    return 2 * x\n"}])
        result = self.grade(samples, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([line["passed"] for line in lines[:-1]],
                         [True, False, True])
        self.assertIn("samples.jsonl:4: expected", result.stderr)
        self.assertIn('found no text "solution"', result.stderr)
        self.assertIn('found no text "completion"', result.stderr)

    def test_sets_of_inputs_and_of_values(self):
        plus = self.write("plus.jsonl", [
            {"task_id": "Mbpp/900", "prompt": '"""\nTwice.\n"""\n',
             "entry_point": "twice", "base_input": [[1]],
             "plus_input": [[2.5]], "atol": 0,
             "canonical_solution": "def twice(x):\n    return 2 * x\n"}])
        samples = self.write("samples.jsonl", [
            {"task_id": "Mbpp/900",
             "solution": "def twice(x):\n    return x + x"},
            {"task_id": "Mbpp/900",
             "solution": "def twice(x):\n    return 2"}])
        crux = self.write("crux.jsonl", [
            {"code": "def f(x):\n    return x + 1", "input": "4",
             "output": "5", "id": "sample_0"}])
        values = self.write("values.jsonl", [
            {"task_id": "sample_0", "completion": "5"},
            {"task_id": "sample_0", "completion": "6"}])
        calls = self.write("calls.jsonl", [
            {"task_id": "sample_0", "completion": "f(4)"},
            {"task_id": "sample_0", "completion": "f(5)"}])
        for name, data, given in (("mbpp+", plus, samples),
                                  ("cruxeval-o", crux, values),
                                  ("cruxeval-i", crux, calls)):
            result = grade("--set", name, "--data", data, "--samples", given,
                           "--sandbox", self.sandbox)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual([json.loads(line)["passed"]
                              for line in result.stdout.splitlines()],
                             [True, False], name)
        self.refused(grade("--set", "mbpp+", "--data", crux, "--samples",
                           values), "expected problems of mbpp+",
                     "cruxeval-o", "check --set and --data")

    def test_whole_responses(self):
        response = ("Of course:\n```python\ndef times(x):\n    return x\n```\n"
                    "It gives x.")
        samples = self.samples(("Own/1", response))
        result = self.grade(samples)
        self.assertFalse(json.loads(result.stdout)["passed"])
        result = self.grade(samples, "--responses")
        self.assertTrue(json.loads(result.stdout)["passed"], result.stdout)

    def test_gzip_and_numbers_for_ids(self):
        path = os.path.join(self.folder, "mbpp.jsonl.gz")
        with gzip.open(path, "wt") as handle:
            handle.write(json.dumps(
                {"task_id": 7, "text": "Add.", "code":
                 "def add(a, b): return a + b", "test_list":
                 ["assert add(1, 2) == 3"]}))
        samples = self.write("samples.jsonl", [
            {"task_id": 7, "completion": "def add(a, b): return a + b"},
            {"task_id": "Mbpp/7", "completion": "def add(a, b): return 3"},
            {"task_id": "7", "completion": "def sub(a, b): return 3"}])
        result = grade("--set", "mbpp", "--data", path, "--samples", samples,
                       "--sandbox", self.sandbox)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([json.loads(line)["passed"]
                          for line in result.stdout.splitlines()],
                         [True, True, False])

    def test_bad_lines_are_skipped_and_named(self):
        samples = self.write("samples.jsonl", [
            "{", {"task_id": "Own/1"}, {"task_id": "Own/9", "completion": ""},
            {"task_id": "Own/1", "completion": "    return x"}])
        result = self.grade(samples)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(result.stdout.splitlines()), 1)
        self.assertIn("samples.jsonl:1: the record is not JSON at column 2", result.stderr)
        self.assertIn("samples.jsonl:2:", result.stderr)
        self.assertIn('samples.jsonl:3: task_id "Own/9"', result.stderr)
        result = self.grade(samples, "--strict")
        self.assertEqual(result.returncode, 1)
        self.assertIn("samples.jsonl:1:", result.stderr)
        self.assertEqual(result.stdout, "")

    def test_generations_are_completions_and_what_is_skipped_is_told(self):
        samples = self.write("samples.jsonl", [
            {"task_id": "Own/1", "generation": "    return x\n"},
            {"task_id": "Own/2", "text": "    return x\n"}])
        result = self.grade(samples, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        summary = json.loads(result.stdout.splitlines()[-1])
        self.assertEqual(summary["pass@1"], 1)
        self.assertEqual(summary["samples_skipped"], 1)
        self.assertIn("skipped: " + samples + ":2: ", result.stderr)

    def test_the_tests_that_are_run_name_the_set(self):
        self.data = self.write("plus.jsonl", [
            dict(problem, base_input=[[1]], plus_input=[[5]])
            for problem in PROBLEMS])
        result = self.grade(self.samples(("Own/1", "    return x\n")), "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        summary = json.loads(result.stdout.splitlines()[-1])
        self.assertEqual(summary["set"], "humaneval+")
        self.assertIn("plus.jsonl holds humaneval+", result.stderr)

    def test_tests_that_cannot_judge_are_refused(self):
        one = PROBLEMS[1]
        bad = {"empty": dict(one, test=""),
               "syntax": dict(one, test="def check(f):\n    assert f(1 == 1\n"),
               "no check": dict(one, test="assert 1\n"),
               "nothing": dict(one, test="def check(f): pass\n"),
               "published": dict(one, canonical_solution="    return 7\n")}
        says = {"empty": "check", "syntax": "SyntaxError", "no check": "check",
                "nothing": "they check nothing",
                "published": "the published solution does not pass them"}
        for name, problem in bad.items():
            self.data = self.write("bad.jsonl", [dict(problem, task_id="Own/9")])
            result = self.grade(self.samples(("Own/9", "    return x\n")))
            self.refused(result, "Own/9", says[name], "cannot judge")
        # Beside others they are left out of the figures.
        self.data = self.write("some.jsonl", [
            dict(problem, task_id="Bad/%d" % n)
            for n, problem in enumerate(bad.values())] + PROBLEMS)
        samples = self.samples(("Own/1", "    return x\n"),
                               *[("Bad/%d" % n, "    return x\n")
                                 for n in range(len(bad))])
        result = self.grade(samples, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(len(lines), 2)
        self.assertEqual((lines[1]["pass@1"], lines[1]["problems_refused"],
                          lines[1]["samples_refused"]), (1, 5, 5))
        self.assertIn("Bad/3: they check nothing", result.stderr)
        result = self.grade(samples, "--strict")
        self.assertEqual(result.returncode, 1)
        self.assertIn("Bad/0", result.stderr)
        for data, name in (
                ({"code": "def f(x):\n    return x", "input": "4",
                  "output": "f(4)", "id": "sample_0"}, "cruxeval-o"),
                ({"task_id": "HumanEval/0", "prompt": "def add(a, b):\n",
                  "entry_point": "add", "canonical_solution":
                  "    return 1 / 0\n", "base_input": [[1, 2]]},
                 "humaneval+")):
            task = data.get("id", data.get("task_id"))
            result = grade("--set", name, "--data", self.write("one.jsonl",
                                                               [data]),
                           "--samples", self.samples((task, "4")), "--sandbox",
                           self.sandbox)
            self.refused(result, task, "cannot judge")

    def test_wrong_use(self):
        samples = self.samples(("Own/1", ""))
        self.refused(grade("--set", "humaneval", "--samples", samples),
                     "--data", code=2)
        result = grade("--set", "mbpp", "--samples", samples, "--data",
                       self.data)
        self.refused(result, "problems.jsonl:1", 'no column "test_list"',
                     "kind mbpp", "--data")
        self.refused(self.grade(""), "--samples \"\": is empty", code=2)
        self.refused(grade("--set", self.data, "--samples", samples),
                     "unknown set of code problems", "humaneval", "--data",
                     code=2)
        self.refused(self.grade(self.samples(("Other/7", ""))),
                     'samples.jsonl:1: task_id "Other/7"',
                     'problems.jsonl, which has ids like "Own/0"')
        result = self.grade(self.write("none.jsonl", []))
        self.assertIn("found none", result.stderr)
        result = self.grade(os.path.join(self.folder, "missing"))
        self.assertIn("missing", result.stderr)
        self.assertEqual(result.returncode, 1)

    def test_no_bubblewrap(self):
        samples = self.samples(("Own/1", "    return x\n"))
        environment = without_bubblewrap(self.folder)
        result = subprocess.run(
            [PROGRAM, "grade", "--set", "humaneval", "--data", self.data,
             "--samples", samples], capture_output=True, text=True,
            timeout=60, check=False, env=environment)
        self.refused(result, "bwrap", "apt-get install bubblewrap",
                     "--sandbox weak")

    def test_input_and_output_as_published(self):
        # Per cent of 3 cases, the middle one with odd spaces.
        apps = self.write("apps.jsonl", [
            {"id": 4, "question": "Sums.", "solutions": "[]", "input_output":
             json.dumps({"inputs": ["1 2\n", "3 4\n5 6\n", ["7", "8 9"]],
                         "outputs": ["3\n", "7 \n11\n\n", ["7", "17"]]})},
            {"id": 5, "question": "Echo.", "solutions": "[]", "input_output":
             {"inputs": ["a"], "outputs": ["a"]}}])
        right = ("import sys\nfor line in sys.stdin:\n"
                 "    print(sum(map(int, line.split())))\n")
        samples = self.write("samples.jsonl", [
            {"task_id": 4, "completion": right},
            {"task_id": 4, "completion": "print(sum(map(int, "
                                         "input().split())))"},
            {"task_id": "5", "completion": "print(input())"}])
        result = grade("--set", "input", "--data", apps, "--samples", samples,
                       "--sandbox", self.sandbox, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        *lines, summary = map(json.loads, result.stdout.splitlines())
        self.assertEqual([line["passed"] for line in lines],
                         [True, False, True])
        self.assertEqual((lines[1]["task_id"], lines[1]["test"]), ("4", 2))
        self.assertIn('output line 2: expected "11", found the end',
                      lines[1]["message"])
        self.assertEqual(summary["pass@1"], 0.75)

        contests = self.write("contests.jsonl", [
            {"name": "A. Echo", "description": "Echo.", "solutions": {},
             "public_tests": {"input": ["a"], "output": ["a"]},
             "private_tests": {"input": ["b"], "output": ["b"]}}])
        samples = self.write("samples.jsonl", [
            {"task_id": "A. Echo", "completion": "print('a')"},
            {"task_id": "A. Echo", "completion": "print(input())"}])
        named = ("--set", "input", "--data", contests, "--samples", samples,
                 "--sandbox", self.sandbox)
        result = grade(*named, "--columns",
                       "id=name,question=description,tests=private_tests")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([(line["passed"], line["test"]) for line in
                          map(json.loads, result.stdout.splitlines())],
                         [(False, 2), (True, 2)])
        self.refused(grade(*named), "contests.jsonl:1", '"question"',
                     '"description"')

    def test_bad_problems_are_skipped_and_named(self):
        data = self.write("data.jsonl", [
            {"id": 1, "question": "Echo.", "input_output":
             {"inputs": ["a"], "outputs": ["a"]}},
            {"id": 2, "question": "Call.", "input_output":
             {"fn_name": "f", "inputs": [[1]], "outputs": [1]}},
            {"id": 3, "question": "Nothing.", "input_output": ""}])
        samples = self.write("samples.jsonl", [
            {"task_id": "1", "completion": "print(input())"},
            {"task_id": "2", "completion": "def f(x): return x"}])
        arguments = ("--set", "input", "--data", data, "--samples", samples,
                     "--sandbox", self.sandbox, "--json")
        result = grade(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        summary = json.loads(result.stdout.splitlines()[-1])
        self.assertEqual((summary["problems_of_the_set"],
                          summary["problems_skipped"], summary["graded"]),
                         (1, 2, 1))
        for words in ("data.jsonl:2: column \"input_output\": expected cases "
                      "of standard input, found \"fn_name\"",
                      "data.jsonl:3: column \"input_output\"",
                      'samples.jsonl:2: task_id "2"'):
            self.assertIn(words, result.stderr)
        self.refused(grade(*arguments, "--strict"), "data.jsonl:2", "fn_name")

    def test_bad_cases_are_one_error(self):
        samples = self.write("samples.jsonl",
                             [{"task_id": "1", "completion": ""}])
        for tests, says in (([], "at least one case"), ({}, "lists"),
                            (7, "JSON"), ([{"input": "1"}], "case 1"),
                            ("[{", "JSON in a text")):
            data = self.write("data.jsonl", [
                {"id": 1, "question": "Q", "tests": tests}])
            self.refused(grade("--set", "input", "--data", data, "--samples",
                               samples, "--sandbox", self.sandbox),
                         "data.jsonl:1: column \"tests\": expected", says)

    def test_interrupt_keeps_what_was_done(self):
        samples = self.samples(("Own/1", "    return x\n"),
                               ("Own/1", "    while True: pass\n"),
                               ("Own/2", "    return 2 * x\n"))
        out = os.path.join(self.folder, "verdicts.jsonl")
        with subprocess.Popen(
                [PROGRAM, "grade", "--set", "humaneval", "--data", self.data,
                 "--samples", samples, "--sandbox", self.sandbox, "--timeout",
                 "600", "--threads", "2", "--out", out],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True) as process:
            for _ in range(1200):
                if os.path.exists(out) and os.path.getsize(out):
                    break
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("passed", stdout)
        with open(out, encoding="utf-8") as handle:
            lines = [json.loads(line) for line in handle]
        self.assertGreaterEqual(len(lines), 1)
        self.assertTrue(all(line["passed"] for line in lines))

    def test_killed_program_leaves_no_process(self):
        samples = self.samples(("Own/1", "    while True: pass\n"))
        memory = 1000 + os.getpid() % 1000  # identifies the workers
        with subprocess.Popen(
                [PROGRAM, "grade", "--set", "humaneval", "--data", self.data,
                 "--samples", samples, "--sandbox", self.sandbox, "--timeout",
                 "600", "--memory", str(memory)],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            for _ in range(1200):
                # Two idle workers and a busy one, two processes each.
                if workers(memory) >= 4:
                    break
                time.sleep(0.1)
            self.assertGreaterEqual(workers(memory), 4)
            process.kill()
        for _ in range(300):
            if workers(memory) == 0:
                break
            time.sleep(0.1)
        self.assertEqual(workers(memory), 0)

    @unittest.skipUnless(DATA, "ESPALIER_DATA is not set")
    def test_published_solutions(self):
        path = os.path.join(DATA, "code", "HumanEval.jsonl.gz")
        with gzip.open(path, "rt") as handle:
            records = [json.loads(line) for line in handle][::20]
        samples = self.samples(*[(record["task_id"],
                                  record["canonical_solution"])
                                 for record in records])
        result = grade("--set", "humaneval", "--data", path, "--samples",
                       samples, "--sandbox", self.sandbox, "--timeout", "60",
                       "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        summary = json.loads(result.stdout.splitlines()[-1])
        self.assertEqual(summary["pass@1"], 1)
        self.assertEqual(summary["problems"], 9)


if __name__ == "__main__":
    unittest.main()
