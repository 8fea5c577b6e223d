"""Runs espalier bench-reward: figures against computations in plain Python,
written from the protocols; bad files; tuned thresholds; recorded samples.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import itertools
import json
import math
import os
import random
import shutil
import sqlite3
import unittest

from espalier_program_test import STORIES, ProgramTest, run
from espalier_reward_program_test import RewardTest

CLASSES = ["circular", "redundency", "counterfactual", "step_contradiction",
           "domain_inconsistency", "confidence", "missing_condition",
           "deception", "multi_solutions"]


def first_wrong(values, threshold):
    for index, value in enumerate(values):
        if not value > threshold:
            return index
    return -1


def process_bench(items, threshold):
    """items: (label, values or None). Accuracies and F1 in per cent."""
    hits = {True: [], False: []}
    for label, values in items:
        found = values is not None and first_wrong(values, threshold) == label
        hits[label != -1].append(found)
    wrong, right = (100 * sum(hits[kind]) / len(hits[kind])
                    if hits[kind] else None for kind in (True, False))
    if wrong is None or right is None:
        return wrong, right, None
    both = wrong + right
    return wrong, right, 2 * wrong * right / both if both else 0


def share(part, whole):
    return part / whole if whole else -1


def harmonic(a, b):
    return 2 * a * b / (a + b) if a + b != 0 else -1


def prm_bench(items, originals, threshold):
    """items: (errors from 1, values or None, pair); originals: pair -> values.
    The metrics of PRMBench's program for one class."""
    table = {(right, kept): 0 for right in (0, 1) for kept in (0, 1)}
    first, similarity = [], []
    for errors, values, pair in items:
        if values is None:
            continue
        kept = [value > threshold for value in values]
        for number, verdict in enumerate(kept, 1):
            table[number not in errors, verdict] += 1
        if errors and min(errors) <= len(values):
            first.append(not kept[min(errors) - 1])
        before = originals.get(pair)
        if before is not None:
            mean = sum(v > threshold for v in before) / len(before)
            if mean:
                similarity.append(abs(sum(kept) / len(kept) - mean))
    tp, fn = table[1, 1], table[1, 0]
    fp, tn = table[0, 1], table[0, 0]
    return {"f1": harmonic(share(tp, tp + fp), share(tp, tp + fn)),
            "negative_f1": harmonic(share(tn, tn + fn), share(tn, tn + fp)),
            "first_error_accuracy": share(sum(first), len(first)),
            "similarity": share(sum(similarity), len(similarity)),
            "step_accuracy": share(tp + tn, tp + tn + fp + fn),
            "right_accuracy": share(tp, tp + fn),
            "wrong_accuracy": share(tn, tn + fp)}


def draw_values(draw, count):
    """Coarse, so that values meet the threshold and each other."""
    skill = draw.random()
    return [round(20 * min(1, max(0, draw.gauss(skill, 0.3)))) / 20
            for _ in range(count)]


def draw_prm_table(draw, name, count):
    """Records of one class and values by id, some of them not judged."""
    records, values = [], {}
    for k in range(count):
        steps = draw.randint(1, 6)
        errors = [] if name == "multi_solutions" else sorted(
            draw.sample(range(1, steps + 2), draw.randint(1, min(3, steps))))
        pair = f"p{k}"
        records.append({
            "idx": pair, "classification": name, "error_steps": errors,
            "modified_question": "Q?", "original_question": "Q?",
            "original_process": ["s"] * 4,
            "modified_process": ["s"] * steps})
        judged = draw.random() > 0.05
        values[f"{name}_{pair}"] = draw_values(draw, steps) if judged else None
    return records, values


