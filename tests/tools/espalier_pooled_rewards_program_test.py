"""Runs espalier with reward models whose heads servers compute. Scores, and the
token ids that are sent, are computed here from the published layouts.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import os
import re
import sqlite3
import time
import unittest

from espalier_program_test import STORIES, ProgramTest, run
from made_up_model import Bpe
from pooling_server import PoolingServer, logistic, logits, softmax
from servers_case import KEY, environment

SPECIAL = {"<|im_start|>": 512, "<|im_end|>": 513, "<extra_0>": 514}
TAG = SPECIAL["<extra_0>"]
BPE = Bpe(STORIES)
PROBE = 6  # calls that find out how a server answers
SYSTEM = ("Please reason step by step, and put your final answer within "
          "\\boxed{}.")
CHATML = ("{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + "
          "m['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
          "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
          "{% endif %}")
# Newlines end steps; read at the last token of each, without a tag.
THREE = """summary: "three outputs"
only_by_name: true
layout: IDS
question_suffix: "\\n"
read: LAST_TOKEN
head { weight: "score_head.weight" }
labels: 3
squash: SUM
range: PROBABILITY
"""
SOLUTIONS = [
    ("Ann has 2 shells and finds 3. How many?",
     ["Ann has 2 shells.", "2 + 3 = 5", "The answer is 5."]),
    ("What is 17 + 25?", ["17 + 25 = 42"]),
    ("What is 9 - 4?", ["9 - 4 = 6", "So it is 6."]),
]


def encode(text):
    ids = []
    for part in re.split("(" + "|".join(map(re.escape, SPECIAL)) + ")", text):
        ids.extend([SPECIAL[part]] if part in SPECIAL else BPE.encode(part))
    return ids


def chat(question, answer, closed=False):
    # As Qwen2.5-Math's template.
    return encode(f"<|im_start|>system\n{SYSTEM}<|im_end|>\n"
                  f"<|im_start|>user\n{question}<|im_end|>\n"
                  f"<|im_start|>assistant\n{answer}" +
                  ("<|im_end|>\n" if closed else ""))


def process_ids(question, steps):
    return chat(question, "".join(step + "<extra_0>" for step in steps))


def outcome_ids(question, steps):
    return chat(question, "\n".join(steps), closed=True)


def three_ids(question, steps):
    return sum((BPE.encode(step) for step in steps),
               BPE.encode(question + "\n"))


class PooledRewardsTest(ProgramTest):

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("tokenizer"))
        with open(os.path.join(STORIES, "tokenizer.json"),
                  encoding="utf-8") as handle:
            data = json.load(handle)
        for text, number in SPECIAL.items():
            data["added_tokens"].append(dict(
                data["added_tokens"][0], content=text, id=number))
        self.tokenizer = self.path("tokenizer")
        self.path("tokenizer/tokenizer.json", json.dumps(data))
        self.path("tokenizer/tokenizer_config.json", json.dumps(
            {"eos_token": "<|im_end|>", "chat_template": CHATML}))

    def serve(self, kind="vllm", **options):
        server = PoolingServer(kind, STORIES, encode, **options)
        self.addCleanup(server.close)
        return server

    def process_server(self, **options):
        return self.serve(labels=2, shape="tag", tag=TAG, **options)

    def measure(self, server, form="qwen_prm", *more, solutions=None,
                **variables):
        """bench-reward over the solutions."""
        rows = [{"id": f"made-{i}", "problem": question, "steps": steps,
                 "label": -1, "final_answer_correct": True, "generator": "x"}
                for i, (question, steps) in enumerate(solutions or SOLUTIONS)]
        self.path("made.json", json.dumps(rows))
        url = server if isinstance(server, str) else server.url
        return run("bench-reward", "--processbench", self.path("made.json"),
                   "--reward-model", url, "--reward-tokenizer", self.tokenizer,
                   "--reward-format", form, "--out", self.path("out.jsonl"),
                   "--force", *more, env=environment(**variables))

    def scores(self, server, form="qwen_prm", *more, **options):
        done = self.measure(server, form, *more, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("out.jsonl"), encoding="utf-8") as handle:
            rows = {row["id"]: row["scores"]
                    for row in map(json.loads, handle)}
        return [rows[f"made-{i}"] for i in range(len(rows))]

    def near(self, found, wanted):
        self.assertEqual([len(row) for row in found],
                         [len(row) for row in wanted])
        for row, other in zip(found, wanted):
            for a, b in zip(row, other):
                self.assertAlmostEqual(a, b, delta=2e-6)

    # What the scores of SOLUTIONS are.

    def process(self):
        return [[softmax(logits(process_ids(question, steps[:n + 1]), 2))[1]
                 for n in range(len(steps))] for question, steps in SOLUTIONS]

    def outcome(self):
        """Of the response up to each step."""
        return [[logistic(logits(outcome_ids(question, steps[:n + 1]), 1)[0])
                 for n in range(len(steps))] for question, steps in SOLUTIONS]

    def three(self):
        return [[sum(softmax(logits(three_ids(question, steps[:n + 1]), 3))[1:])
                 for n in range(len(steps))] for question, steps in SOLUTIONS]

    def test_qwens_process_reward_model(self):
        """A row per tag, one call per path, and the ids of the layout."""
        for options in ({}, {"off": "activation"}, {"off": None},
                        {"raw": True}):
            with self.subTest(options):
                server = self.process_server(**options)
                self.near(self.scores(server), self.process())
                texts = set(server.texts)
                for question, steps in SOLUTIONS:
                    self.assertIn(tuple(process_ids(question, steps)), texts)
                # Not one of the shorter paths: their rows came with it.
                self.assertNotIn(tuple(process_ids(*SOLUTIONS[0][:1],
                                                   SOLUTIONS[0][1][:1])), texts)
                path, asked = server.asked[-1]
                self.assertEqual((path, asked["task"]),
                                 ("/pooling", "token_classify"))

    def test_rows_per_token_and_of_the_last_token(self):
        for shape in ("token", "last"):
            for off in ("use_activation", None):
                with self.subTest(shape=shape, off=off):
                    server = self.serve(labels=2, shape=shape, off=off)
                    self.near(self.scores(server), self.process())

    def test_an_outcome_reward_model(self):
        for options in ({"shape": "last"}, {"shape": "token"},
                        {"shape": "last", "raw": True},
                        {"shape": "last", "paths": ("/classify",)},
                        {"kind": "sglang", "shape": "last", "raw": True}):
            with self.subTest(options):
                server = self.serve(**options)
                self.near(self.scores(server, "qwen_rm"), self.outcome())
                self.assertIn(tuple(outcome_ids(*SOLUTIONS[0])), server.texts)

    def test_sglang_reads_each_step_by_itself(self):
        server = self.serve("sglang", labels=2, shape="last", raw=True)
        self.near(self.scores(server), self.process())
        for n in (1, 2, 3):
            self.assertIn(tuple(process_ids(SOLUTIONS[0][0],
                                            SOLUTIONS[0][1][:n])),
                          server.texts)

    def test_three_labels(self):
        form = self.path("three.textproto", THREE)
        for shape in ("token", "last"):
            for off in ("use_activation", None):
                with self.subTest(shape=shape, off=off):
                    server = self.serve(labels=3, shape=shape, off=off)
                    self.near(self.scores(server, form), self.three())

    def test_one_output_that_may_be_a_probability(self):
        server = self.serve(shape="last", off=None)
        self.refused_clearly(self.measure(server, "qwen_rm"), server.url,
                             "qwen_rm:outputs=logits", "probabilities")
        self.near(self.scores(server, "qwen_rm:outputs=probabilities"),
                  self.outcome())
        self.refused_clearly(self.measure(server, "qwen_rm:outputs=p"),
                             "outputs=logits", '"p"')
        self.refused_clearly(self.measure(server, "laser:outputs="
                                          "logits"), "no head")
        self.refused_clearly(self.measure(STORIES, "qwen_prm:outputs=logits"),
                             "leave it out")

    def refused_clearly(self, done, *words):
        self.assertGreater(done.returncode, 0, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertLess(len(done.stderr.splitlines()), 4, done.stderr)
        self.assertNotIn(KEY, done.stderr)

    # Searches.

    def search(self, command, server, *more, limit="3"):
        return run(command, "--model", STORIES, "--set", "stories:easy",
                   "--limit", limit, "--budget-tokens", "200",
                   "--response-tokens", "60", "--seed", "3",
                   "--reward-model", server.url, "--reward-tokenizer",
                   self.tokenizer, *more, env=environment())

    def trees(self, name):
        with sqlite3.connect(f"file:{self.path(name)}?mode=ro",
                             uri=True) as db:
            return db.execute(
                "SELECT p.name, s.state, s.answer, s.tokens, s.error, t.tree "
                "FROM searches s JOIN problems p USING(problem_id) JOIN trees "
                "t USING(search_id) ORDER BY 1").fetchall()

    def test_methods_run_with_heads_behind_servers(self):
        for form, server in (
                ("qwen_prm", self.process_server()),
                ("qwen_rm", self.serve(shape="last")),
                ("qwen_prm", self.serve("sglang", labels=2, shape="last",
                                        raw=True))):
            done = self.search("eval", server, "--reward-format", form,
                               "--methods", "best_of_n:n=3,weighted:n=3,beam,"
                               "puct", "--json", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            results = json.loads(done.stdout)["results"]
            self.assertEqual(len(results), 4)
            for result in results:
                self.assertEqual(result["errors"], [])

    def test_runs_replay_and_resume_without_asking_again(self):
        for search in ("beam", "best_of_n:n=3"):
            server = self.process_server()
            more = ("--reward-format", "qwen_prm", "--search", search)
            whole = self.search("generate", server, *more, "--out",
                                self.path("whole.db"), "--force")
            self.assertEqual(whole.returncode, 0, whole.stderr)
            asked = len(server.texts)
            self.assertGreater(asked, 0)
            replayed = run("replay", self.path("whole.db"))
            self.assertIn(": 3 identical", replayed.stdout, replayed.stderr)
            self.assertEqual(len(server.texts), asked)
            # A server that is away for long ends the run.
            broken = self.process_server()
            broken.skip = PROBE + (asked - PROBE) // 2
            broken.wrong = ["away"]
            part = self.search("generate", broken, *more, "--out",
                               self.path("part.db"), "--force", "--live", "1")
            self.refused_clearly(part, broken.url, "--resume")
            before = len(broken.texts)
            again = self.search("generate", broken, *more, "--out",
                                self.path("part.db"), "--resume", "--live",
                                "1")
            self.assertEqual(again.returncode, 0, again.stderr)
            self.assertGreater(len(broken.texts), before)
            self.assertLess(len(broken.texts) - before, asked)
            self.assertIn(": 3 identical",
                          run("replay", self.path("part.db")).stdout)
            self.assertEqual(self.trees("part.db"), self.trees("whole.db"))

    def test_a_run_is_resumed_with_the_same_model_and_format(self):
        server = self.process_server()
        more = ("--reward-format", "qwen_prm", "--search", "beam", "--out",
                self.path("run.db"))
        done = self.search("generate", server, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        elsewhere = self.process_server()
        done = self.search("generate", elsewhere, *more, "--resume")
        self.assertEqual(done.returncode, 0, done.stderr)
        other = self.process_server(models=("another",))
        self.refused_clearly(self.search("generate", other, *more, "--resume"),
                             "reward model")

    # What goes wrong.

    def test_servers_without_the_head(self):
        chat_only = self.process_server(paths=())
        self.refused_clearly(
            self.measure(chat_only), chat_only.url, "qwen_prm", "404",
            "--runner pooling", "STEP", str(TAG), "weights")
        sglang = self.serve("sglang", paths=())
        self.refused_clearly(self.measure(sglang, "qwen_rm"), sglang.url,
                             "404", "--is-embedding")
        llama = self.serve("llama-server", tokenizer="none")
        self.refused_clearly(self.measure(llama), llama.url, "llama-server",
                             "/rerank", "vLLM")

    def test_replies_of_another_shape_are_refused_at_the_start(self):
        one = self.serve(labels=1, shape="tag", tag=TAG)
        self.refused_clearly(self.measure(one), "rows of 2 numbers, found 1")
        other_tag = self.serve(labels=2, shape="tag", tag=SPECIAL["<|im_end|>"])
        self.refused_clearly(self.measure(other_tag), "one per tag",
                             "one per token", "step_tag_id", str(TAG))
        for wrong, word in (("null", "expected numbers"), ("nan", "JSON"),
                            ("text", "expected a list"), ("two", "one text"),
                            ("labels", "rows of 2 numbers, found 4"),
                            ("malformed", "JSON")):
            with self.subTest(wrong):
                server = self.process_server()
                server.wrong = [wrong] * 100
                self.refused_clearly(self.measure(server), server.url, word)

    def test_replies_that_cannot_be_read_are_asked_for_again(self):
        for wrong in ("null", "nan", "rows", "labels", "text", "two",
                      "malformed", "errors"):
            with self.subTest(wrong):
                server = self.process_server()
                server.skip = PROBE + 2
                server.wrong = [wrong]
                self.near(self.scores(server), self.process())
                self.assertEqual(server.wrong, [])

    def test_what_never_gets_better_is_one_error(self):
        for wrong, word in (("rows", "expected 3 rows, one per tag, found 6"),
                            ("null", "expected numbers"),
                            ("gone", "404")):
            with self.subTest(wrong):
                server = self.process_server()
                server.skip = PROBE
                server.wrong = [wrong] * 1000
                done = self.measure(server, "qwen_prm", "--server-attempts",
                                    "4", solutions=SOLUTIONS[:1])
                self.assertGreater(done.returncode + done.stdout.count(word),
                                   0, done.stdout + done.stderr)
                self.assertIn(word, done.stdout + done.stderr)

    def test_attempts_are_an_option(self):
        server = self.process_server()
        server.skip, server.wrong = PROBE, ["errors"] * 1000
        begun = time.monotonic()
        done = self.search("eval", server, "--reward-format", "qwen_prm",
                           "--methods", "best_of_n:n=2", "--server-attempts",
                           "2", limit="1")
        self.assertGreater(done.returncode, 0, done.stdout)
        self.assertIn(server.url, done.stderr)
        self.assertIn("after 2 attempts", done.stderr)
        self.assertLess(time.monotonic() - begun, 20)

    def test_probabilities_that_are_none(self):
        server = self.process_server(off=None)
        server.skip = 3 * 4  # the server knows none of three fields
        server.wrong = ["outside"]
        self.near(self.scores(server), self.process())

    def test_a_busy_server_is_waited_for(self):
        for skip in (0, PROBE):
            server = self.process_server()
            server.faults.retry_after = 1
            server.skip, server.wrong = skip, ["busy"]
            begun = time.monotonic()
            self.near(self.scores(server), self.process())
            self.assertGreaterEqual(time.monotonic() - begun, 1)

    def test_another_tokenizer_is_refused(self):
        server = self.process_server(tokenizer="other")
        self.refused_clearly(self.measure(server), server.url,
                             "tokenizer is not the one")
        self.assertEqual(server.texts, [])
        # One without the tag, as of another model.
        with open(os.path.join(self.tokenizer, "tokenizer.json"),
                  encoding="utf-8") as handle:
            data = json.load(handle)
        data["added_tokens"] = data["added_tokens"][:-1]
        self.path("tokenizer/tokenizer.json", json.dumps(data))
        self.refused_clearly(self.measure(server), "qwen_prm", "<extra_0>",
                             "one token")
        self.assertEqual(server.texts, [])

    def test_the_key_is_sent_and_not_told(self):
        server = self.process_server()
        server.faults.key = KEY
        # vLLM asks for it below /v1 only.
        self.refused_clearly(self.measure(server), server.url,
                             "ESPALIER_API_KEY")
        self.near(self.scores(server, ESPALIER_API_KEY=KEY), self.process())

    def test_several_servers(self):
        first, second = self.process_server(), self.process_server()
        self.near(self.scores(f"{first.url},{second.url}"), self.process())
        other = self.serve(labels=2, shape="last")
        self.refused_clearly(self.measure(f"{first.url},{other.url}"),
                             other.url, "must offer the same")


if __name__ == "__main__":
    unittest.main()
