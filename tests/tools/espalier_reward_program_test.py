"""Runs solve, eval, generate and doctor with published reward models.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import os
import random
import signal
import sqlite3
import struct
import subprocess
import time
import unittest

from espalier_generate_program_test import content
from espalier_program_test import PROGRAM, STORIES, STORY, ZOO, ProgramTest, run


def read_tensors(path):
    with open(path, "rb") as handle:
        size = struct.unpack("<Q", handle.read(8))[0]
        header = json.loads(handle.read(size))
        data = handle.read()
    header.pop("__metadata__", None)
    return {name: (info["dtype"], info["shape"],
                   data[slice(*info["data_offsets"])])
            for name, info in header.items()}


def write_tensors(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, content_bytes) in sorted(tensors.items()):
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data),
                                         len(data) + len(content_bytes)]}
        data += content_bytes
    text = json.dumps(header).encode()
    with open(path, "wb") as handle:
        handle.write(struct.pack("<Q", len(text)) + text + data)


class RewardTest(ProgramTest):

    def reward_model(self, architecture="LlamaForTokenClassification",
                     head="score", labels=2, prefix="", foreign=True):
        """The shipped model's body with a random head, as TRL writes it. A
        foreign one has a tokenizer that merges half as much."""
        model = self.path(f"reward{len(os.listdir(self.folder))}")
        os.mkdir(model)
        tensors = read_tensors(os.path.join(STORIES, "model.safetensors"))
        tensors = {prefix + name: value for name, value in tensors.items()
                   if "reward_head" not in name and "lm_head" not in name}
        with open(os.path.join(STORIES, "config.json"),
                  encoding="utf-8") as handle:
            config = json.load(handle)
        size = config["hidden_size"]
        draw = random.Random(4)
        weights = [draw.gauss(0, 1) for _ in range(labels * size)]
        tensors[head + ".weight"] = ("F32", [labels, size],
                                     struct.pack(f"<{len(weights)}f",
                                                 *weights))
        tensors[head + ".bias"] = ("F32", [labels], bytes(4 * labels))
        write_tensors(os.path.join(model, "model.safetensors"), tensors)
        config["architectures"] = [architecture]
        config.pop("espalier_heads", None)
        with open(os.path.join(model, "config.json"), "w",
                  encoding="utf-8") as handle:
            json.dump(config, handle)
        with open(os.path.join(STORIES, "tokenizer.json"),
                  encoding="utf-8") as handle:
            tokenizer = json.load(handle)
        if foreign:
            merges = tokenizer["model"]["merges"]
            del merges[len(merges) // 2:]
        with open(os.path.join(model, "tokenizer.json"), "w",
                  encoding="utf-8") as handle:
            json.dump(tokenizer, handle)
        return model

    def test_solve_and_eval_read_foreign_models(self):
        lines = self.path("lines.textproto", """layout: TEXT
question_suffix: "\\n"
between: "\\n"
read: LAST_TOKEN
head { weight: "score.weight" }
labels: 1
squash: NONE
range: REAL
""")
        models = [
            (self.reward_model(), []),
            (self.reward_model(foreign=False), []),
            (self.reward_model("Qwen2ForPrmModel", "v_head.summary", 1,
                               "pretrained_model."), None),
            (self.reward_model("LlamaForSequenceClassification", labels=1),
             ["--reward-format", lines]),
        ]
        answers = set()
        for model, flags in models:
            if flags is None:  # the body is a Llama
                config = os.path.join(model, "config.json")
                with open(config, encoding="utf-8") as handle:
                    values = json.load(handle)
                values["architectures"] = ["LlamaForPrmModel"]
                with open(config, "w", encoding="utf-8") as handle:
                    json.dump(values, handle)
                flags = []
            result = run("solve", STORY, "--model", STORIES, "--reward-model",
                         model, *flags, "--search", "beam:branch=3",
                         "--budget-tokens", "300", "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            got = json.loads(result.stdout)
            self.assertGreater(got["reward_tokens"], 0)
            answers.add(got["score"])
        self.assertEqual(len(answers), len(models))  # each has its own scores
        result = run("eval", "--set", "stories:easy", "--limit", "4",
                     "--model", STORIES, "--reward-model", models[0][0],
                     "--methods", "beam,weighted", "--budget-tokens", "200",
                     "--json")
        self.assertEqual(result.returncode, 0, result.stderr)

    def generate(self, out, model, *more):
        return run("generate", "--out", out, "--set", "stories:middle",
                   "--limit", "12", "--search", "beam", "--budget-tokens",
                   "300", "--model", STORIES, "--reward-model", model, *more)

    def test_runs_resume_with_the_same_format_only(self):
        model = self.reward_model()
        whole = self.path("whole.db")
        start = time.monotonic()
        self.assertEqual(self.generate(whole, model).returncode, 0)
        seconds = time.monotonic() - start
        out = self.path("out.db")
        command = [PROGRAM, "generate", "--out", out, "--set",
                   "stories:middle", "--limit", "12", "--search", "beam",
                   "--budget-tokens", "300", "--model", STORIES,
                   "--reward-model", model]
        for share in (0.5, 0.7, 0.9):
            with subprocess.Popen(
                    command + (["--resume"] if os.path.exists(out) else []),
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    env=dict(os.environ, ESPALIER_ZOO=ZOO)) as program:
                time.sleep(share * seconds)
                program.send_signal(signal.SIGKILL)
                program.wait()
        if not os.path.exists(out):
            self.assertEqual(self.generate(out, model).returncode, 0)
        else:
            result = self.generate(out, model, "--resume")
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(content(out), content(whole))
        with sqlite3.connect(whole) as db:
            config, = db.execute("SELECT config FROM runs").fetchone()
        self.assertIn('score.weight', json.loads(config)["reward_format"])
        result = self.generate(whole, model, "--resume", "--reward-format",
                               "pure")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("reward_format", result.stderr)

    def verdict_format(self):
        return self.path("verdict.textproto", """layout: TEXT
