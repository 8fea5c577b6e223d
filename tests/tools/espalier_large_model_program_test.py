"""The cost of large checkpoints: time to the first token, memory, refusal.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import os
import pathlib
import resource
import shutil
import subprocess
import time
import unittest

from espalier_program_test import PROGRAM, STORIES, ZOO, ProgramTest, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLOW = "ESPALIER_SLOW" in os.environ


def write_checkpoint(folder, *arguments):
    subprocess.run(["python3", ROOT / "tools/random_checkpoint.py", "--out",
                    folder, *arguments], check=True)
    shutil.copy(pathlib.Path(ZOO) / "stories/tokenizer.json", folder)


def file_bytes(folder):
    return sum(f.stat().st_size for f in pathlib.Path(folder).iterdir())


class FirstTokenTest(ProgramTest):

    def test_the_first_token_of_the_shipped_model_comes_within_a_second(self):
        best = None
        for _ in range(3):
            start = time.monotonic()
            result = run("complete", "--model", STORIES, "--text", "a",
                         "--max-tokens", "1")
            seconds = time.monotonic() - start
            self.assertEqual(result.returncode, 0, result.stderr)
            best = min(best or seconds, seconds)
        # Looser under sanitizers; other work on the machine is not measured.
        self.assertLess(best, 20 if SLOW else 1)
        print(f"figure: first token after {best:.2f} s")


class LongTest(ProgramTest):

    @unittest.skipUnless("ESPALIER_LONG" in os.environ, "ESPALIER_LONG=1 asks")
    def test_a_large_checkpoint_loads_fast_and_once(self):
        folder = os.path.join(self.folder, "qwen2")
        write_checkpoint(folder, "--preset", "qwen2-1.5b", "--shards", "4")
        size = file_bytes(folder)
        kv_mib = 64

        def answer():
            start = time.monotonic()
            result = run("complete", "--model", folder, "--text", "a",
                         "--max-tokens", "2", "--kv-mib", str(kv_mib))
            self.assertEqual(result.returncode, 0, result.stderr)
            return time.monotonic() - start

        first = answer()
        again = min(answer() for _ in range(2))
        # The maximum over all children so far; the writer is far smaller.
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        print(f"figure: {size / 1e9:.2f} GB in four shards: first run "
              f"{first:.1f} s, again {again:.1f} s to the second token; "
              f"memory {(peak - (kv_mib << 20)) / size:.3f} of the files "
              f"beside {kv_mib} MiB of keys and values")
        self.assertLess(again, 15)
        self.assertLess(peak, 1.1 * size + (kv_mib << 20))

        # With so little memory it is refused before it is read.
        start = time.monotonic()
        result = run("complete", "--model", folder, "--text", "a", "--kv-mib",
                     str(1 << 24))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("weights", result.stderr)
        self.assertLess(time.monotonic() - start, 2)


if __name__ == "__main__":
    unittest.main()
