"""Runs the program with a reward model that gives several levels: they are
shown, recorded, exported and measured, and others are refused by name.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import os
import unittest

from espalier_program_test import STORY, ProgramTest, run
from espalier_reward_program_test import read_tensors, write_tensors

LEVELS = ("step", "path", "outcome", "window2")


class LevelsTest(ProgramTest):

    def model(self):
        """The shipped model, whose step row is also that of windows, and whose
        path row is also that of outcomes."""
        model = self.copy_of_model()
        path = os.path.join(model, "model.safetensors")
        tensors = read_tensors(path)
        for name in ("reward_head.weight", "reward_head.bias"):
            dtype, shape, data = tensors[name]
            row = len(data) // 2
            tensors[name] = (dtype, [3, *shape[1:]],
                             data[:row] + data[:row] + data[row:])
        write_tensors(path, tensors)
        with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        config["espalier_heads"] = {"reward": ["step", "window2",
                                               "path+outcome"]}
        self.path("model/config.json", json.dumps(config))
        return model

    def report(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_all_levels_are_shown_recorded_and_exported(self):
        model = self.model()
        solve = ("solve", STORY, "--model", model, "--search", "beam",
                 "--budget-tokens", "200")
        got = json.loads(self.report(*solve, "--json"))
        self.assertGreater(len(got["steps"]), 1)
        for step in got["steps"]:
            self.assertEqual(step["window2_score"], step["step_score"])
            self.assertEqual(step["outcome_score"], step["path_score"])
            self.assertNotIn("window3_score", step)
        shown = self.report(*solve, "--show-tree")
        self.assertRegex(shown, r"path 0\.\d\d  step 0\.\d\d  outcome "
                                r"0\.\d\d  window2 0\.\d\d")
        self.assertNotIn("window3", shown)
        out = self.path("run.db")
        self.report("generate", "--out", out, "--set", "stories:middle",
                    "--limit", "12", "--model", model, "--search",
                    "weighted:n=6:aggregate=product", "--budget-tokens",
                    "2000")
        rows = [json.loads(line) for line in self.report(
            "db", "sql", out, "--json", "SELECT step_score, path_score, "
            "outcome_score, window2_score, window3_score FROM "
            "tree_nodes(1) WHERE step_score IS NOT NULL").splitlines()]
        self.assertGreater(len(rows), 1)
        for row in rows:
            self.assertEqual(row["outcome_score"], row["path_score"])
            self.assertEqual(row["window2_score"], row["step_score"])
            self.assertIsNone(row["window3_score"])
        lines = self.path("steps.jsonl")
        self.report("export", out, "--kind", "steps", "--out", lines)
        with open(lines, encoding="utf-8") as file:
            examples = [json.loads(line) for line in file]
        scored = [e for e in examples if "scores" in e]
        self.assertTrue(scored)
        for example in scored:
            self.assertEqual(set(example["scores"]), set(LEVELS))
            for column in example["scores"].values():
                self.assertEqual(len(column), len(example["completions"]))
            self.assertEqual(example["scores"]["window2"],
                             example["scores"]["step"])
        # Measures of every level that is there, and of no other.
        for level in ("outcome", "window2"):
            report = json.loads(self.report(
                "calibrate", "--runs", out, "--levels", level, "--out",
                self.path(level + ".textproto"), "--json"))
            self.assertEqual(list(report["levels"]), [level])
        self.refused(run("calibrate", "--runs", out, "--levels", "window3",
                         "--out", "-"), "--levels window3", "outcome, path, "
                     "step, window2")
        self.measure_levels(model, out)

    def measure_levels(self, model, out):
        steps = self.path("gsm8k.jsonl", "".join(json.dumps(
            {"id": f"gsm8k-{k}", "problem": f"What is {k} + 3?",
             "steps": [f"{k}+3={k + 3}", f"= {k + 3}"], "label": -1}) + "\n"
            for k in range(6)))
        bench = ("bench-reward", "--processbench", steps, "--reward-model",
                 model, "--out")
        scores = {}
        for level in LEVELS:
            name = self.path(level + ".jsonl")
            self.report(*bench, name, "--level", level)
            with open(name, encoding="utf-8") as file:
                scores[level] = file.read()
        self.assertEqual(scores["step"], scores["window2"])
        self.assertEqual(scores["path"], scores["outcome"])
        self.assertNotEqual(scores["path"], scores["step"])
        self.refused(run(*bench, self.path("x.jsonl"), "--level", "window3"),
                     "--level window3", "path, step, outcome, window2")
        self.refused(run(*bench, self.path("x.jsonl"), "--level", "stp"),
                     "step")
        # Of a recorded run.
        step, path, outcome, window2 = (
            self.report("bench-reward", "--samples", out, "--level", level,
                        "--json") for level in LEVELS)
        self.assertEqual((outcome, window2), (path, step))
        self.assertNotEqual(path, step)
        self.refused(run("bench-reward", "--samples", out, "--level",
                         "window4"), "window4")

    def test_a_model_of_one_other_level_is_named_by_its_level(self):
        model = self.model()
        with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        config["espalier_heads"] = {"reward": ["window2", "window3",
                                               "outcome"]}
        self.path("model/config.json", json.dumps(config))
        steps = self.path("gsm8k.jsonl", json.dumps(
            {"id": "gsm8k-1", "problem": "What is 2 + 3?",
             "steps": ["2+3=5", "= 5"], "label": -1}) + "\n")
        bench = ("bench-reward", "--processbench", steps, "--reward-model",
                 model)
        refused = run(*bench)
        self.refused(refused, "--level step", "outcome, window2, window3")
        self.assertNotIn("given_steps", refused.stderr)
        self.report(*bench, "--level", "outcome")

    def test_what_a_mode_has_no_use_for_is_refused(self):
        samples = self.path("samples.jsonl", json.dumps(
            {"id": "q", "answer": "1", "correct": True, "scores": [0.5]}) +
            "\n")
        steps = self.path("gsm8k.jsonl", json.dumps(
            {"id": "gsm8k-1", "problem": "Q?", "steps": ["a"], "label": -1})
            + "\n")
        scores = self.path("scores.jsonl", json.dumps(
            {"id": "gsm8k-1", "scores": [0.7]}) + "\n")
        bench = ("bench-reward", "--processbench", steps, "--scores", scores)
        self.report(*bench)
        for flags in (("--level", "path"), ("--task", "qa"), ("--run", "1"),
                      ("--seed", "1")):
            self.refused(run(*bench, *flags), flags[0])
        replay = ("bench-reward", "--samples", samples)
        self.report(*replay, "--seed", "2")
        for flags in (("--level", "step"), ("--task", "qa"), ("--run", "1"),
                      ("--threshold", "0.5")):
            self.refused(run(*replay, *flags), flags[0])

    def test_weights_are_of_the_learned_aggregate(self):
        for method in ("beam", "puct", "weighted"):
            for options in ("weights=step=1",
                            "aggregate=min:weights=step=1"):
                self.refused(run("solve", STORY, "--search",
                                 f"{method}:{options}"), "weights",
                             "aggregate=learned")

    def test_the_old_name_of_a_flag_is_read_with_a_notice(self):
        result = run("solve", STORY, "--seconds", "600")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("--max-seconds", result.stderr)
        result = run("solve", STORY, "--max-seconds", "600")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("--max-seconds", result.stderr)
        self.refused(run("solve", STORY, "--max-seconds", "1", "--seconds",
                         "1"), "--seconds")

    def test_doctor_names_the_classes_of_reward_models(self):
        folder = self.path("other")
        os.mkdir(folder)
        self.path("other/config.json", json.dumps(
            {"architectures": ["OtherForCausalLM"], "model_type": "other"}))
        self.refused(run("doctor", "--model", folder), "LlamaForCausalLM",
                     "Qwen2ForProcessRewardModel", "Qwen2ForRewardModel")


if __name__ == "__main__":
    unittest.main()
