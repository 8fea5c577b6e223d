"""Runs `espalier problems` and `espalier eval` on sets end to end.

ESPALIER_PROGRAM names the program (ctest sets it)."""

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

    def test_labelled_steps_name_their_command(self):
        path = self.write("gsm8k.jsonl", json.dumps(
            {"id": "gsm8k-0", "problem": "P", "steps": ["a", "b"],
             "final_answer_correct": False, "label": 1}) + "\n")
        self.refused(run("eval", "--set", path, "--methods", "greedy"),
                     "gsm8k.jsonl:1", f"espalier steps --set {path}")
        # The command that is named does read it.
        named = run("steps", "--set", path)
        self.assertEqual(named.returncode, 0, named.stderr)

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

    def test_a_dash_names_no_set_and_is_no_question(self):
        for command in ("problems", "eval"):
            self.refused(run(command, "--set", "-"), "/dev/stdin")
        refused = run("solve", "-")
        self.refused(refused, "--file -")
        self.assertEqual(refused.returncode, 2)

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

    def without_gold(self):
        return self.write("choices.jsonl", "".join(
            json.dumps({"question": f"{i}?", "choices": ["a", "b"]}) + "\n"
            for i in range(3)))

    def test_a_set_without_gold_is_read_and_never_judged(self):
        path = self.without_gold()
        self.assertEqual(len(self.rows("--set", path)), 3)
        says = ("no record has a gold answer", '"answer",', '"correct",',
                "--columns")
        self.refused(run("eval", "--set", path, "--model", STORIES), *says)
        database = os.path.join(self.folder, "run.db")
        self.refused(run("generate", "--set", path, "--model", STORIES,
                         "--out", database), *says, "--ungraded")
        self.assertFalse(os.path.exists(database))
        result = run("generate", "--set", path, "--model", STORIES, "--out",
                     database, "--search", "greedy", "--budget-tokens", "20",
                     "--ungraded")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("3 of 3 searches recorded", result.stdout)
        self.assertNotIn("%", result.stdout)
        pairs = self.write("pairs.jsonl", "".join(
            json.dumps({"gold": gold, "answer": "3"}) + "\n"
            for gold in ("", " ", None)))
        result = run("grade", "--pairs", pairs)
        self.assertGreater(result.returncode, 0)
        self.assertIn('the gold answer under "gold" is blank', result.stderr)
        self.assertIn("none of its 3 lines", result.stderr)

    def test_records_without_gold_are_counted_and_left_out(self):
        path = self.write("some.jsonl", "".join(
            json.dumps({"question": f"{i} and 1?",
                        "answer": i + 1 if i % 2 else None}) + "\n"
            for i in range(5)))
        self.assertEqual(len(self.rows("--set", path)), 5)
        says = ('3 of 5 records have no gold answer under "answer" and are '
                "left out; the first is ")
        result = run("eval", "--set", path, "--model", STORIES, "--methods",
                     "greedy", "--budget-tokens", "20")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(says, result.stderr)
        self.assertIn("2 problems", result.stdout)
        database = os.path.join(self.folder, "run.db")
        result = run("generate", "--set", path, "--model", STORIES, "--out",
                     database, "--search", "greedy", "--budget-tokens", "20")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(says, result.stderr)
        self.assertIn("2 of 2 searches recorded", result.stdout)

    def test_multiple_choice_is_asked_with_its_options(self):
        path = self.write("aqua.json", json.dumps({
            "question": "3 and 4?", "options": ["A)6", "B)7"],
            "rationale": "r", "correct": "B"}) + "\n")
        row, = self.rows("--set", path)
        self.assertEqual(row["question"], "3 and 4?\nA. 6\nB. 7")
        self.assertEqual(row["answer"], "B")

    def test_labelled_steps_are_counted_and_written(self):
        bench = [{"id": "gsm8k-0", "generator": "g", "problem": "2 and 3?",
                  "steps": ["a\n\nb", "c", "d"], "label": 1,
                  "final_answer_correct": False},
                 {"id": "gsm8k-1", "generator": "g", "problem": "P",
                  "steps": ["e"], "label": -1, "final_answer_correct": True}]
        prm = {"labeler": "x", "question": {
            "problem": "P", "ground_truth_answer": "1"}, "label": {
                "finish_reason": "solution", "steps": [
                    {"completions": [{"text": "f", "rating": 1}],
                     "human_completion": None, "chosen_completion": 0},
                    {"completions": [{"text": "g", "rating": 0}],
                     "human_completion": None, "chosen_completion": 0}]}}
        shepherd = {"input": "Q? Step 1: h \u043a\u0438\nStep 2: i \u043a\u0438",
                    "label": "Q? Step 1: h +\nStep 2: i -", "task": "GSM8K"}
        for name, text, kind, counts, lines in (
                ("bench.json", json.dumps(bench), "processbench",
                 (2, 2, 0, 1, 1),
                 [("2 and 3?", ["a\n\nb\n", "c\n"], [True, False]),
                  ("P", ["e\n"], [True])]),
                ("prm.jsonl", json.dumps(prm) + "\n", "prm800k",
                 (1, 1, 1, 0, 0), [("P", ["f\n", "g\n"], [True, True])]),
                ("shepherd.jsonl", json.dumps(shepherd) + "\n",
                 "math-shepherd", (1, 1, 0, 1, 0),
                 [("Q?", ["Step 1: h\n", "Step 2: i\n"], [True, False])])):
            path = self.write(name, text)
            out = os.path.join(self.folder, "lines.jsonl")
            report = os.path.join(self.folder, "report.json")
            result = run("steps", "--set", path, "--out", out, "--json", report,
                         "--force")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(f"solutions of kind {kind}", result.stdout)
            with open(report, encoding="utf-8") as handle:
                row = json.load(handle)
            self.assertEqual(tuple(row[key] for key in (
                "solutions", "right", "neutral", "wrong", "unknown")), counts)
            with open(out, encoding="utf-8") as handle:
                found = [json.loads(line) for line in handle]
            self.assertEqual(
                [(line["prompt"], line["completions"], line["labels"])
                 for line in found],
                [(f"Question: {question}\nAnswer:", steps, labels)
                 for question, steps, labels in lines])
        self.refused(run("steps", "--set", self.numbered(2), "--out", out),
                     "--out", "labelled steps")

    def test_a_folder_of_several_kinds_names_each(self):
        folder = os.path.join(self.folder, "labelled")
        os.makedirs(folder)
        bench = {"problem": "P", "steps": ["a", "b"], "label": 1}
        shepherd = {"input": "Q? Step 1: h \u043a\u0438",
                    "label": "Q? Step 1: h +"}
        for name, rows in (("a.jsonl", [bench, bench]),
                           ("b.jsonl", [shepherd])):
            with open(os.path.join(folder, name), "w",
                      encoding="utf-8") as handle:
                handle.writelines(json.dumps(row) + "\n" for row in rows)
        report = os.path.join(self.folder, "report.json")
        result = run("steps", "--set", folder, "--json", report)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("3 solutions of kinds math-shepherd (1) and "
                      "processbench (2)\n", result.stdout)
        with open(report, encoding="utf-8") as handle:
            row = json.load(handle)
        self.assertEqual(row["kinds"], {"math-shepherd": 1, "processbench": 2})
        self.assertEqual(row["kind"], "math-shepherd, processbench")

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
