"""Runs solve, eval and generate on problems whose answers are programs.

The shipped models write stories, so no program is right. The tests check that
searches may run the tests that a question shows, that hidden tests give the
verdicts, and how mistakes are reported. ESPALIER_PROGRAM names the program
(ctest sets it)."""

import json
import os
import sqlite3
import unittest

from espalier_grade_samples_program_test import (namespaces,
                                                without_bubblewrap)
from espalier_program_test import STORIES, ProgramTest, run

ASKS = ("--search", "best_first:score=logprob:verify=true",
        "--budget-tokens", "60", "--model", STORIES)
ECHO = {"id": "own/1", "question": "Echo.",
        "public_tests": [{"input": "1\n", "output": "1\n"}],
        "tests": [{"input": "2\n", "output": "2\n"}]}


class ProgramsTest(ProgramTest):

    def write(self, name, *records):
        path = self.path(name)
        with open(path, "w", encoding="utf-8") as handle:
            for record in records:
                handle.write(json.dumps(record) + "\n")
        return path

    def refused(self, result, *words, code=1):
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_a_question_shows_public_cases_alone(self):
        path = self.write("echo.jsonl", ECHO)
        result = run("solve", "--set", path, "--show-prompt", "--model",
                     STORIES)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(
            result.stdout, "Echo.\n\nWrite a Python program that reads "
            "standard input and writes to standard output.\n\nExample input:\n"
            "```\n1\n```\nExample output:\n```\n1\n```\n")

    @unittest.skipUnless(namespaces(), "no namespaces here")
    def test_searches_may_ask_public_tests(self):
        path = self.write("echo.jsonl", ECHO)
        result = run("solve", "--set", path, *ASKS)
        self.assertEqual(result.returncode, 0, result.stderr)
        scored = ("--search", "best_of_n", *ASKS[2:], "--verifier-reward")
        result = run("solve", "--set", path, *scored)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("path 0.00", result.stdout)
        out = self.path("out.json")
        result = run("eval", "--set", path, "--methods", ASKS[1], *ASKS[2:],
                     "--json", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(out, encoding="utf-8") as handle:
            self.assertEqual(json.load(handle)["results"][0]["correct"], [0])

    @unittest.skipUnless(namespaces(), "no namespaces here")
    def test_tests_that_cannot_run_give_no_verdicts(self):
        good = {"task_id": 1, "text": "Add.", "test_list":
                ["assert add(1, 2) == 3"],
                "code": "def add(a, b):\n  return a + b\n"}
        other = dict(good, task_id=2, test_list=["expect(add(1, 2)).toBe(3);"])
        lacks = dict(good, task_id=3,
                     test_list=["import no_such_module\nassert add(1, 2) == 3"])
        empty = dict(good, task_id=4, test_list=["# none"])
        path = self.write("mixed.jsonl", other, good, lacks, empty)
        only = self.write("broken.jsonl", lacks, other)
        for command in (("eval", "--methods", "greedy", *ASKS[2:]),
                        ("generate", "--out", self.path("run.db"), *ASKS)):
            result = run(*command, "--set", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("the tests of 3 of 4 records", result.stderr)
            self.assertIn("the first is 2: NameError: neither they nor the "
                          "program define expect", result.stderr)
            self.assertIn("1 problem" if command[0] == "eval" else "1 of 1",
                          result.stdout)
            result = run(*command, "--set", only, "--force")
            self.assertEqual(result.returncode, 1, result.stdout)
            self.assertIn("module no_such_module, which is not installed",
                          result.stderr)
            self.assertEqual(result.stdout, "")
            with open(path, encoding="utf-8") as rows:
                result = run(*command, "--set", "/dev/stdin", "--force",
                             stdin=rows)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("the tests of 3 of 4 records", result.stderr)

    @unittest.skipUnless(namespaces(), "no namespaces here")
    def test_recorded_searches_have_verdicts(self):
        path = self.write("echo.jsonl", ECHO)
        out = self.path("run.db")
        result = run("generate", "--set", path, "--out", out, *ASKS)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("0 of 1 solved", result.stdout)
        with sqlite3.connect(f"file:{out}?mode=ro", uri=True) as db:
            self.assertEqual(db.execute("SELECT correct FROM searches")
                             .fetchall(), [(0,)])
        self.assertEqual(run("replay", out).returncode, 0)
        scored = ("generate", "--set", path, "--out", out, "--search",
                  "best_of_n", *ASKS[2:])
        result = run(*scored, "--verifier-reward", "--append")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(run(*scored, "--verifier-reward", "--resume")
                         .returncode, 0)
        self.refused(run(*scored, "--resume"), "verifier_reward")
        self.assertEqual(run("replay", out).returncode, 0)

    def test_without_a_sandbox_nothing_is_judged(self):
        path = self.write("echo.jsonl", ECHO)
        environment = without_bubblewrap(self.folder)
        says = ("bwrap", "apt-get install bubblewrap")
        self.refused(run("solve", "--set", path, *ASKS, env=environment), *says)
        # An error, not 0 % right; the line before it shows the progress.
        result = run("eval", "--set", path, "--methods", "greedy", *ASKS[2:],
                     env=environment)
        result.stderr = result.stderr.splitlines()[-1]
        self.refused(result, *says)
        out = self.path("run.db")
        self.refused(run("generate", "--set", path, "--out", out, *ASKS,
                         env=environment), *says)
        self.assertFalse(os.path.exists(out))

    def test_mistakes_are_one_error(self):
        path = self.write("echo.jsonl", ECHO)
        self.refused(run("solve", "--set", self.path("missing.jsonl"), *ASKS),
                     "missing.jsonl: no such file or folder")
        self.refused(run("solve", "--set", path, "--kind", "humaneval", *ASKS),
                     "echo.jsonl:1", 'no column "prompt"', "humaneval")
        self.refused(run("solve", "--set", path, "--ids", "own/7", *ASKS),
                     "own/7", code=2)
        self.refused(run("solve", "--set", "stories:easy", "--search",
                         "best_of_n", *ASKS[2:], "--verifier-reward"),
                     "task stories has none", "--verifier-reward")
        empty = self.write("empty.jsonl", dict(ECHO, tests=[]))
        self.refused(run("solve", "--set", empty, *ASKS), "empty.jsonl:1",
                     'column "tests": expected at least one case')


if __name__ == "__main__":
    unittest.main()
