"""Runs the espalier program end to end: right input, wrong input, Ctrl-C.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import fcntl
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PROGRAM = os.environ.get("ESPALIER_PROGRAM",
                         os.path.join(ROOT, "build", "espalier"))
ZOO = os.path.join(ROOT, "models", "zoo")
STORIES = os.path.join(ZOO, "stories")
SLOW = "ESPALIER_SLOW" in os.environ  # a sanitizer's build
STORY = ("Ann has 23 shells. She finds 48 more. She gives 17 to Tom. "
         "How many shells does Ann have now?")


def run(*arguments, **options):
    environment = dict(options.pop("env", os.environ), ESPALIER_ZOO=ZOO)
    return subprocess.run([PROGRAM, *arguments], capture_output=True,
                          text=True, timeout=300, env=environment,
                          stdin=options.pop("stdin", subprocess.DEVNULL),
                          check=False, **options)


class ProgramTest(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name, text=None):
        path = os.path.join(self.folder, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as handle:
                handle.write(text)
        return path

    def copy_of_model(self):
        model = self.path("model")
        shutil.copytree(STORIES, model)
        return model

    def refused(self, result, *words):
        """One clear error, a non-zero exit, and nothing on stdout."""
        self.assertNotEqual(result.returncode, 0, result.stdout)
        self.assertGreater(result.returncode, 0, "killed by a signal")
        self.assertEqual(result.stdout, "")
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertLess(len(result.stderr.splitlines()), 6, result.stderr)


class WrongInputTest(ProgramTest):

    def test_missing_model_folder(self):
        self.refused(run("solve", STORY, "--model", "/no/such/folder"),
                     "/no/such/folder")

    def test_files_of_another_kind_are_named(self):
        model = self.copy_of_model()
        weights = os.path.join(model, "model.safetensors")
        pointer = ("version https://git-lfs.github.com/spec/v1\n"
                   "oid sha256:00\nsize 12345\n")
        with open(weights, "w", encoding="utf-8") as handle:
            handle.write(pointer)
        self.refused(run("solve", STORY, "--model", model), "Git LFS",
                     "git lfs pull")
        self.refused(run("eval", "--set", self.path("set.jsonl", pointer)),
                     "Git LFS")
        self.refused(run("eval", "--set", self.path("a.parquet", "PAR1PAR1")),
                     "Parquet", "to_json")
        os.remove(weights)
        os.mkfifo(weights)
        self.refused(run("solve", STORY, "--model", model), "special file")
        for name in ("meta-llama/Llama-3.2-1B",
                     "https://huggingface.co/meta-llama/Llama-3.2-1B"):
            self.refused(run("solve", STORY, "--model", name),
                         "hf download meta-llama/Llama-3.2-1B")
        self.refused(run("solve", STORY, "--model", "https://a.org/model"),
                     "server", "--tokenizer")

    def test_folder_without_a_model(self):
        self.refused(run("solve", STORY, "--model", self.folder),
                     "config.json")

    def test_truncated_safetensors(self):
        model = self.copy_of_model()
        weights = os.path.join(model, "model.safetensors")
        for size in (0, 5, 100, os.path.getsize(weights) - 7):
            os.truncate(weights, size)
            self.refused(run("solve", STORY, "--model", model),
                         "model.safetensors")
            shutil.copy(os.path.join(STORIES, "model.safetensors"), weights)

    def test_wrong_shapes(self):
        model = self.copy_of_model()
        config = os.path.join(model, "config.json")
        with open(config, encoding="utf-8") as handle:
            values = json.load(handle)
        values["intermediate_size"] *= 2
        self.path("model/config.json", json.dumps(values))
        self.refused(run("solve", STORY, "--model", model), "shape",
                     "model.safetensors")

    def test_config_that_is_not_json(self):
        model = self.copy_of_model()
        self.path("model/config.json", "{\"hidden_size\": ")
        self.refused(run("solve", STORY, "--model", model), "config.json")

    def test_malformed_json_line_is_named(self):
        lines = ['{"question": "1+1?", "answer": "2"}'] * 6 + ['{"question": ']
        path = self.path("set.jsonl", "\n".join(lines) + "\n")
        self.refused(run("eval", "--set", path, "--model", STORIES,
                         "--strict"), "set.jsonl:7", "not JSON")

    def test_missing_question_file(self):
        self.refused(run("solve", "--file", "/no/such/file"), "/no/such/file")

    def test_empty_question(self):
        for question in ("", " ", "\n\t"):
            self.refused(run("solve", question, "--model", STORIES,
                             "--task", "qa"), "question is empty")

    def test_zero_budget(self):
        self.refused(run("solve", STORY, "--budget-tokens", "0"), "budget")
        self.refused(run("eval", "--set", "stories:easy", "--budget-tokens",
                         "0"), "--budget-tokens: 0: expected")
        self.refused(run("solve", STORY, "--budget-tokens", "-5"),
                     "--budget-tokens", "0 or more")

    def test_unknown_method_names_the_nearest(self):
        self.refused(run("solve", STORY, "--search", "bem"), '"beam"')

    def test_unknown_option_of_a_method_names_the_nearest(self):
        self.refused(run("solve", STORY, "--search", "beam:widht=2"),
                     "width")

    def test_unknown_set_names_the_nearest(self):
        self.refused(run("eval", "--set", "stories:hrad"), "stories:hard")

    def test_a_model_without_heads_is_refused_before_work(self):
        model = self.copy_of_model()
        weights = os.path.join(model, "model.safetensors")
        with open(weights, "rb") as handle:
            size = struct.unpack("<Q", handle.read(8))[0]
            header, body = json.loads(handle.read(size)), handle.read()
        kept, data = {}, b""
        for name, tensor in header.items():
            if name.startswith("reward_head"):
                continue
            if name != "__metadata__":
                begin, end = tensor["data_offsets"]
                tensor = dict(tensor, data_offsets=[
                    len(data), len(data) + end - begin])
                data += body[begin:end]
            kept[name] = tensor
        text = json.dumps(kept).encode()
        with open(weights, "wb") as handle:
            handle.write(struct.pack("<Q", len(text)) + text + data)
        with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        del config["espalier_heads"]
        self.path("model/config.json", json.dumps(config))
        result = run("eval", "--set", "stories:easy", "--limit", "2", "--model",
                     model, "--methods", "greedy,beam,puct", "--budget-tokens",
                     "200")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, "")
        self.assertIn("method beam scores steps", result.stderr)
        self.assertIn("method puct scores steps", result.stderr)

    def test_comparison_with_a_method_that_is_not_run(self):
        self.refused(run("eval", "--set", "stories:easy", "--methods",
                         "greedy", "--compare", "beam"), "--compare beam")

    def test_pass_at_what_cannot_be(self):
        def eval_easy(*extra):
            return run("eval", "--set", "stories:easy", *extra)
        self.refused(eval_easy("--pass-at", "0"), "--pass-at: 0")
        self.refused(eval_easy("--pass-at", "1,-2"), "--pass-at: -2")
        self.refused(eval_easy("--pass-at", "1,8", "--samples", "4"),
                     "--samples 4", "at least 8")
        self.refused(eval_easy("--pass-at", "2", "--methods", "sample,beam"),
                     "one method", "sample,beam")
        self.refused(eval_easy("--pass-at", "2", "--budget-tokens", "90,99"),
                     "one method and at most one budget")
        self.refused(eval_easy("--pass-at", "2", "--methods", "greedy"),
                     "--methods sample")
        self.refused(eval_easy("--pass-at", "2", "--methods",
                               "sample:temperature=0"), "--methods sample")
        self.refused(eval_easy("--pass-at", "2", "--seeds", "2"), "--seeds")
        self.refused(eval_easy("--samples", "2"), "--pass-at")

    def test_verifiers_that_a_task_lacks_are_refused_at_once(self):
        self.refused(
            run("eval", "--set", "stories:easy", "--limit", "2", "--methods",
                "greedy,preset=deepsearch,puct:verify=true",
                "--budget-tokens", "200"),
            "deepsearch", "needs a verifier", "omit")
        made = self.path("made.db")
        self.refused(
            run("generate", "--out", made, "--set", "stories:easy", "--limit",
                "2", "--search", "preset=deepsearch"),
            "needs a verifier")
        self.assertFalse(os.path.exists(made))

    def test_filters_of_samples_reach_the_sampler(self):
        def steps(*arguments):
            row = json.loads(run("solve", STORY, "--json",
                                 *arguments).stdout)
            return [step["text"] for step in row["steps"]]
        greedy = steps("--search", "greedy")
        for only in (("--top-k", "1"), ("--top-p", "0.000001"),
                     ("--min-p", "1")):
            for seed in range(3):
                self.assertEqual(greedy, steps(
                    "--search", "sample:temperature=3", "--seed", str(seed),
                    *only))
        self.assertNotEqual(greedy, steps("--search", "sample:temperature=3"))
        self.refused(run("solve", STORY, "--top-p", "7"), "--top-p",
                     "above 0 up to 1")

    def test_several_models_need_several_checkpoints(self):
        several = "ab_mcts_a:models=2"
        self.refused(run("solve", STORY, "--search", several),
                     "models=2", "--more-models")
        other = os.path.join(ZOO, "countdown")
        self.refused(run("solve", STORY, "--search", several,
                         "--more-models", other),
                     other, "share the policy's tokenizer")
        solved = run("solve", STORY, "--search", several, "--json",
                     "--more-models", STORIES)
        self.assertEqual(solved.returncode, 0, solved.stderr)
        self.assertTrue(json.loads(solved.stdout)["answer"])

    def test_unknown_flag_and_command(self):
        self.refused(run("solve", STORY, "--no-such-flag"), "no-such-flag")
        self.refused(run("slove"), "slove", '"solve"')

    def test_question_longer_than_the_context(self):
        question = STORY + " She finds 2 more." * 2000
        result = run("solve", question, "--model", STORIES)
        self.assertEqual(result.returncode, 1)
        self.assertIn("context", result.stdout + result.stderr)

    def test_too_long_question_does_not_spoil_the_others(self):
        long_one = STORY + " She finds 2 more." * 2000
        path = self.path("questions.txt", f"{STORY}\n{long_one}\n{STORY}\n")
        result = run("solve", "--file", path, "--model", STORIES, "--json")
        self.assertEqual(result.returncode, 1)
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([bool(row["error"]) for row in rows],
                         [False, True, False])
        self.assertEqual(rows[0]["answer"], rows[2]["answer"])

    def test_results_that_cannot_be_written(self):
        result = run("eval", "--set", "stories:easy", "--limit", "2",
                     "--methods", "greedy", "--json", "/no/such/folder/r.json")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/no/such/folder", result.stderr)


class SolveTest(ProgramTest):

    def test_answers_in_time_with_every_method(self):
        for method in ("auto", "greedy", "sample", "majority", "best_of_n",
                       "weighted", "beam", "guided", "puct"):
            start = time.time()
            result = run("solve", STORY, "--search", method, "--json")
            seconds = time.time() - start
            self.assertEqual(result.returncode, 0, result.stderr)
            row = json.loads(result.stdout)
            self.assertLessEqual(row["tokens"], 600)
            self.assertGreater(len(row["steps"]), 0)
            if not SLOW:
                self.assertLess(seconds, 3, method)

    def test_any_text_can_be_asked(self):
        for question in ("Сколько будет 2+2?", "日本語の質問", "\x01\x7f",
                         "🎲" * 50, "a" * 1500):
            result = run("solve", question, "--task", "qa", "--model",
                         STORIES, "--search", "beam", "--json")
            self.assertEqual(result.returncode, 0, result.stderr)
            json.loads(result.stdout)

    def test_standard_input_is_one_question_or_one_a_line(self):
        broken = STORY.replace(". ", ".\n")
        answers = []
        for text, arguments in ((STORY, ()), (broken + "\n", ()),
                                (f"{STORY}\n\n{STORY}\n", ("--lines",))):
            with open(self.path("in.txt", text), encoding="utf-8") as handle:
                result = run("solve", "--json", *arguments, stdin=handle)
            self.assertEqual(result.returncode, 0, result.stderr)
            answers.append([json.loads(line)["answer"]
                            for line in result.stdout.splitlines()])
        self.assertEqual(len(answers[0]), 1)
        self.assertEqual(answers[1], answers[0])
        self.assertEqual(answers[2], answers[0] * 2)

    def test_the_default_budget_is_eight_greedy_responses(self):
        greedy = json.loads(run("solve", STORY, "--search", "greedy",
                                "--json").stdout)
        result = run("solve", STORY, "--search", "majority", "--json")
        self.assertIn(f"budget {8 * greedy['tokens']} tokens", result.stderr)
        self.assertLessEqual(json.loads(result.stdout)["tokens"],
                             8 * greedy["tokens"])
        measured = run("eval", "--set", "stories:easy", "--limit", "2",
                       "--methods", "greedy", "--json", "-")
        self.assertRegex(measured.stderr, r"eval: budget \d+ tokens")
        row = json.loads(measured.stdout)["results"][0]
        self.assertIn(f"budget {row['budget_tokens']} tokens", measured.stderr)

    def test_a_puzzle_is_put_to_the_countdown_model(self):
        result = run("solve", "--set", "countdown:3", "--json",
                     "--budget-tokens", "600")
        row = json.loads(result.stdout)
        self.assertEqual(result.returncode, 0 if row["correct"] else 4,
                         result.stderr)
        self.assertIn("Use ", row["question"])
        self.assertRegex(row["steps"][0]["text"],
                         r"^\d+[-+*/]\d+=\d+ |^give up")

    def test_without_search_the_method_is_what_the_evidence_justifies(self):
        default, guided, greedy = (
            json.loads(run("solve", STORY, "--json", *extra).stdout)
            for extra in ([], ["--search", "guided"], ["--search", "greedy"]))
        for key in ("response", "tokens", "nodes", "score"):
            self.assertEqual(default[key], guided[key])
        self.assertNotEqual(default["tokens"], greedy["tokens"])

    def test_tree_is_shown(self):
        result = run("solve", STORY, "--search", "beam", "--show-tree")
        self.assertIn("tree: ", result.stdout)
        self.assertIn("drawn", result.stdout)

    def test_watched_or_not_a_search_finds_the_same(self):
        plain, watched = (run("solve", STORY, "--search", "puct", "--json",
                              "--budget-tokens", "600", *extra) for extra in ([], ["--watch"]))
        self.assertEqual(watched.returncode, 0, watched.stderr)
        rows = [json.loads(result.stdout) for result in (plain, watched)]
        for row in rows:
            row.pop("seconds")
        self.assertEqual(rows[0], rows[1])
        self.assertEqual(plain.stderr, "")
        self.assertRegex(watched.stderr,
                         r"^question 1/1  \d+ tokens  \d+/s  \d+ nodes")
        self.assertNotIn("\x1b", watched.stderr)

    def test_drafts_change_what_is_computed_and_no_tree(self):
        rows = []
        for drafts in ("on", "off"):
            result = run("solve", STORY, "--search", "puct", "--json",
                         "--budget-tokens", "600", "--drafts", drafts)
            self.assertEqual(result.returncode, 0, result.stderr)
            rows.append(json.loads(result.stdout))
            rows[-1].pop("seconds")
        counts = [[row.pop(key) for key in (
            "tokens_drafted", "drafts_accepted", "tokens_computed", "tokens_needed")]
            for row in rows]
        self.assertEqual(rows[0], rows[1])
        drafted, accepted, computed, needed = counts[0]
        self.assertGreater(accepted, 100)
        self.assertGreater(drafted, accepted)
        self.assertEqual(counts[1][:2], [0, 0])
        # Beside wrong guesses at most last tokens of steps that nobody scored.
        more = computed - counts[1][2]
        self.assertGreaterEqual(more, drafted - accepted)
        self.assertLessEqual(more, drafted - accepted + needed - counts[1][3])
        shown = run("solve", STORY, "--search", "puct", "--budget-tokens", "600")
        self.assertIn(f", {accepted} of {drafted} drafts so far right, ", shown.stdout)
        table = run("eval", "--set", "stories:easy", "--limit", "3", "--methods", "majority",
                    "--budget-tokens", "200")
        self.assertRegex(table.stdout, r"drafts accepted: \d+ of \d+ tokens \(0\.\d\d\)")

    def test_a_terminal_sees_the_tree_grow(self):
        tokens = "4000" if SLOW else "20000"
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 12, 60, 0, 0))
        process = subprocess.Popen(
            [PROGRAM, "solve", STORY, "--search", "puct", "--watch",
             "--budget-tokens", tokens],
            stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
            env=dict(os.environ, ESPALIER_ZOO=ZOO, TERM="xterm"))
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(ours, 65536):
                seen += piece
        except OSError:  # the other side was closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 0)
        text = seen.decode("utf-8")
        pictures, end = text.rsplit("\x1b[J", 1)
        self.assertIn("\x1b[K", pictures)
        self.assertIn("first steps", pictures)
        self.assertIn("question 1/1", pictures)
        for line in re.split(r"[\r\n]+", pictures):
            self.assertLessEqual(len(re.sub(r"\x1b\[[0-9]*[A-Z]", "", line)),
                                 60)
        plain = run("solve", STORY, "--search", "puct", "--budget-tokens",
                    tokens).stdout
        times = r"\d+\.\d\d s\)"
        self.assertEqual(re.sub(times, "", end.replace("\r\n", "\n")),
                         re.sub(times, "", plain))

    def test_budgets_and_stops(self):
        def solve(*extra):
            result = run("solve", STORY, "--search", "majority", "--json",
                         "--budget-tokens", "0", *extra)
            self.assertEqual(result.returncode, 0, result.stderr)
            return json.loads(result.stdout)
        row = solve("--budget-model-calls", "9")
        self.assertEqual((row["model_calls"], row["stop_reason"]),
                         (9, "budget of 9 model calls is spent"))
        self.assertIn("budget of 2048 bytes",
                      solve("--budget-bytes", "2k")["stop_reason"])
        row = solve("--budget-simulations", "400", "--stop-when",
                    "confidence=0.5,responses=3,decided")
        self.assertRegex(row["stop_reason"], "confidence|cannot win")
        self.assertNotEqual(row["answer"], "")

    def test_wrong_stops(self):
        self.refused(run("solve", STORY, "--stop-when", "confidnce=1"),
                     "stop-when", '"confidence"')
        self.refused(run("solve", STORY, "--stop-when", "kl"), "kl")
        self.refused(run("solve", STORY, "--budget-bytes", "many"),
                     "budget-bytes")
        self.refused(run("eval", "--set", "stories:easy", "--stop-when",
                         "decidd"), '"decided"')

    def test_a_reward_trunk_of_its_own_scores_as_the_shared_heads(self):
        critic = self.copy_of_model()
        for method in ("beam", "puct", "weighted"):
            rows = []
            for extra in ([], ["--reward-model", critic]):
                result = run("solve", STORY, "--search", method, "--json",
                             "--model", STORIES, *extra)
                self.assertEqual(result.returncode, 0, result.stderr)
                row = json.loads(result.stdout)
                rows.append((row["response"], row["score"], row["tokens"],
                             row["nodes"]))
            self.assertEqual(rows[0], rows[1], method)

    def test_reward_model_without_heads_is_refused(self):
        critic = self.copy_of_model()
        config = os.path.join(critic, "config.json")
        with open(config, encoding="utf-8") as handle:
            values = json.load(handle)
        del values["espalier_heads"]
        self.path("model/config.json", json.dumps(values))
        result = run("solve", STORY, "--search", "beam", "--model", STORIES,
                     "--reward-model", critic)
        self.refused(result, "reward_head")

    def test_reward_model_may_have_another_tokenizer(self):
        critic = self.copy_of_model()
        place = os.path.join(critic, "tokenizer.json")
        with open(place, encoding="utf-8") as handle:
            values = json.load(handle)
        vocab = values["model"]["vocab"]
        vocab["a"], vocab["b"] = vocab["b"], vocab["a"]
        self.path("model/tokenizer.json", json.dumps(values))
        search = ["solve", STORY, "--search", "beam", "--model", STORIES]
        result = run(*search, "--reward-model", critic)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotEqual(result.stdout, run(*search).stdout)
        # A further generating model reads the policy's tokens.
        result = run("solve", STORY, "--search", "ab_mcts_m:models=2",
                     "--model", STORIES, "--more-models", critic)
        self.refused(result, '"b" in it and "a" in the policy')


class EvalTest(ProgramTest):

    def test_table_and_json_agree(self):
        path = self.path("r.json")
        result = run("eval", "--set", "stories:easy", "--limit", "20",
                     "--methods", "greedy,majority,beam", "--budget-tokens",
                     "100,200", "--json", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(path, encoding="utf-8") as handle:
            rows = json.load(handle)["results"]
        self.assertEqual(len(rows), 6)
        for row in rows:
            for key in ("set", "method", "budget_tokens", "n", "accuracy",
                        "ci_low", "ci_high", "tokens_per_problem",
                        "prompt_tokens", "reward_tokens", "model_calls",
                        "seconds", "seed", "ids", "correct"):
                self.assertIn(key, row)
            self.assertEqual(len(row["correct"]), 20)
            self.assertAlmostEqual(row["accuracy"], sum(row["correct"]) / 20)
            self.assertLessEqual(row["tokens_per_problem"],
                                 row["budget_tokens"])

    def peak_kib(self, *arguments):
        """The program's peak memory and its result."""
        command = ("import resource, subprocess, sys; "
                   "subprocess.run(sys.argv[1:], check=True, "
                   "stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); "
                   "print(resource.getrusage("
                   "resource.RUSAGE_CHILDREN).ru_maxrss)")
        out = subprocess.run(
            ["python3", "-c", command, PROGRAM, *arguments], check=True,
            capture_output=True, text=True, timeout=300,
            env=dict(os.environ, ESPALIER_ZOO=ZOO)).stdout
        return int(out)

    @unittest.skipIf(SLOW, "a sanitizer's memory says nothing")
    def test_memory_does_not_grow_with_the_set(self):
        # Two bits per row and problem stay in memory; what else is in the
        # JSON lies in a temporary file. Drafts keep what they have seen, up to
        # some 10 MB.
        def kib_per_problem():
            few, many = [
                self.peak_kib("eval", "--set", "stories:easy", "--limit", limit,
                              "--methods", "greedy,majority", "--compare",
                              "greedy", "--budget-tokens", "2", "--threads",
                              "2", "--kv-mib", "4", "--live", "4", "--drafts",
                              "off", "--json", self.path(f"{limit}.json"),
                              "--force")
                for limit in ("1200", "11200")]
            return (many - few) / 10000
        # Beside other programs a peak may be some pages higher.
        least = kib_per_problem()
        for _ in range(2):
            if least >= 0.06:
                least = min(least, kib_per_problem())
        self.assertLess(least, 0.06)
        with open(self.path("11200.json"), encoding="utf-8") as handle:
            for row in json.load(handle)["results"]:
                for key in ("ids", "answers", "stages", "correct"):
                    self.assertEqual(len(row[key]), 11200)

    def test_a_set_that_changes_while_it_is_read_is_an_error(self):
        path = self.path("q.jsonl", "".join(
            json.dumps({"question": STORY, "answer": "54"}) + "\n"
            for _ in range(300)))
        with subprocess.Popen(
                [PROGRAM, "eval", "--set", path, "--task", "stories",
                 "--methods", "sample", "--seeds", "200", "--budget-tokens",
                 "400"],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env=dict(os.environ, ESPALIER_ZOO=ZOO)) as process:
            first = process.stderr.readline()  # progress: it is running
            self.assertIn("eval ", first)
            with open(path, "a", encoding="utf-8") as handle:
                handle.write('{"question": "One more?", "answer": "1"}\n')
            out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("has changed since it was first read", err)
        self.assertIn("sample", out)  # finished rows are kept

    def test_a_set_from_a_pipe_is_read_once(self):
        lines = "".join(json.dumps({"question": STORY, "answer": "54",
                                    "id": str(i)}) + "\n" for i in range(3))
        command = (f"{PROGRAM} eval --set <(cat {self.path('q', lines)}) "
                   "--task stories --methods greedy,majority "
                   "--budget-tokens 100 --json")
        result = subprocess.run(["bash", "-c", command], capture_output=True,
                                text=True, timeout=300, check=False,
                                env=dict(os.environ, ESPALIER_ZOO=ZOO))
        self.assertEqual(result.returncode, 0, result.stderr)
        for row in json.loads(result.stdout)["results"]:
            self.assertEqual(row["n"], 3)

    def test_comparisons_are_paired(self):
        path = self.path("r.json")
        result = run("eval", "--set", "stories:middle", "--limit", "30",
                     "--methods", "sample,greedy", "--compare", "greedy",
                     "--json", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("greedy against sample", result.stdout)
        with open(path, encoding="utf-8") as handle:
            report = json.load(handle)
        sample, greedy = report["results"]
        found, = report["comparisons"]
        self.assertAlmostEqual(found["difference"],
                               greedy["accuracy"] - sample["accuracy"])
        self.assertLessEqual(found["ci_low"], found["difference"])
        self.assertLessEqual(found["difference"], found["ci_high"])

    def test_pass_at_k_counts_independent_responses(self):
        path = self.path("r.json")
        reports = []
        n = 8 if SLOW else 30
        # Under a sanitizer the second run finds nothing new.
        for _ in range(1 if SLOW else 2):
            result = run("eval", "--set", "stories:middle", "--limit", str(n),
                         "--pass-at", "4,1", "--samples", "6", "--json", path,
                         "--force")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("6 responses per problem", result.stdout)
            with open(path, encoding="utf-8") as handle:
                reports.append(json.load(handle))
            reports[-1].pop("seconds")
        self.assertEqual(reports[0], reports[-1])
        report = reports[0]
        self.assertEqual(report["method"], "sample")
        self.assertEqual(report["responses"], [6] * n)
        one, four = report["pass_at"]
        self.assertEqual((one["k"], four["k"]), (1, 4))
        self.assertAlmostEqual(one["share"], sum(report["right"]) / (6 * n))
        self.assertGreater(four["share"], one["share"])
        for at in (one, four):
            self.assertLess(at["ci_low"], at["share"])
            self.assertLess(at["share"], at["ci_high"])
        # Seeds differ: for most problems neither all nor no responses are
        # right.
        self.assertGreater(sum(0 < c < 6 for c in report["right"]), n / 6)
        # The same responses, one seed each.
        rows = self.path("rows.json")
        result = run("eval", "--set", "stories:middle", "--limit", str(n),
                     "--methods", "sample", "--seeds", "6", "--json", rows)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(rows, encoding="utf-8") as handle:
            rows = json.load(handle)["results"]
        self.assertEqual([sum(c) for c in zip(*(
            [right for _, right in sorted(zip(row["ids"], row["correct"]))]
            for row in rows))],
                         [right for _, right in sorted(zip(
                             report["ids"], report["right"]))])
        self.assertAlmostEqual(sum(row["tokens_per_problem"] for row in rows),
                               report["tokens_per_problem"])

    def test_pass_at_k_reports_problems_that_fail(self):
        long_one = STORY + " She finds 2 more." * 2000
        set_file = self.path("set.jsonl", "".join(
            json.dumps({"question": q, "answer": "54"}) + "\n"
            for q in (STORY, long_one)))
        path = self.path("r.json")
        result = run("eval", "--set", set_file, "--model", STORIES,
                     "--pass-at", "2", "--json", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("context", result.stderr)
        with open(path, encoding="utf-8") as handle:
            report = json.load(handle)
        self.assertEqual(len(report["errors"]), 1)
        self.assertEqual(report["n"], 2)
        self.assertEqual(report["right"][1], 0)

    def test_oracle_rows_are_marked(self):
        path = self.path("r.json")
        result = run("eval", "--set", "stories:hard", "--limit", "5",
                     "--methods", "beam", "--oracle", "--json", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("oracle", result.stdout)
        with open(path, encoding="utf-8") as handle:
            self.assertTrue(json.load(handle)["results"][0]["oracle"])

    def test_same_seed_same_results(self):
        rows = []
        for threads, live in (("1", "1"), ("2", "32")):
            path = self.path("r.json")
            result = run("eval", "--set", "stories:middle", "--limit",
                         "4" if SLOW else "10",
                         "--methods", "weighted,beam,puct", "--budget-tokens",
                         "300", "--threads", threads, "--live", live,
                         "--json", path, "--force")
            self.assertEqual(result.returncode, 0, result.stderr)
            with open(path, encoding="utf-8") as handle:
                rows.append([(row["method"], row["correct"],
                              row["tokens_per_problem"], row["answers"])
                             for row in json.load(handle)["results"]])
        self.assertEqual(rows[0], rows[1])

    def test_gsm8k_as_published(self):
        data = os.environ.get("ESPALIER_DATA", "")
        path = os.path.join(data, "math", "gsm8k_test.jsonl")
        if not os.path.exists(path):
            path = self.path("gsm8k.jsonl", json.dumps({
                "question": "Tom has 3 pens and buys 4. How many has he?",
                "answer": "3+4=<<3+4=7>>7\n#### 7"}) + "\n")
        result = run("eval", "--set", path, "--limit", "10", "--model",
                     STORIES, "--methods", "greedy,beam", "--budget-tokens",
                     "100")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("greedy", result.stdout)

    def test_interrupt_keeps_what_was_done(self):
        path = self.path("r.json")
        process = subprocess.Popen(
            [PROGRAM, "eval", "--set", "stories:hard", "--limit", "3000",
             "--methods", "beam", "--budget-tokens", "700", "--json", path],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=dict(os.environ, ESPALIER_ZOO=ZOO))
        # After it reports a finished problem, however slow the build is.
        for line in process.stderr:
            if re.search(r"\b[1-9]\d*/\d+ problems", line):
                break
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, stderr)
        with open(path, encoding="utf-8") as handle:
            row = json.load(handle)["results"][0]
        self.assertFalse(row["complete"])
        self.assertGreater(row["n"], 0)


class StepsTest(ProgramTest):

    def test_report(self):
        path = self.path("steps.json")
        result = run("steps", "--set", "stories:middle", "--limit", "20",
                     "--json", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(path, encoding="utf-8") as handle:
            report = json.load(handle)
        self.assertGreater(report["prefixes"], 50)
        self.assertGreaterEqual(report["any_right"], report["chosen_right"])
        self.assertGreater(report["path_auc"], 0.5)


if __name__ == "__main__":
    unittest.main()
