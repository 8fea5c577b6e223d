"""Prints what Jinja2 makes of the templates of jinja_template_test.cc, as rows
of that file, or compares whole templates with a program of ours.

    python3 tests/models/prompt/jinja_oracle.py < templates.txt

One template a line; \\n stands for a line feed. Needs python3-jinja2."""

import json
import sys

from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

VARIABLES = {
    "messages": [{"role": role, "content": text} for role, text in (
        ("system", " Be brief. "), ("user", "Hi"),
        ("assistant", "<think>hm</think>\n\nHello"), ("user", "2+3?"))],
    "add_generation_prompt": True,
    "bos_token": "<s>",
    "eos_token": "</s>",
    "tools": None,
    "n": 7,
    "d": {"b": [1, 2.5, False], "a": 'x"y\n<é>'},
}


def tojson(value, indent=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=False, indent=indent,
                      sort_keys=sort_keys)


def literal(text):
    out = "".join({"\\": "\\\\", '"': '\\"', "\n": "\\n"}.get(c, c)
                  for c in text)
    return f'"{out}"'


def main():
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
    environment.filters["tojson"] = tojson
    for line in sys.stdin.read().splitlines():
        source = line.replace("\\n", "\n")
        text = environment.from_string(source).render(**VARIABLES)
        print(f"    {{{literal(source)},\n     {literal(text)}}},")


main()
