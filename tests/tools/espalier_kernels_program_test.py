"""Runs doctor and solve on every kernel path of this machine, by
ESPALIER_KERNELS.

ESPALIER_PROGRAM names the program (ctest sets it)."""

import os
import re
import unittest

from espalier_program_test import STORY, ProgramTest, run


def on(kernels, *arguments):
    environment = dict(os.environ)
    environment.pop("ESPALIER_KERNELS", None)
    if kernels:
        environment["ESPALIER_KERNELS"] = kernels
    return run(*arguments, env=environment)


class KernelsTest(ProgramTest):

    def test_an_unknown_path_is_refused_with_those_that_there_are(self):
        for command in (("doctor",), ("solve", STORY)):
            self.refused(on("neon9", *command), "ESPALIER_KERNELS=neon9",
                         "plain")

    def available(self):
        told = on("neon9", "solve", STORY).stderr
        paths = re.search(r"the kernel paths (.*), and of plain the "
                          r"instruction sets ([^.]*)\.", told)
        self.assertTrue(paths, told)
        return paths.group(1).split(", "), paths.group(2).split(", ")

    def test_doctor_names_the_path_that_is_forced(self):
        paths, vectors = self.available()
        self.assertEqual(paths[-1], "plain")

        def line(kernels):
            result = on(kernels, "doctor")
            self.assertEqual(result.returncode, 0, result.stderr)
            return re.search(r"kernel path +(\S+), (\S+)",
                             result.stdout).groups()

        self.assertEqual(line(None)[0], paths[0])
        for path in paths:
            self.assertEqual(line(path)[0], path)
        for vector in vectors:
            self.assertEqual(line(vector), ("plain", vector.upper()))

    def test_every_path_solves_the_story(self):
        paths, vectors = self.available()
        for kernels in paths + vectors:
            result = on(kernels, "solve", STORY)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("answer: 54", result.stdout, kernels)


if __name__ == "__main__":
    unittest.main()
