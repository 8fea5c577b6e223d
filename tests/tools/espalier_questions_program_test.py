"""Runs `espalier solve` on known and foreign kinds of questions.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import unittest

from espalier_program_test import ProgramTest, STORIES, STORY, run


class QuestionsTest(ProgramTest):

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
