"""Runs `espalier problems` and `espalier eval` on sets as their users do.

The program is named by ESPALIER_PROGRAM (ctest sets it)."""

import gzip
import json
import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PROGRAM = os.environ.get("ESPALIER_PROGRAM",
                         os.path.join(ROOT, "build", "espalier"))
STORIES = os.path.join(ROOT, "models", "zoo", "stories")


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True,
                          text=True, timeout=300, check=False)


class SetsTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        data = text.encode()
        if name.endswith(".gz"):
            data = gzip.compress(data)
        with open(path, "wb") as handle:
            handle.write(data)
        return path

    def numbered(self, count, name="n.jsonl"):
        return self.write(name, "".join(
            json.dumps({"id": f"p{i}", "question": f"{i} and 1?",
                        "answer": i + 1}) + "\n" for i in range(count)))

    def rows(self, *arguments):
        if "--limit" not in arguments:
            arguments += ("--limit", "0")
        result = run("problems", "--json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def ids(self, *arguments):
        return [row["id"] for row in self.rows(*arguments)]

    def refused(self, result, *words):
        self.assertGreater(result.returncode, 0, result.stdout)
        self.assertEqual(result.stdout, "")
        for word in words:
            self.assertIn(word, result.stderr)

    def test_problems_are_chosen(self):
        path = self.numbered(10, "n.jsonl.gz")
        every = [f"p{i}" for i in range(10)]
        self.assertEqual(self.ids("--set", path), every)
        self.assertEqual(self.ids("--set", path, "--first", "2", "--limit",
                                  "3"), ["p2", "p3", "p4"])
        self.assertEqual(self.ids("--set", path, "--shard", "1/4"),
                         ["p1", "p5", "p9"])
        shuffled = self.ids("--set", path, "--shuffle", "7")
        self.assertNotEqual(shuffled, every)
        self.assertEqual(sorted(shuffled), every)
        self.assertEqual(self.ids("--set", path, "--shuffle", "7", "--limit",
                                  "4"), shuffled[:4])
        self.assertEqual(self.ids("--set", path, "--ids", "p7,p2"),
                         ["p2", "p7"])
        named = self.write("ids.txt", "p3\r\n\np8\n")
        self.assertEqual(self.ids("--set", path, "--ids", named),
                         ["p3", "p8"])
        self.assertEqual(
            self.ids("--set", "sudoku:4-easy", "--ids",
                     "sudoku:4-easy/2000/3"), ["sudoku:4-easy/2000/3"])

    def test_columns_are_named(self):
        path = self.write("odd.csv", "problem,gold\n\"1, 2?\",3\n")
        self.refused(run("problems", "--set", path), "odd.csv:2", "gold",
                     "--columns")
        row, = self.rows("--set", path, "--columns",
                         "question=problem,answer=gold")
        self.assertEqual((row["question"], row["answer"]), ("1, 2?", "3"))
        self.refused(run("problems", "--set", path, "--columns", "question"),
                     "ROLE=COLUMN")
        self.refused(run("problems", "--set", path, "--kind", "maht"),
                     "math")

    def test_bad_records_are_told_at_the_end_and_strict_stops(self):
        path = self.numbered(3)
        with open(path, "a", encoding="utf-8") as handle:
            handle.write('{"question": \n{"id": "p0", "question": "Q"}\n')
        result = run("problems", "--json", "--limit", "0", "--set", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(result.stdout.splitlines()), 3)
        self.assertIn("n.jsonl:4", result.stderr)
        self.assertIn("n.jsonl:5", result.stderr)
        self.assertIn("3 read as plain, 2 skipped", result.stderr)
        self.refused(run("problems", "--limit", "0", "--set", path,
                         "--strict"), "n.jsonl:4", "not JSON")
        self.refused(run("eval", "--set", path, "--strict", "--model",
                         STORIES), "n.jsonl:4")

    def test_eval_says_what_it_chose(self):
        path = self.numbered(6)
        out = os.path.join(self.folder, "out.json")
        result = run("eval", "--set", path, "--shuffle", "3", "--limit", "2",
                     "--model", STORIES, "--methods", "greedy",
                     "--budget-tokens", "20", "--json", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 problems", result.stdout)
        with open(out, encoding="utf-8") as handle:
            self.assertEqual(json.load(handle)["shuffle"], 3)

    def test_generated_sets_are_listed_and_print(self):
        for name in ("game24:hard", "sudoku:9-middle", "proof:middle",
                     "python:easy"):
            result = run("problems", "--set", name, "--limit", "1",
                         "--answers")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"{name}/2000/0", result.stdout)
            self.assertIn(name.split(":")[0] + ":",
                          run("problems", "--help").stdout)
        self.refused(run("problems", "--set", "sudoku:9-esay"),
                     "sudoku:9-easy")


if __name__ == "__main__":
    unittest.main()
