"""Runs espalier --device end to end.

ESPALIER_PROGRAM names the program (ctest sets it); espalier-learn is next to
it, or is not built, as under the sanitizers."""

import json
import os
import shutil
import subprocess
import unittest

from espalier_program_test import (PROGRAM, STORIES, STORY, ZOO, ProgramTest,
                                   run)

LEARN = os.path.join(os.path.dirname(PROGRAM), "espalier-learn")
PROMPT = ("a Ann has 23 shells.\nb She finds 48 more.\nc She gives 17 to Tom.\n"
          "? How many shells does Ann have now?\n")


def complete(device, *more):
    return run("complete", "--model", STORIES, "--text", PROMPT, "--json",
               "--temperature", "0", "--weights", "fp32",
               "--device", device, *more)


def has_gpu():
    return complete("cuda").returncode == 0


class DeviceTest(ProgramTest):

    def test_an_unknown_device_is_refused_with_the_list(self):
        for command in (("complete", "--model", STORIES, "--text", "x"),
                        ("score", "--model", STORIES, "--text", "x"),
                        ("solve", STORY), ("eval", "--set", "stories:easy"),
                        ("generate", "--set", "stories:easy")):
            result = run(*command, "--device", "tpu")
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("tpu", result.stderr)
            self.assertIn("expected cpu, cuda", result.stderr)

    def test_a_program_without_its_neighbour_says_what_is_missing(self):
        alone = shutil.copy(PROGRAM, self.path("espalier"))
        for arguments in (("complete", "--device", "cuda"),
                          ("solve", "--device=torch-cpu", STORY),
                          ("train",)):
            result = subprocess.run([alone, *arguments], capture_output=True,
                                    text=True, timeout=60, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertIn("espalier-learn, which is not built",
                          result.stderr)
            self.assertIn("tools/dev build espalier-learn", result.stderr)
        # The device cpu needs no second program.
        result = subprocess.run(
            [alone, "solve", STORY, "--device", "cpu"], capture_output=True,
            text=True, timeout=300, check=False,
            env=dict(os.environ, ESPALIER_ZOO=ZOO))
        self.assertEqual(result.returncode, 0, result.stderr)


@unittest.skipUnless(os.path.exists(LEARN), "built without LibTorch")
class LibTorchTest(ProgramTest):

    def test_tensors_write_what_kernels_write(self):
        expected = json.loads(complete("cpu").stdout)
        devices = ["torch-cpu"] + (["cuda", "cuda:0"] if has_gpu() else [])
        for device in devices:
            result = complete(device)
            self.assertEqual(result.returncode, 0, result.stderr)
            found = json.loads(result.stdout)
            self.assertEqual(found["text"], expected["text"])
            self.assertEqual(found["tokens"], expected["tokens"])
            for a, b in zip(found["logprobs"], expected["logprobs"]):
                self.assertAlmostEqual(a, b, 3)

    def test_a_search_runs_on_tensors(self):
        result = run("solve", STORY, "--device=torch-cpu", "--json",
                     "--search", "beam")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("answer", json.loads(result.stdout))

    def test_score_and_its_errors_are_those_of_espalier(self):
        arguments = ("score", "--model", STORIES, "--text", PROMPT,
                     "--weights", "fp32", "--json")
        cpu = json.loads(run(*arguments).stdout)
        torch = run(*arguments, "--device", "torch-cpu")
        self.assertEqual(torch.returncode, 0, torch.stderr)
        self.assertAlmostEqual(json.loads(torch.stdout)["logprob"],
                               cpu["logprob"], 3)
        result = run("score", "--model", "/no/such", "--text", "x",
                     "--device", "torch-cpu")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/no/such", result.stderr)
        result = run("score", "--model", STORIES, "--no-such-flag", "--device",
                     "torch-cpu")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("--no-such-flag", result.stderr)

    def test_int8_weights_are_refused_there(self):
        result = run("complete", "--model", STORIES, "--text", "x",
                     "--weights", "int8", "--device", "torch-cpu")
        self.assertEqual(result.returncode, 1)
        self.assertIn("weights int8 on device torch-cpu", result.stderr)

    def test_a_gpu_that_there_is_not_is_a_clear_error(self):
        result = complete("cuda:63")
        self.assertEqual(result.returncode, 1)
        self.assertIn("device cuda", result.stderr)
        self.assertIn("use --device cpu" if not has_gpu() else "use one of",
                      result.stderr)


if __name__ == "__main__":
    unittest.main()
