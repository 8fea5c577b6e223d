"""Runs espalier train and self-train end to end: kills and wrong input.

ESPALIER_PROGRAM names the program (ctest sets it); espalier-learn is next to
it, or is not built, as under the sanitizers."""

import json
import math
import os
import random
import signal
import sqlite3
import subprocess
import time
import unittest

from espalier_program_test import PROGRAM, ROOT, ZOO, ProgramTest, run

LEARN = os.path.join(os.path.dirname(PROGRAM), "espalier-learn")
BASE = os.path.join(ZOO, "countdown-base")
RECIPE = os.path.join(ROOT, "tools", "recipes", "expert_iteration.textproto")


def losses(work):
    with open(os.path.join(work, "metrics.jsonl"), encoding="utf-8") as lines:
        return [(row["step"], row["loss"]) for row in map(json.loads, lines)]


def weights(folder):
    with open(os.path.join(folder, "model.safetensors"), "rb") as handle:
        return handle.read()


@unittest.skipUnless(os.path.exists(LEARN), "built without LibTorch")
class LearnTest(ProgramTest):

    def kill_until_done(self, arguments, times, seconds):
        """Runs the command and kills it `times` times, each after at most
        `seconds`, then runs it to its end."""
        killed = 0
        for _ in range(times):
            process = subprocess.Popen(
                [PROGRAM, *arguments], env=dict(os.environ, ESPALIER_ZOO=ZOO),
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(random.uniform(0, seconds))
            process.send_signal(signal.SIGKILL)
            _, said = process.communicate()
            if process.returncode == 0:
                return killed
            self.assertEqual(process.returncode, -signal.SIGKILL, said)
            killed += 1
        last = run(*arguments)
        self.assertEqual(last.returncode, 0, last.stderr)
        return killed

    def train(self, out, *more):
        return ["train", "policy", "--model", BASE, "--data", self.data,
                "--out", self.path(out), "--batch-tokens", "1500", "--epochs",
                self.epochs, "--save-every", "2", *more]

    def make_data(self, problems, epochs):
        self.data = self.path("run.db")
        self.epochs = epochs
        result = run("generate", "--out", self.data, "--set", "countdown:3",
                     "--search", "majority", "--budget-tokens", "300",
                     "--model", BASE, "--limit", problems)
        self.assertEqual(result.returncode, 0, result.stderr)

    def self_train(self, out, problems):
        return ["self-train", "--config", RECIPE, "--model", BASE, "--out",
                self.path(out), "--option", "rounds=2", "--option",
                f"problems={problems}", "--option", "gate_problems=100",
                "--option", "epochs=1", "--option", "batch_tokens=2000"]

    def check_kills(self, times, problems, epochs, share):
        """Kills come within this share of an uninterrupted command's time."""
        random.seed(11)
        self.make_data(problems, epochs)
        start = time.monotonic()
        self.assertEqual(run(*self.train("whole")).returncode, 0)
        seconds = share * (time.monotonic() - start)
        killed = self.kill_until_done(self.train("broken"), times, seconds)
        self.assertEqual(losses(self.path("whole.work")),
                         losses(self.path("broken.work")))
        self.assertEqual(weights(self.path("whole")),
                         weights(self.path("broken")))
        start = time.monotonic()
        rounds = run(*self.self_train("whole-loop", problems))
        self.assertEqual(rounds.returncode, 0, rounds.stderr)
        seconds = share * (time.monotonic() - start)
        killed += self.kill_until_done(self.self_train("broken-loop", problems),
                                       times, seconds)
        self.assertEqual(weights(self.path("whole-loop")),
                         weights(self.path("broken-loop")))
        for name in ("round1.json", "round2.json"):
            seen = []
            for out in ("whole-loop", "broken-loop"):
                with open(os.path.join(self.path(out + ".work"), name),
                          encoding="utf-8") as handle:
                    summary = json.load(handle)
                seen.append({key: value for key, value in summary.items()
                             if not key.endswith("_seconds")})
            self.assertEqual(seen[0], seen[1])
        report = run("report", self.path("broken-loop.work"))
        self.assertEqual(report.returncode, 0, report.stderr)
        self.assertRegex(report.stdout, r"\n +2 +\d+ +\d+\.\d % ")
        self.assertIn("round2 policy: loss", report.stdout)
        return killed


class TrainTest(LearnTest):

    def succeeds(self, *command):
        result = run(*command)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_kills_change_nothing(self):
        self.assertGreater(self.check_kills(2, "80", "4", 0.8), 0)

    def test_interrupt_keeps_the_state_and_the_same_command_goes_on(self):
        self.make_data("80", "40")
        arguments = self.train("out")
        process = subprocess.Popen(
            [PROGRAM, *arguments], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        for _ in range(600):  # until it has started
            time.sleep(0.1)
            if os.path.exists(self.path("out.work/state.bin")):
                break
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("continues from here", errors)
        self.assertFalse(os.path.exists(self.path("out")))
        # The progress so far can be reported.
        report = run("report", self.path("out.work"))
        self.assertIn("\nentropy  first ", report.stdout, report.stderr)
        self.assertEqual(run(*arguments).returncode, 0)
        self.assertTrue(os.path.exists(self.path("out/config.json")))

    def test_levels_of_stories_are_trained_by_their_verifier(self):
        """A run database keeps no lines of a reference."""
        stories = os.path.join(ZOO, "stories")
        runs, model = self.path("stories.db"), self.path("heads")
        for command in (
                ("generate", "--set", "stories:middle", "--limit", "40",
                 "--search", "weighted", "--budget-tokens", "400", "--out",
                 runs),
                ("train", "reward", "--model", stories, "--data", runs,
                 "--levels", "path,step,window2", "--epochs", "1", "--out",
                 model),
                ("solve", "--set", "stories:middle", "--limit", "1",
                 "--model", stories, "--reward-model", model, "--search",
                 "weighted:level=window2")):
            result = run(*command)
            self.assertEqual(result.returncode, 0, result.stderr)
        with open(os.path.join(model, "config.json"),
                  encoding="utf-8") as handle:
            heads = json.load(handle)["espalier_heads"]
        self.assertEqual(sorted(heads["reward"]), ["path", "step", "window2"])

    def test_a_policy_learns_to_judge_itself(self):
        stories = os.path.join(ZOO, "stories")
        runs, model, judged = (self.path(name) for name in (
            "runs.db", "judging", "judged.db"))
        training = ("train", "policy", "--model", stories, "--data", runs,
                    "--objective", "grpo", "--self-reward", "!",
                    "--self-reward-weight", "1", "--epochs", "2",
                    "--batch-tokens", "4000", "--learning-rate", ".0003",
                    "--out", model)
        self.succeeds("generate", "--set", "stories:middle", "--limit", "150",
                      "--search", "majority:n=8", "--budget-tokens", "2000",
                      "--out", runs)
        self.refused(run(*training[:6], "--self-reward", "!", "--out", model),
                     "objective grpo")
        self.refused(run(*[word.replace("!", "<|end|>") for word in training]),
                     "ends responses")
        self.succeeds(*training)
        reads = os.path.join(model, "self_reward.textproto")
        shown = run("doctor", "--model", model, "--reward-format", reads)
        self.assertIn("0.1 times (ln p of token 33 + ", shown.stdout)
        # It tells right responses from wrong ones to problems of another seed.
        self.succeeds("generate", "--set", "stories:middle", "--set-seed", "7",
                      "--limit", "40", "--model", model, "--reward-model",
                      model, "--reward-format", reads, "--search",
                      "weighted:n=4", "--budget-tokens", "1000", "--out",
                      judged)
        scores = {"correct": [], "wrong": []}
        with sqlite3.connect(judged) as db:
            searches = [row[0] for row in db.execute(
                "SELECT search_id FROM searches")]
        for search in searches:
            nodes = run("db", "sql", judged, "SELECT verdict, outcome_score "
                        f"FROM tree_nodes({search})", "--json").stdout
            for node in map(json.loads, nodes.splitlines()):
                if node["verdict"] in scores:
                    scores[node["verdict"]].append(node["outcome_score"])
        pairs = [(right > wrong) + .5 * (right == wrong)
                 for right in scores["correct"] for wrong in scores["wrong"]]
        self.assertGreater(len(pairs), 100)
        self.assertGreater(sum(pairs) / len(pairs), .7)
        # A second training goes on with the same base.
        again = ("train", "policy", "--model", model, "--data", runs,
                 "--objective", "grpo", "--out", self.path("again"))
        self.refused(run(*again, "--self-reward", "#"), "--self-reward \"!\"")
        self.succeeds(*again, "--self-reward", "!", "--epochs", ".2")
        written = []
        for folder in (model, self.path("again")):
            with open(os.path.join(folder, "self_reward.textproto"),
                      encoding="utf-8") as handle:
                written.append(handle.read())
        self.assertEqual(written[0], written[1])

    def test_wrong_input(self):
        self.make_data("20", "1")
        self.refused(run("train"), "subcommand")
        self.refused(run("train", "policy"), "--model")
        self.refused(run(*self.train("out", "--epochs", "0")), "epochs")
        self.refused(run(*self.train("out", "--objective", "dop")), '"dpo"')
        self.refused(run(*self.train("out", "--objective", "mse")), "reward")
        self.refused(run(*self.train("out", "--objective", "dpo:beta=-1")),
                     "beta")
        self.refused(run(*self.train("out", "--lora-rank", "-1")),
                     "--lora-rank: -1")
        self.refused(run(*self.train("out", "--lora-rank", "x")),
                     "--lora-rank")
        self.refused(run(*self.train("out", "--lora-rank", "1000")),
                     "expected 1 to 64", "k_proj")
        self.refused(run(*self.train("out", "--lora-rank", "8",
                                     "--lora-targets", "q,gte")), '"gate"')
        self.refused(run(*self.train("out", "--lora-rank", "8",
                                     "--lora-alpha", "0")), "--lora-alpha: 0")
        self.refused(run(*self.train("out", "--lora-targets", "q")),
                     "add --lora-rank")
        self.refused(run("train", "policy", "--model", self.folder, "--data",
                         self.data, "--out", self.path("out")), "config.json")
        self.refused(run("train", "policy", "--model", BASE, "--data",
                         "/no/file", "--out", self.path("out")), "/no/file")
        bad = self.path("bad.jsonl", '{"prompt": "a", "completion": "b"}\n{\n')
        self.refused(run("train", "policy", "--model", BASE, "--data", bad,
                         "--out", self.path("out")), "bad.jsonl:2")
        self.assertFalse(os.path.exists(self.path("out")))
        with open(self.data, "rb") as handle:
            before = handle.read()
        self.refused(run(*self.train("out", "--json", self.data, "--force")),
                     "name another")
        with open(self.data, "rb") as handle:
            self.assertEqual(handle.read(), before)
        empty = self.path("empty.jsonl", "\n")
        self.refused(run("train", "policy", "--model", BASE, "--data", empty,
                         "--out", self.path("out")), "empty.jsonl: is empty")
        self.refused(run("self-train", "--config", "/no/recipe", "--model",
                         BASE, "--out", self.path("out")), "/no/recipe")
        recipe = self.path("r.textproto",
                           'option { key: "ruonds" value: "2" }')
        self.refused(run("self-train", "--config", recipe, "--model", BASE,
                         "--out", self.path("out")), '"rounds"')
        self.refused(run(*self.self_train("out", "20"), "--option",
                         "alpha=7"), "alpha")
        self.refused(run(*self.self_train("out", "20"), "--option",
                         "lora_rank=-1"), "lora_rank")
        self.assertFalse(os.path.exists(self.path("out.work")))


class TrainOnStepFilesTest(LearnTest):
    """Files of solutions with labelled steps, as published."""

    def sums(self):
        """Questions with two steps, of which every third is wrong."""
        for a in range(1, 61):
            wrong = a % 3 == 0
            yield (f"What is {a} + 4 + 1?", [
                f"{a} + 4 = {a + 4}",
                f"{a + 4} + 1 = {0 if wrong else a + 5}"], [True, not wrong])

    def stepwise(self):
        return self.path("trl.jsonl", "".join(
            json.dumps({"prompt": question, "completions": steps,
                        "labels": labels}) + "\n"
            for question, steps, labels in self.sums()))

    def shepherd(self):
        lines = ""
        for question, steps, labels in self.sums():
            texts = [f"Step {i + 1}: {step} "
                     for i, step in enumerate(steps)]
            lines += json.dumps({
                "input": question + " " + "\n".join(
                    text + "ки" for text in texts),
                "label": question + " " + "\n".join(
                    text + "-+"[label] for text, label in zip(texts, labels)),
                "task": "GSM8K"}) + "\n"
        return self.path("shepherd.jsonl", lines)

    def train(self, data, out, *more):
        result = run("train", "reward", "--model", BASE, "--data", data,
                     "--out", self.path(out), "--batch-tokens", "500",
                     "--epochs", "3", "--held-out", "0.3",
                     "--no-contamination-check", "--json",
                     self.path(out + ".json"), *more)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path(out + ".json"), encoding="utf-8") as handle:
            report = json.load(handle)
        self.assertLess(report["last_loss"], report["first_loss"])
        self.assertIn("held out: ", result.stdout)
        return report

    def test_trl_and_math_shepherd_files_train_end_to_end(self):
        trl, shepherd = self.stepwise(), self.shepherd()
        report = self.train(trl, "classifier", "--format", "trl", "--levels",
                            "step")
        held = report["held_out"]
        self.assertGreater(held["step_auc"], 0.6)
        self.assertEqual(len(held["step_auc_by_step"]), 2)
        # A search reads the folder as TRL's, with the figures of the training.
        told = run("doctor", "--model", self.path("classifier"))
        self.assertIn("trl", told.stdout)
        measured = run("bench-reward", "--processbench", trl, "--reward-model",
                       self.path("classifier"), "--json")
        self.assertEqual(measured.returncode, 0, measured.stderr)
        heads = self.train(shepherd, "heads", "--levels", "path,step",
                           "--patience", "2")
        self.assertIn("path_ece", heads["held_out"])
        with open(self.path("heads/config.json"), encoding="utf-8") as handle:
            config = json.load(handle)
        # No step follows a wrong one, so both levels have the same labels.
        self.assertEqual(config["espalier_heads"]["reward"], ["path+step"])
        plotted = run("report", self.path("heads.work"), "--metric",
                      "held_out_loss", "--metric", "held_out_path_auc",
                      "--metric", "held_out_path_ece")
        self.assertEqual(plotted.returncode, 0, plotted.stderr)
        for name in ("loss", "path_auc", "path_ece"):
            self.assertIn("held_out_" + name, plotted.stdout)

    def test_wrong_input(self):
        trl = self.stepwise()

        def refused(data, *more, words):
            result = run("train", "reward", "--model", BASE, "--data", data,
                         "--out", self.path("out"),
                         "--no-contamination-check", *more)
            self.refused(result, *words)
            self.assertFalse(os.path.exists(self.path("out.work")))

        # The form that this error names is that of stepwise().
        other = self.path("other.jsonl", json.dumps(
            {"problem": "2 + 2?", "steps": ["2 + 2 = 4"], "ok": [1]}) + "\n")
        refused(other, words=["other.jsonl:1", "export --kind steps",
                              '{"prompt": question, "completions": [steps], '
                              '"labels": [true or false'])
        refused(trl, "--levels", "outcome",
                words=["no labels for the level outcome"])
        refused(trl, "--objective", "pairwise", words=["--objective bce"])
        refused(trl, "--format", "trl", "--levels", "step,path",
                words=["one level"])
        refused(trl, "--format", "tlr", words=["--format"])
        refused(trl, "--patience", "2", words=["--held-out"])
        refused(trl, "--task", "q", words=['"q'])
        refused(trl, "--prompt", "instrct", words=['"instruct"'])
        refused(trl, "--consensus", words=["run database"])


class TrainUsageTest(LearnTest):

    def train(self, *more):
        return run("train", "policy", "--model", "/no/such/model", "--data",
                   "x.db", "--out", self.path("new"), *more)

    def test_wrong_usage_ends_with_two(self):
        # Refused before the model is read.
        for name, values in (
                ("--final-rate", ("-1", "2", "nan")),
                ("--weight-decay", ("-1", "nan")),
                ("--clip-norm", ("-1", "nan")),
                ("--min-perplexity", ("-1", "nan")), ("--epochs", ("0", "nan")),
                ("--seed", ("-1", "1e6x", "18446744073709551616")),
                ("--save-every", ("0", "18446744073709551616")),
                ("--run", ("-1", "18446744073709551616")),
                ("--min-problems", ("-1", "x")), ("--threads", ("0",)),
                ("--lora-rank", ("-1", "4294967296")),
                ("--objective", ("bce", "spo", "dpo:beta=-1"))):
            for value in values:
                result = self.train(name, value)
                self.assertEqual(result.returncode, 2, (name, value, result))
                self.assertEqual(result.stdout, "")
                self.assertNotIn("/no/such/model", result.stderr)
                self.assertIn(name.lstrip("-") if name == "--objective"
                              else name, result.stderr)
                self.assertLess(len(result.stderr), 700)
        for arguments in (("train",), ("train", "policy"), ("self-train",),
                          ("train", "plicy"), ("self-train", "--no-such"),
                          ("train", "policy", "--fo\x1b[31m")):
            result = run(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertNotIn("\x1b", result.stderr)
        self.assertEqual(self.train().returncode, 1)

    def test_the_help_without_this_program_is_its_own(self):
        """Checks the output against tools/espalier/training_help.txt; to update
        the file, take the text from this test's message."""
        text = ""
        for command in (("train",), ("train", "policy"), ("train", "reward"),
                        ("self-train",)):
            text += "== " + " ".join(command) + "\n"
            text += run(*command, "--help").stdout
        with open(os.path.join(ROOT, "tools", "espalier", "training_help.txt"),
                  encoding="utf-8") as handle:
            self.assertEqual(text, handle.read())


class ZooDataTest(LearnTest):

    def zoo_data(self, out, *more):
        return subprocess.run([LEARN, "zoo-data", "--out", out, *more],
                              capture_output=True, text=True, check=False,
                              timeout=300)

    def test_a_model_is_trained_on_it(self):
        first, second = self.path("a.jsonl"), self.path("b.jsonl")
        for path in (first, second):
            result = self.zoo_data(path, "--limit", "60", "--solutions")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("60 examples", result.stdout)
        with open(first, encoding="utf-8") as a, open(
                second, encoding="utf-8") as b:
            text = a.read()
            self.assertEqual(text, b.read())
        for line in text.splitlines():
            self.assertEqual(set(json.loads(line)), {"prompt", "completion"})
        result = run("train", "policy", "--model", BASE, "--data", first,
                     "--out", self.path("out"), "--epochs", "1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("60 sequences", result.stdout)
        self.assertIn("42000 questions) does not hold: 60 in, 60 out",
                      result.stdout)

    def test_wrong_input(self):
        out = self.path("out.jsonl")
        self.refused(self.zoo_data(out, "--family", "countdwn"),
                     '"countdown"')
        self.refused(self.zoo_data(out, "--family", "stories"), "--limit")
        self.refused(self.zoo_data("/no/folder/out.jsonl", "--limit", "2"),
                     "/no/folder")
        self.assertFalse(os.path.exists(out))


@unittest.skipUnless(os.environ.get("ESPALIER_LONG"), "takes minutes")
class LongTest(LearnTest):

    def figure(self, *arguments):
        """The only row of an eval on problems not used in training."""
        out = self.path("figures.json")
        result = run("eval", "--set-seed", "2000", "--json", out, "--force",
                     *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(out, encoding="utf-8") as handle:
            return json.load(handle)["results"][0]

    def command(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_what_the_guide_trains_is_better_on_unseen_problems(self):
        stories = os.path.join(ZOO, "stories")
        data, better = self.path("run.db"), self.path("better")
        self.command("generate", "--set", "stories:hard", "--search", "puct",
                     "--out", data)
        self.command("train", "policy", "--model", stories, "--data", data,
                     "--out", better)
        before, after = (
            self.figure("--set", "stories:hard", "--limit", "500", "--methods",
                        "greedy", "--model", model)
            for model in (stories, better))
        print(f"figure: greedy on stories:hard {before['accuracy']:.3f} "
              f"before, {after['accuracy']:.3f} "
              f"[{after['ci_low']:.3f}, {after['ci_high']:.3f}] after "
              "train policy on 200 searches of puct")
        self.assertGreater(after["ci_low"], before["ci_high"])

        data, judge = self.path("samples.db"), self.path("judge")
        self.command("generate", "--set", "countdown:3", "--search",
                     "majority", "--model", BASE, "--limit", "2000", "--out",
                     data)
        self.command("train", "reward", "--model", BASE, "--data", data,
                     "--out", judge)
        said = self.command("steps", "--set", "countdown:3", "--model", BASE,
                            "--reward-model", judge)
        area = float(said.split("path head ")[1].split()[0])
        print(f"figure: the trained path head tells right from wrong steps "
              f"of countdown:3 with an area under the ROC curve of {area}")
        self.assertGreater(area, 0.65)
        plain, voted = (
            self.figure("--set", "countdown:3", "--limit", "2000", "--model",
                        BASE, "--reward-model", judge, "--budget-tokens",
                        "270", "--methods", method)
            for method in ("majority", "weighted"))
        ahead = [b - a for a, b in zip(plain["correct"], voted["correct"])]
        mean = sum(ahead) / len(ahead)
        half = 1.96 * math.sqrt(sum((one - mean) ** 2 for one in ahead)) / len(
            ahead)
        print(f"figure: weighted {voted['accuracy']:.3f}, majority "
              f"{plain['accuracy']:.3f} at 270 tokens, ahead by {mean:.3f} "
              f"[{mean - half:.3f}, {mean + half:.3f}]")
        self.assertGreater(mean - half, 0)

    def test_thirty_kills_change_nothing(self):
        killed = self.check_kills(30, "400", "12", 0.06)
        print(f"figure: train and self-train killed {killed} times, "
              "same losses and weights, seed 11")
        self.assertGreater(killed, 50)


if __name__ == "__main__":
    unittest.main()