question_suffix: "\\n"
choice: "a"
choice: "b"
squash: SOFTMAX
label: 0
range: PROBABILITY
verdict {
  round { say: " Is it right" tokens: 6 }
  round { say: " Answer: " }
  votes: 2
  temperature: 1
  history_prefix: " "
}
""")

    def test_written_verdicts_are_counted_recorded_and_replayed(self):
        flags = ["--reward-model", STORIES, "--reward-format",
                 self.verdict_format()]
        result = run("eval", "--set", "stories:easy", "--limit", "3",
                     "--model", STORIES, *flags, "--methods", "beam",
                     "--budget-tokens", "150")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, "beam, 150 tokens: the reward model "
                         r"wrote [1-9]\d*\.\d tokens of verdicts per problem")
        whole = self.path("whole.db")
        command = [PROGRAM, "generate", "--out", whole, "--set",
                   "stories:middle", "--limit", "6", "--search", "beam",
                   "--budget-tokens", "150", "--model", STORIES, *flags]
        start = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - start
        self.assertIn("6 identical", run("replay", whole).stdout)
        out = self.path("out.db")
        command[3] = out
        for share in (0.6, 0.8):
            resume = ["--resume"] if os.path.exists(out) else []
            with subprocess.Popen(command + resume, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as program:
                time.sleep(share * seconds)
                program.send_signal(signal.SIGKILL)
                program.wait()
        resume = ["--resume"] if os.path.exists(out) else []
        subprocess.run(command + resume, check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(content(out), content(whole))
        solved = run("solve", STORY, "--model", STORIES, *flags, "--search",
                     "beam", "--budget-verdict-tokens", "20", "--json")
        got = json.loads(solved.stdout)
        self.assertIn("verdict tokens", got["stop_reason"])
        self.assertGreater(got["verdict_tokens"], 0)
        self.assertLessEqual(got["verdict_tokens"], 20)
        # What was written is recorded, and a replay reserves the same.
        with sqlite3.connect(whole) as db:
            least, = db.execute("SELECT min(verdict_tokens) FROM searches "
                                "WHERE nodes > 1").fetchone()
        self.assertGreater(least, 0)
        few = self.path("few.db")
        command[3] = few
        subprocess.run(command + ["--budget-verdict-tokens", "40"], check=True,
                       stdout=subprocess.DEVNULL)
        with sqlite3.connect(few) as db:
            most, = db.execute("SELECT max(verdict_tokens) FROM searches"
                               ).fetchone()
        self.assertTrue(0 < most <= 40, most)
        self.assertIn("6 identical", run("replay", few).stdout)

    def test_two_models_are_compared(self):
        flags = ["--reward-model", STORIES, "--reward-format",
                 self.path("two.textproto", """layout: TEXT
