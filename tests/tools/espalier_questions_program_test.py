"""Runs `espalier solve` on known and foreign kinds of questions.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import re
import unittest

from espalier_program_test import ProgramTest, STORIES, STORY, run


class QuestionsTest(ProgramTest):

    def test_what_is_asked_in_other_words_is_said(self):
        for question, asked in (
                ("Use three, seven and 25 to reach forty-six.",
                 "Use 3, 7 and 25 to reach 46."),
                ("Ann has 24 shells. Tom gives 3 to Ann. How many shells does "
                 "Ann have now?",
                 "Ann has 24 shells. She finds 3 shells. How many shells does "
                 "Ann have now?")):
            told, plain = run("solve", question), run("solve", asked)
            self.assertIn("it is asked: " + asked, told.stderr)
            self.assertNotIn("it is asked", plain.stderr)
            self.assertEqual(told.returncode, plain.returncode, told.stderr)
            answers = [re.findall(r"^(?:answer|no right).*", out.stdout, re.M)
                       for out in (told, plain)]
            self.assertEqual(len(answers[0]), 1, told.stdout)
            self.assertEqual(answers[0], answers[1])

    def test_foreign_questions_are_not_answered(self):
        result = run("solve", "What is 2+3?")
        self.assertEqual(result.returncode, 3)
        self.assertIn("not answered", result.stdout)
        self.assertNotIn("answer:", result.stdout)
        self.assertIn("--model", result.stderr)
        self.assertIn("--force", result.stderr)
        forced = run("solve", "What is 2+3?", "--force")
        self.assertEqual(forced.returncode, 0, forced.stderr)
        # A model given by the user, even the same folder, accepts any question.
        own = run("solve", "What is 2+3?", "--model", STORIES)
        self.assertEqual(own.returncode, 0, own.stderr)

    def test_a_puzzle_without_solution_is_not_answered(self):
        puzzle = "Use 2, 2 and 2 to reach 100."
        result = run("solve", puzzle)
        self.assertEqual(result.returncode, 4)
        self.assertIn("no right answer found", result.stdout)
        self.assertNotIn("answer:", result.stdout)
        self.assertIn("1 of 1 question", result.stderr)
        solvable = "Use 3, 7 and 25 to reach 46."
        path = self.path("puzzles.txt", f"{puzzle}\n{solvable}\n{STORY}\n")
        result = run("solve", "--file", path, "--json")
        self.assertEqual(result.returncode, 4)
        self.assertIn("1 of 3", result.stderr)
        rows = {row["question"]: row
                for row in map(json.loads, result.stdout.splitlines())}
        self.assertIs(rows[puzzle]["correct"], False)
        self.assertIs(rows[solvable]["correct"], True)
        self.assertNotIn("correct", rows[STORY])  # it takes a gold to tell
        # A wrong answer, of a model that cannot do it.
        wrong = run("solve", solvable, "--task", "countdown", "--model",
                    STORIES)
        self.assertEqual(wrong.returncode, 4, wrong.stderr)
        self.assertIn("is wrong", wrong.stdout)
        self.assertEqual(run("solve", solvable).returncode, 0)
        self.assertIn("4 if no right", run("solve", "--help").stdout)

    def test_lines_are_of_standard_input(self):
        path = self.path("lines.txt", f"{STORY}\n{STORY}\n")
        for arguments in (("solve", STORY, "--lines"),
                          ("solve", "--set", "stories:easy", "--lines")):
            with open(path, encoding="utf-8") as handle:
                result = run(*arguments, stdin=handle)
            self.assertEqual(result.returncode, 2, result.stdout)
            self.assertIn("--lines", result.stderr)
        with open(path, encoding="utf-8") as handle:
            result = run("solve", "--lines", "--json", stdin=handle)
        self.assertEqual(len(result.stdout.splitlines()), 2, result.stderr)
        # A file has one per line anyway.
        for arguments in (("--file", path), ("--file", path, "--lines"),
                          ("--file", "-"), ("--file", "-", "--lines")):
            with open(path, encoding="utf-8") as handle:
                result = run("solve", "--json", *arguments, stdin=handle)
            self.assertEqual([json.loads(line)["question"]
                              for line in result.stdout.splitlines()],
                             [STORY, STORY], result.stderr)

    def test_several_lines_that_are_refused_hint_at_lines(self):
        for text, hint in ((f"{STORY}\nWho wrote Hamlet?\n", True),
                           ("Who wrote Hamlet?\n\n", False)):
            path = self.path("in.txt", text)
            with open(path, encoding="utf-8") as handle:
                result = run("solve", stdin=handle)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertEqual("one question of 2 lines; --lines"
                             in result.stderr, hint, result.stderr)
            with open(path, encoding="utf-8") as handle:
                result = run("solve", "--lines", stdin=handle)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertNotIn("--lines", result.stderr)

    def test_known_questions_beside_foreign_ones_are_answered(self):
        path = self.path("questions.txt", f"{STORY}\nWho wrote Hamlet?\n")
        result = run("solve", "--file", path, "--json")
        self.assertEqual(result.returncode, 3)
        rows = {row["question"]: row
                for row in map(json.loads, result.stdout.splitlines())}
        self.assertEqual(rows[STORY]["error"], "")
        self.assertNotEqual(rows[STORY]["answer"], "")
        self.assertEqual(rows["Who wrote Hamlet?"]["answer"], "")
        self.assertIn("stories", rows["Who wrote Hamlet?"]["error"])
        self.assertIn("1 of 2", result.stderr)

    def test_each_question_of_a_file_has_the_task_of_its_kind(self):
        puzzles = [f"Use 3, 7 and {n} to reach {n + 21}." for n in (25, 50)]
        foreign = "Who wrote Hamlet?"
        alone = {}
        for question in [STORY] + puzzles:
            alone[question] = json.loads(
                run("solve", question, "--method", "greedy", "--budget-tokens",
                    "200", "--json").stdout)["answer"]
        for asked in ([STORY, puzzles[0], foreign, STORY, puzzles[1]],
                      [puzzles[0], STORY, puzzles[1], foreign]):
            path = self.path("mixed.txt", "\n".join(asked) + "\n")
            result = run("solve", "--file", path, "--method", "greedy",
                         "--budget-tokens", "200", "--json")
            self.assertEqual(result.returncode, 3, result.stderr)
            rows = [json.loads(line) for line in result.stdout.splitlines()]
            self.assertEqual([row["question"] for row in rows], asked)
            for row in rows:
                self.assertEqual(row["answer"],
                                 alone.get(row["question"], ""))
            self.assertIn(f"1 of {len(asked)}", result.stderr)
        prompts = run("solve", "--file", path, "--show-prompt", "--json")
        self.assertEqual(len(prompts.stdout.splitlines()), 4)


if __name__ == "__main__":
    unittest.main()