class BenchRewardTest(ProgramTest):

    def lines(self, name, rows):
        return self.path(name, "".join(json.dumps(row) + "\n" for row in rows))

    def measure(self, *arguments):
        result = run("bench-reward", *arguments, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def near(self, got, want):
        if want is None or got is None:
            self.assertEqual(got, want)
        else:
            self.assertAlmostEqual(got, want, delta=1e-9)

    def draw_process_tables(self, draw, count):
        folder = self.path("tables")
        os.mkdir(folder)
        tables, scores = {}, []
        for k in range(count):
            name, rows = f"t{k:04}", []
            tables[name] = []
            for n in range(draw.randint(1, 12)):
                steps = draw.randint(1, 5)
                label = draw.choice([-1, draw.randrange(steps)])
                values = (draw_values(draw, steps)
                          if draw.random() > 0.03 else None)
                tables[name].append((label, values))
                scores.append({"id": f"{name}-{n}", "scores": values})
                rows.append({"id": f"{name}-{n}", "problem": "P",
                             "steps": ["s"] * steps, "label": label,
                             "final_answer_correct": label == -1})
            self.lines(os.path.join("tables", name + ".jsonl"), rows)
        return folder, tables, self.lines("scores.jsonl", scores)

    def test_thousand_tables_have_process_benchs_figures(self):
        folder, tables, scores = self.draw_process_tables(random.Random(1),
                                                          1000)
        got = self.measure("--processbench", folder, "--scores", scores)
        self.assertEqual(len(got["subsets"]), 1000)
        for name, items in tables.items():
            subset = got["subsets"][name]
            wrong, right, both = process_bench(items, 0.5)
            self.near(subset["error_accuracy"], wrong)
            self.near(subset["correct_accuracy"], right)
            self.near(subset["f1"], both)
        # Another threshold, and subsets that the ids name.
        some = {name: items for name, items in tables.items()
                if process_bench(items, 0.3)[2] is not None}
        names = list(some)[:20]
        got = self.measure("--processbench", folder, "--scores", scores,
                           "--subset", ",".join(names), "--threshold", "0.3")
        self.near(got["mean_f1"], sum(process_bench(some[name], 0.3)[2]
                                      for name in names) / len(names))

    def test_thousand_tables_have_prm_benchs_figures(self):
        draw = random.Random(2)
        records, values, tables, originals = [], {}, {}, {}
        for k in range(1000):
            name = f"c{k:04}" if k else "redundency"
            rows, scored = draw_prm_table(draw, name, draw.randint(1, 8))
            records += rows
            values.update(scored)
            tables[name] = [(row["error_steps"],
                             scored[f"{name}_{row['idx']}"], row["idx"])
                            for row in rows]
        for record in records:
            if record["classification"] == "redundency":
                pair = record["idx"]
                originals[pair] = draw_values(draw, 4)
                values[f"correct_{pair}"] = originals[pair]
        path = self.lines("prm.jsonl", records)
        scores = self.lines("scores.jsonl", [
            {"idx": name, "scores": {"step_level_validity_scores": row}}
            for name, row in values.items()])
        got = self.measure("--prmbench", path, "--scores", scores)
        for name, items in tables.items():
            want = prm_bench(items, originals, 0.5)
            for metric, value in want.items():
                self.near(got["classes"][name][metric], value)
            self.near(got["classes"][name]["prm_score"],
                      max(0, (want["f1"] + want["negative_f1"]) / 2))
        want = prm_bench(sum(tables.values(), []), originals, 0.5)
        for metric, value in want.items():
            self.near(got["total"][metric], value)
        self.assertEqual(got["not_judged"],
                         sum(row is None for row in values.values()))

    def test_tuned_thresholds_are_the_best_ones(self):
        draw = random.Random(3)
        folder, tables, scores = self.draw_process_tables(draw, 12)
        ends = [k / 40 for k in range(-2, 43)]
        for name in tables:
            got = self.measure("--processbench", folder, "--scores", scores,
                               "--tune-on", name)
            self.assertEqual((got["tuned_on"], got["tuned_on_measured"]),
                             (name, True))
            f1 = [process_bench(tables[name], end)[2] for end in ends]
            if f1[0] is None:
                self.assertEqual(got["threshold"], 0.5)
            else:
                self.near(got["subsets"][name]["f1"], max(f1))
                self.assertIn("mean_f1_elsewhere", got)
        # On a file of its own: nothing is measured where it was tuned.
        other = os.path.join(folder, "t0000.jsonl")
        first = self.path("apart.jsonl")
        shutil.move(other, first)
        got = self.measure("--processbench", folder, "--scores", scores,
                           "--tune-on", first)
        result = run("bench-reward", "--processbench", folder, "--scores",
                     scores, "--tune-on", "t0003")
        self.assertIn("tuned on t0003, which is measured here", result.stdout)

        records, values = draw_prm_table(draw, "circular", 30)
        path = self.lines("prm.jsonl", records)
        scores = self.lines("prm_scores.jsonl", [
            {"id": name, "scores": row} for name, row in values.items()])
        got = self.measure("--prmbench", path, "--scores", scores, "--tune-on",
                           "circular")
        items = [(row["error_steps"], values[f"circular_{row['idx']}"], None)
                 for row in records]
        best = 0
        for end in ends:
            want = prm_bench(items, {}, end)
            best = max(best, (want["f1"] + want["negative_f1"]) / 2)
        self.near(got["total"]["prm_score"], best)

    def test_differences_of_scores_judge_steps(self):
        path = self.lines("gsm8k.jsonl", [
            {"id": "gsm8k-0", "problem": "P", "steps": ["a", "b", "c"],
             "label": 2}])
        scores = self.lines("scores.jsonl",
                            [{"id": "gsm8k-0", "scores": [.3, .28, .2]}])
        got = self.measure("--processbench", path, "--scores", scores,
                           "--difference", "--threshold", "-0.05")
        self.assertEqual(got["subsets"]["gsm8k"]["error_accuracy"], 100)
        self.assertIsNone(got["subsets"]["gsm8k"]["f1"])

    def test_best_of_n_equals_counting_all_sets(self):
        draw = random.Random(4)
        combine = {"last": lambda s: s[-1], "min": min, "product": math.prod,
                   "mean": lambda s: sum(s) / len(s)}
        problems, rows = {}, []
        for k in range(6):
            problems[f"q{k}"] = [
                (draw.choice(["1", "2", "3", ""]),
                 [draw.randint(1, 4) / 4 for _ in range(draw.randint(1, 3))])
                for _ in range(draw.choice([3, 5]))]
        for name, samples in problems.items():
            rows += [{"id": name, "answer": answer, "correct": answer == "1",
                      "scores": scores} for answer, scores in samples]

        def vote(samples, weigh):
            """The first answer of the highest weight; "" only by itself."""
            weights = {}
            for answer, scores in samples:
                weights[answer] = weights.get(answer, 0) + weigh(scores)
            if len(weights) > 1:
                weights.pop("", None)
            return max(weights, key=weights.get) == "1"

        def best(samples, score):
            return max(samples, key=lambda s: score(s[1]))[0] == "1"

        def expect(n, judge):
            shares = []
            for samples in problems.values():
                sets = list(itertools.combinations(samples, n))
                if sets:
                    shares.append(sum(map(judge, sets)) / len(sets))
            return sum(shares) / len(shares)

        got = self.measure("--samples", self.lines("s.jsonl", rows))
        self.assertEqual([row["n"] for row in got["rows"]], [1, 2, 4, 5])
        for row in got["rows"]:
            n = row["n"]
            self.near(row["majority"]["accuracy"],
                      expect(n, lambda s: vote(s, lambda _: 1)))
            self.near(row["any"]["accuracy"], expect(
                n, lambda s: any(answer == "1" for answer, _ in s)))
            for name, score in combine.items():
                self.near(row["best"][name]["accuracy"],
                          expect(n, lambda s: best(s, score)))
                self.near(row["weighted"][name]["accuracy"],
                          expect(n, lambda s: vote(s, score)))
            self.assertLessEqual(row["any"]["low"], row["any"]["accuracy"])
            self.assertGreaterEqual(row["any"]["high"], row["any"]["accuracy"])

    def test_recorded_runs_are_replayed(self):
        out = self.path("run.db")
        result = run("generate", "--out", out, "--set", "stories:middle",
                     "--limit", "6", "--search", "weighted:n=6",
                     "--budget-tokens", "2000")
        self.assertEqual(result.returncode, 0, result.stderr)
        got = self.measure("--samples", out)
        self.assertEqual(got["problems"], 6)
        self.assertEqual(got["samples"], 36)
        self.assertEqual(got["rows"][-1]["n"], 6)
        # The model that scored them while they were searched says the same of
        # their texts.
        again = self.measure("--samples", out, "--reward-model", STORIES)
        for level in ("step", "path"):
            self.assertEqual(
                self.measure("--samples", out, "--level", level),
                self.measure("--samples", out, "--level", level,
                             "--reward-model", STORIES))
        self.assertEqual(again, got)
        with sqlite3.connect(out) as db:
            answers = db.execute("SELECT correct FROM searches").fetchall()
        self.assertAlmostEqual(
            got["rows"][-1]["weighted"]["last"]["accuracy"],
            sum(row[0] for row in answers) / 6)

    def test_bad_files_are_refused_by_line(self):
        good = {"id": "gsm8k-0", "problem": "P", "steps": ["a", "b"],
                "label": 1, "final_answer_correct": False}
        path = self.lines("gsm8k.jsonl", [good])
        scores = self.lines("scores.jsonl",
                            [{"id": "gsm8k-0", "scores": [1, 0]}])

        def bench(*arguments):
            return run("bench-reward", *arguments)

        for row, words in (
                ({**good, "label": 2}, ["bad.jsonl:1", "label"]),
                ({**good, "label": -2}, ["bad.jsonl:1", "label"]),
                ({**good, "steps": "ab"}, ["bad.jsonl:1", "steps"]),
                ({**good, "steps": []}, ["bad.jsonl:1", "steps"]),
                ({"id": "x", "problem": "P"}, ["bad.jsonl:1", "ProcessBench"])):
            bad = self.lines("bad.jsonl", [row])
            self.refused(bench("--processbench", bad, "--scores", scores),
                         *words)
        twice = self.lines("bad.jsonl", [good, good])
        self.refused(bench("--processbench", twice, "--scores", scores),
                     "bad.jsonl:2", "gsm8k-0")
        seven = self.path("bad.jsonl", (json.dumps(good) + "\n") * 1 +
                          "\n" * 5 + '{"id": 1,, }\n')
        self.refused(bench("--processbench", seven, "--scores", scores),
                     "bad.jsonl:7", "JSON")
        empty = self.path("empty.jsonl", "")
        self.refused(bench("--processbench", empty, "--scores", scores),
                     "empty.jsonl")
        self.refused(bench("--prmbench", empty, "--scores", scores),
                     "empty.jsonl")
        self.refused(bench("--samples", empty), "empty.jsonl")
        self.refused(bench("--processbench", path, "--scores", empty),
                     "empty.jsonl", "no scores for 1 of 1", "gsm8k-0")
        for line, words in (
                ('{"id": "gsm8k-0", "scores": [1]}', ["expected 2", "found 1"]),
                ('{"id": "gsm8k-0", "scores": [1, NaN]}', ["JSON"]),
                ('{"id": "gsm8k-0", "scores": [1, "x"]}', ["score 2"]),
                ('{"id": "gsm8k-0", "scores": 1}', ["list of numbers"]),
                ('{"id": "gsm8k-0"}', ["no \"scores\""]),
                ('{"scores": [1, 2]}', ["no \"id\""])):
            bad = self.path("bad.jsonl", line + "\n")
            self.refused(bench("--processbench", path, "--scores", bad),
                         "bad.jsonl:1", *words)
        self.refused(bench("--processbench", path, "--scores", scores,
                           "--subset", "gsm8"), "gsm8k")
        self.refused(bench("--processbench", path, "--scores", scores,
                           "--tune-on", "math8k"), "--tune-on")
        self.refused(bench("--processbench", path), "--reward-model",
                     "--scores")
        self.refused(bench("--scores", scores), "--processbench", "--prmbench")
        self.refused(bench("--samples", path), "gsm8k.jsonl:1", "correct")
        prm = {"idx": "p0", "classification": "circular", "error_steps": [1],
               "modified_question": "Q?", "modified_process": ["a"]}
        for change, word in (({"error_steps": [0]}, "error_steps"),
                             ({"error_steps": "1"}, "error_steps"),
                             ({"modified_process": "a"}, "modified_process"),
                             ({"modified_process": [1]}, "step 1"),
                             ({"idx": None}, "idx"),
                             ({"classification": "redundency"}, "original")):
            bad = self.lines("bad.jsonl", [{**prm, **change}])
            self.refused(bench("--prmbench", bad, "--scores", scores),
                         "bad.jsonl:1", word)


class BenchRewardModelTest(RewardTest):

    def test_models_are_measured_and_their_scores_kept(self):
        rows = [{"id": f"gsm8k-{k}", "problem": f"What is {k} + 3?",
                 "steps": [f"{k} + 3 = {k + 3}.", f"The answer is {k + 3}."],
                 "label": -1 if k % 2 else 0} for k in range(6)]
        # Longer than any context.
        rows.append({"id": "gsm8k-6", "problem": "P",
                     "steps": ["a b c " * 4000], "label": -1})
        path = self.path("gsm8k.jsonl", "".join(
            json.dumps(row) + "\n" for row in rows))
        for model in (STORIES, self.reward_model()):
            out = self.path("scores.jsonl")
            result = run("bench-reward", "--processbench", path,
                         "--reward-model", model, "--out", out, "--force",
                         "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("1 solutions could not be judged", result.stderr)
            self.assertIn("gsm8k.jsonl:7", result.stderr)
            again = run("bench-reward", "--processbench", path, "--scores",
                        out, "--json")
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertEqual(json.loads(again.stdout),
                             json.loads(result.stdout))
            with open(out, encoding="utf-8") as handle:
                scores = [json.loads(line)["scores"] for line in handle]
            self.assertEqual([len(s) for s in scores[:6]], [2] * 6)
            self.assertIsNone(scores[6])
            self.assertGreater(len({s[0] for s in scores[:6]}), 1)


# Only what this file adds; RewardTest's own tests run in its file.
for name in [n for n in dir(RewardTest) if n.startswith("test_")]:
    setattr(BenchRewardModelTest, name, None)
del RewardTest


if __name__ == "__main__":
    unittest.main()
