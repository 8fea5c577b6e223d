"""Runs espalier complete and espalier score end to end.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import json
import math
import os
import pty
import re
import signal
import subprocess
import time
import unittest

from espalier_program_test import (PROGRAM, STORIES, STORY, ZOO, ProgramTest,
                                   run)

# STORY in the form that the shipped model was trained to read.
PROMPT = ("a Ann has 23 shells.\nb She finds 48 more.\nc She gives 17 to Tom.\n"
          "? How many shells does Ann have now?\n")


def complete(*more, text=PROMPT, **options):
    return run("complete", "--model", STORIES, "--text", text, *more,
               **options)


def score(*more, text=PROMPT, **options):
    return run("score", "--model", STORIES, "--text", text, *more, **options)


def lines_of(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


class CompleteTest(ProgramTest):

    def test_greedy_is_what_solve_writes(self):
        result = complete("--temperature", "0")
        self.assertEqual(result.returncode, 0, result.stderr)
        solved = run("solve", STORY, "--search", "greedy", "--json")
        # A search ends after the answer line; the model may continue.
        response = json.loads(solved.stdout)["response"]
        self.assertIn("\n= ", response)
        self.assertTrue(result.stdout.startswith(response), result.stdout)
        self.assertIn("tokens/s", result.stderr)

    def test_text_comes_from_a_file_or_standard_input(self):
        path = self.path("prompt.txt", PROMPT)
        wanted = complete("--temperature", "0").stdout
        for arguments, options in (
                (("--file", path), {}),
                ((), {"stdin": open(path, encoding="utf-8")}),
                (("--file", "-"), {"stdin": open(path, encoding="utf-8")})):
            result = run("complete", "--model", STORIES, "--temperature", "0",
                         *arguments, **options)
            self.assertEqual(result.stdout, wanted)
            if options:
                options["stdin"].close()

    def test_json_has_every_token(self):
        result = complete("-n", "3", "--json", "--seed", "5")
        self.assertEqual(result.returncode, 0, result.stderr)
        written = lines_of(result)
        self.assertEqual([one["index"] for one in written], [0, 1, 2])
        for one in written:
            self.assertEqual(len(one["tokens"]), len(one["logprobs"]))
            self.assertTrue(all(p <= 0 for p in one["logprobs"]))
            self.assertEqual(one["finish"], "end")
            self.assertIn("= ", one["text"])

    def test_alternatives_hold_the_most_likely_token(self):
        one = lines_of(complete("--json", "--temperature", "0",
                                "--alternatives", "3"))[0]
        self.assertEqual(len(one["alternatives"]), len(one["tokens"]))
        for token, logprob, top_tokens in zip(one["tokens"], one["logprobs"],
                                             one["alternatives"]):
            self.assertEqual(len(top_tokens), 3)
            self.assertEqual(top_tokens[0][0], token)
            self.assertAlmostEqual(top_tokens[0][1], logprob, delta=1e-5)

    def test_the_same_seed_writes_the_same(self):
        """For any number of samples and threads, streamed or not."""
        many = lines_of(complete("-n", "5", "--json", "--seed", "7"))
        one = lines_of(complete("--json", "--seed", "7", "--threads", "1"))
        self.assertEqual(many[0], one[0])
        streamed = complete("--seed", "7").stdout
        self.assertEqual(streamed, one[0]["text"] + "\n")
        other = lines_of(complete("-n", "5", "--json", "--seed", "8"))
        self.assertNotEqual([o["text"] for o in many],
                            [o["text"] for o in other])

    def test_several_are_told_apart(self):
        result = complete("-n", "2", "--max-tokens", "5")
        self.assertIn("== 1 of 2: length, 5 tokens", result.stdout)
        self.assertIn("== 2 of 2: length, 5 tokens", result.stdout)

    def test_stops_are_no_part_of_the_text(self):
        whole = complete("--temperature", "0").stdout
        for extra in ((), ("--json",)):
            result = complete("--temperature", "0", "--stop", "never",
                              "--stop", "\n= ", *extra)
            self.assertEqual(result.returncode, 0, result.stderr)
            if extra:
                one = lines_of(result)[0]
                self.assertEqual(one["finish"], "stop")
                text = one["text"]
            else:
                text = result.stdout[:-1]
            self.assertEqual(text, whole[:whole.index("\n= ")])

    def test_repetition_penalty_changes_greedy(self):
        plain = complete("--temperature", "0").stdout
        other = complete("--temperature", "0", "--repetition-penalty", "5")
        self.assertEqual(other.returncode, 0, other.stderr)
        self.assertNotEqual(other.stdout, plain)

    def test_filters_leave_the_top_tokens(self):
        """Each filter at its tightest is greedy."""
        greedy = complete("--temperature", "0").stdout
        for extra in (("--top-k", "1"), ("--top-p", "0.000001"),
                      ("--min-p", "1")):
            self.assertEqual(complete("--seed", "3", *extra).stdout, greedy)

    def test_chat_uses_the_checkpoints_template(self):
        model = self.copy_of_model()
        self.refused(run("complete", "--model", model, "--chat", "--text",
                         "Hi"), "no chat template", "--template")
        self.path("model/tokenizer_config.json", json.dumps(
            {"chat_template": "<|im_start|>{{ role }}<|im_end|>"}))
        # The shipped tokenizer has no such tokens: an error says so.
        self.refused(run("complete", "--model", model, "--chat", "--text",
                         "Hi"), "<|im_start|>", "control token")
        self.path("model/chat_template.jinja", "{{ strange }}")
        self.refused(run("complete", "--model", model, "--chat", "--text",
                         "Hi"), "chat_template.jinja", "does not show what the user")
        plain = run("complete", "--model", model, "--chat", "--template",
                    "plain", "--text", PROMPT, "--temperature", "0")
        self.assertEqual(plain.stdout, complete("--temperature", "0").stdout)

    def test_any_other_template_is_run(self):
        model = self.copy_of_model()
        self.path("model/chat_template.jinja",
                  "{% for m in messages %}{{ m.role | upper }}: {{ m.content }}"
                  "\n{% endfor %}{% if add_generation_prompt %}A:{% endif %}")
        chat = run("complete", "--model", model, "--chat", "--system", "Short.",
                   "--text", "Hi", "--temperature", "0")
        self.assertEqual(chat.returncode, 0, chat.stderr)
        self.assertEqual(chat.stdout,
                         complete("--temperature", "0",
                                  text="SYSTEM: Short.\nUSER: Hi\nA:").stdout)

    def test_wrong_input(self):
        self.refused(complete(text=""), "at least one token")
        self.refused(complete("--temperature", "-1"), "temperature")
        self.refused(complete("--top-p", "0"), "--top-p")
        self.refused(complete("-n", "0"), "-n")
        self.refused(complete("--max-tokens", "0"), "--max-tokens")
        self.refused(complete("--stop", ""), "--stop")
        self.refused(complete("--system", "x"), "--chat")
        self.refused(complete("--file", "x"), "--file")
        self.refused(complete("--chat", "--template", "lama3"), "llama3")
        self.refused(run("complete", "--text", "x"), "--model")
        self.refused(run("complete", "--model", self.folder, "--text", "x"),
                     "config.json")
        self.refused(run("complete", "--model", STORIES, "--file",
                         "/no/such/file"), "/no/such/file")
        self.refused(complete(text="shells " * 3000), "context")

    def test_bytes_that_are_no_text(self):
        path = os.path.join(self.folder, "bytes")
        with open(path, "wb") as handle:
            handle.write(b"a \xff\xfe\x00 has\n")
        result = run("complete", "--model", STORIES, "--file", path,
                     "--max-tokens", "8", "--json", "-n", "4")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(lines_of(result)), 4)

    def test_control_c_keeps_what_is_there(self):
        """A stream on a terminal, interrupted by Ctrl-C."""
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [PROGRAM, "complete", "--model", STORIES, "--text", PROMPT,
             "--max-tokens", "100000", "-n", "4000", "--temperature", "3"],
            stdout=subprocess.PIPE, stderr=slave, stdin=subprocess.DEVNULL,
            env=dict(os.environ, ESPALIER_ZOO=ZOO))
        os.close(slave)
        shown = b""
        while b"tokens" not in shown:
            shown += os.read(master, 4096)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out = process.stdout.read().decode(errors="replace")
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 130)
        os.close(master)
        self.assertIn("interrupted", out)
        self.assertEqual(len(re.findall(r"^== \d+ of 4000", out, re.M)), 4000)


class ScoreTest(ProgramTest):

    def check_sums(self, got):
        """The totals follow from the figures of the tokens."""
        logprobs = [t["logprob"] for t in got["tokens"]
                    if t["logprob"] is not None]
        self.assertEqual(got["scored"], len(logprobs))
        self.assertAlmostEqual(got["logprob"], math.fsum(logprobs), places=3)
        mean = math.fsum(logprobs) / len(logprobs)
        self.assertAlmostEqual(got["perplexity"] / math.exp(-mean), 1,
                               places=5)
        return logprobs

    def test_perplexity_is_that_of_the_tokens(self):
        result = score("--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        got = json.loads(result.stdout)
        self.check_sums(got)
        self.assertIsNone(got["tokens"][0]["logprob"])
        self.assertEqual("".join(t["text"] for t in got["tokens"]), PROMPT)
        size = len(PROMPT) - len(got["tokens"][0]["text"])
        self.assertAlmostEqual(
            got["bits_per_byte"], -got["logprob"] / math.log(2) / size,
            places=5)
        plain = score()
        self.assertIn(f"perplexity {got['perplexity']:.4f}", plain.stdout)

    def test_agrees_with_what_complete_says_of_its_tokens(self):
        """Another path through the model: token by token against one pass."""
        for one in lines_of(complete("-n", "4", "--json", "--seed", "1",
                                     "--stop", "= ")):
            # The tokens include the stop string, the text does not.
            text = PROMPT + one["text"] + "= "
            got = json.loads(score("--json", text=text).stdout)
            tail = got["tokens"][-len(one["tokens"]):]
            if [t["token"] for t in tail] != one["tokens"]:
                continue  # the model tokenised the text differently
            for told, drawn in zip(tail, one["logprobs"]):
                self.assertAlmostEqual(told["logprob"], drawn, delta=1e-4)
            break
        else:
            self.fail("no continuation was cut into the same tokens")

    def test_windows_score_every_token_once(self):
        text = PROMPT * 6
        whole = json.loads(score("--json", text=text).stdout)
        for context, stride in ((64, 1), (64, 16), (64, 63), (33, 20), (2, 1)):
            got = json.loads(score("--json", "--context", str(context),
                                   "--stride", str(stride), text=text).stdout)
            self.check_sums(got)
            self.assertEqual([t["token"] for t in got["tokens"]],
                             [t["token"] for t in whole["tokens"]])
            # The first window has the same context as the whole text.
            for a, b in list(zip(got["tokens"], whole["tokens"]))[1:context]:
                self.assertAlmostEqual(a["logprob"], b["logprob"], delta=1e-4)

    def test_a_window_sees_what_is_in_it_and_no_more(self):
        """The last token of a window against the window as its own text."""
        text = PROMPT * 4
        got = json.loads(score("--json", "--context", "40", "--stride", "20",
                               text=text).stdout)["tokens"]
        window = "".join(t["text"] for t in got[20:60])
        alone = json.loads(score("--json", text=window).stdout)["tokens"]
        self.assertEqual([t["token"] for t in alone],
                         [t["token"] for t in got[20:60]])
        for a, b in zip(alone[20:], got[40:60]):
            self.assertAlmostEqual(a["logprob"], b["logprob"], delta=1e-4)

    def test_a_text_longer_than_the_context(self):
        result = score("--json", text=PROMPT * 60)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.check_sums(json.loads(result.stdout))

    def test_text_from_a_file_or_standard_input(self):
        path = self.path("text", PROMPT)
        wanted = json.loads(score("--json").stdout)["tokens"]
        result = run("score", "--model", STORIES, "--file", path, "--json")
        self.assertEqual(json.loads(result.stdout)["tokens"], wanted)
        with open(path, encoding="utf-8") as handle:
            result = run("score", "--model", STORIES, "--file", "-", "--json",
                         stdin=handle)
        self.assertEqual(json.loads(result.stdout)["tokens"], wanted)

    def test_wrong_input(self):
        self.refused(score(text=""), "at least two")
        self.refused(score(text="a"), "at least two")
        self.refused(score("--context", "1"), "window of 1")
        self.refused(score("--context", "1000000"), "context length")
        self.refused(score("--context", "8", "--stride", "8"), "1 to 7")
        self.refused(score("--stride", "-1"), "--stride")
        self.refused(run("score", "--model", STORIES, "--file", "/no/file"),
                     "/no/file")
        self.refused(run("score", "--text", "x"), "--model")


if __name__ == "__main__":
    unittest.main()