question_suffix: "\\n"
between: "\\n"
read: LAST_TOKEN
log_ratio: 0.1
squash: SIGMOID
range: PROBABILITY
""")]
        reference = os.path.join(os.path.dirname(STORIES), "countdown")

        def solve(*more):
            return run("solve", STORY, "--model", STORIES, "--search", "beam",
                       "--budget-tokens", "150", "--json", *more)

        self.refused(solve(*flags), "two compares", "--reference-model")
        self.refused(solve(*flags, "--reference-model", reference),
                     "share the reward model's tokenizer")
        self.refused(solve("--reference-model", reference), "--reward-model")
        model = self.reward_model(foreign=False)
        self.refused(solve("--reward-model", model, "--reference-model",
                           STORIES), "trl reads one model")
        out = self.path("two.db")
        recorded = ["generate", "--out", out, "--set", "stories:easy",
                    "--limit", "2", "--search", "beam", "--model", STORIES,
                    *flags, "--reference-model"]
        result = run(*recorded, STORIES)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2 identical", run("replay", out).stdout)
        # Another reference is another run.
        other = self.path("other")
        os.mkdir(other)
        for name in os.listdir(STORIES):
            with open(os.path.join(STORIES, name), "rb") as source, \
                    open(os.path.join(other, name), "wb") as copy:
                data = source.read()
                if name.endswith(".safetensors"):
                    data = data[:-2] + bytes(2)
                copy.write(data)
        self.refused(run(*recorded, other, "--resume"), "reference_model")

    def test_doctor_says_what_a_folder_is(self):
        listed = run("doctor", "--reward-formats")
        self.assertEqual(listed.returncode, 0, listed.stderr)
        formats = os.path.join(os.path.dirname(os.path.dirname(ZOO)),
                               "models", "reward", "formats")
        for name in os.listdir(formats):
            self.assertIn(name.removesuffix(".textproto") + " ",
                          listed.stdout)
        model = self.reward_model()
        told = run("doctor", "--model", model)
        self.assertEqual(told.returncode, 0, told.stderr)
        for part in ("LlamaForTokenClassification", "trl", "(recognised)",
                     "score.weight, 2 outputs", "last token of each step",
                     "What is 2 + 3?2 + 3 = 5.\\nThe answer is 5.\\n"):
            self.assertIn(part, told.stdout)
        told = run("doctor", "--model", model, "--reward-format", "pure")
        self.assertIn("PURE-PRM-7B", told.stdout)
        self.assertNotIn("(recognised)", told.stdout)
        told = run("doctor", "--model", STORIES, "--reward-format",
                   self.verdict_format())
        for part in ("ln p of tokens", "in what the model writes about each "
                     "step, the mean of 2 votes", ":votes=8", "Is it right"):
            self.assertIn(part, told.stdout)
        self.assertIn("Espalier's own head",
                      run("doctor", "--model", STORIES).stdout)
        self.refused(run("doctor", "--model", self.folder), "config.json")
        self.refused(run("doctor", "--model", model, "--reward-format",
                         "qwen_prm"), "score.0.weight")

    def test_stored_weights_of_levels_are_recorded(self):
        # A replay has no model that could tell them.
        model = self.copy_of_model()
        with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        config["espalier_heads"]["weights"] = {"bias": -0.3, "step": 1.5}
        self.path("model/config.json", json.dumps(config))
        out = self.path("runs.db")
        result = run("generate", "--set", "stories:easy", "--model", model,
                     "--search", "puct:aggregate=learned", "--budget-tokens",
                     "150", "--limit", "2", "--out", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(": 2 identical", run("replay", out).stdout)
        self.assertIn("step=1.5", run("db", "info", out).stdout)
        plain = run("generate", "--set", "stories:easy", "--search",
                    "puct:aggregate=learned", "--budget-tokens", "150",
                    "--limit", "2", "--out", self.path("other.db"))
        self.refused(plain, "weights")
        config["espalier_heads"] = {"reward": ["step", "stp"]}
        self.path("model/config.json", json.dumps(config))
        self.refused(run("solve", STORY, "--model", model), "espalier_heads",
                     "window2")

    def test_bad_input_is_refused_before_a_search(self):
        model = self.reward_model()

        def solve(*more):
            return run("solve", STORY, "--model", STORIES, "--search", "beam",
                       *more)

        bare = self.path("bare")
        os.mkdir(bare)
        tensors = read_tensors(os.path.join(STORIES, "model.safetensors"))
        write_tensors(os.path.join(bare, "model.safetensors"),
                      {name: value for name, value in tensors.items()
                       if "reward_head" not in name})
        with open(os.path.join(model, "config.json"),
                  encoding="utf-8") as handle:
            config = json.load(handle)
        config["architectures"] = ["LlamaForCausalLM"]
        self.path("bare/config.json", json.dumps(config))
        self.refused(solve("--reward-model", bare), "bare", "no reward model",
                     "reward_head.weight", "qwen_prm", "--reward-format")
        self.refused(solve("--reward-model", model, "--reward-format",
                           "qwen_prm"), "score.0.weight", "found none")
        self.refused(solve("--reward-model", model, "--reward-format", "tlr"),
                     "trl")
        self.refused(solve("--reward-format", "trl"), "--reward-model")
        own = self.path("own.textproto", "layout: IDS\nseparator: \"\\n\"\n")
        self.refused(solve("--reward-model", model, "--reward-format", own),
                     "own.textproto:2", "separator")
        own = self.path("tag.textproto", """layout: TEXT
tag: " <step end>"
read: AT_TAG
head { weight: "score.weight" }
labels: 2
squash: SOFTMAX
label: 1
range: PROBABILITY
""")
        self.refused(solve("--reward-model", model, "--reward-format", own),
                     "tag: the tag", "expected one token", "found")


if __name__ == "__main__":
    unittest.main()
