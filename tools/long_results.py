#!/usr/bin/env python3
"""Stores the last outcome of every long test.

  tools/long_results.py JUNIT_FILE RESULTS_FILE COMMIT

JUNIT_FILE is the output of ctest --output-junit for a run of long tests.
RESULTS_FILE, JSON, has for each test its outcome, date, commit, seconds and
the figures it printed, one per line as "figure: kills 28 of 30, seed 11".
Tests that did not run keep their entry.
"""

import datetime
import json
import os
import sys
import xml.etree.ElementTree


def figures(output):
    lines = (line.strip() for line in output.splitlines())
    return [line.removeprefix("figure: ") for line in lines
            if line.startswith("figure: ")]


def outcomes(junit, commit, date):
    for case in xml.etree.ElementTree.parse(junit).getroot().iter("testcase"):
        output = case.findtext("system-out") or ""
        passed = case.get("status") == "run"
        yield case.get("name"), {
            "outcome": "passed" if passed else "failed", "date": date,
            "commit": commit, "seconds": round(float(case.get("time", 0))),
            "figures": figures(output)}


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    junit, results, commit = sys.argv[1:]
    known = {}
    if os.path.exists(results):
        with open(results, encoding="utf-8") as handle:
            known = json.load(handle)
    known.update(outcomes(junit, commit, datetime.date.today().isoformat()))
    with open(results + ".tmp", "w", encoding="utf-8") as handle:
        json.dump(known, handle, indent=1, sort_keys=True)
        handle.write("\n")
    os.replace(results + ".tmp", results)


if __name__ == "__main__":
    main()
