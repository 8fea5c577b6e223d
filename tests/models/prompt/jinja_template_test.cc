// The expected texts are those of Jinja2 3.1.2 (ImmutableSandboxedEnvironment
// with trim_blocks and lstrip_blocks, json.dumps without ensure_ascii for
// tojson), which tests/models/prompt/jinja_oracle.py prints.
#include "models/prompt/jinja_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace espalier {
namespace {

using testing::HasSubstr;

JinjaFields Variables() {
  const auto message = [](const char* role, const char* text) {
    return JinjaFields{{"role", role}, {"content", text}};
  };
  return {{"messages",
           JinjaList{message("system", " Be brief. "), message("user", "Hi"),
                     message("assistant", "<think>hm</think>\n\nHello"),
                     message("user", "2+3?")}},
          {"add_generation_prompt", true},
          {"bos_token", "<s>"},
          {"eos_token", "</s>"},
          {"tools", JinjaValue::None{}},
          {"n", int64_t{7}},
          {"d", JinjaFields{{"b", JinjaList{int64_t{1}, 2.5, false}},
                            {"a", "x\"y\n<\xC3\xA9>"}}}};
}

std::string Rendered(std::string_view source) {
  const auto parsed = JinjaTemplate::Parse(source);
  if (!parsed.ok()) return absl::StrCat("parse: ", parsed.status().message());
  const auto text = parsed->Render(Variables());
  return text.ok() ? *text : absl::StrCat("error: ", text.status().message());
}

struct TemplateRow {
  const char* source;
  const char* text;
};

constexpr TemplateRow kRows[] = {
    {"{% for m in messages %}\n<|{{ m.role }}|>\n{{ m['content'] | trim "
     "}}<|end|>\n{% endfor %}\n{% if add_generation_prompt "
     "%}\n<|assistant|>\n{% endif %}\n",
     "<|system|>\nBe "
     "brief.<|end|>\n<|user|>\nHi<|end|>\n<|assistant|>\n<think>hm</"
     "think>\n\nHello<|end|>\n<|user|>\n2+3?<|end|>\n<|assistant|>\n"},
    {"{{- bos_token -}}\n\n  {%- for m in messages -%}\n  {{ "
     "m.content.split('</think>')[-1].lstrip('\\\n') }},\n  {%- endfor %}",
     "<s> Be brief. ,Hi,\n\nHello,2+3?,"},
    {"a\n  {# note #}\nb {# note -#}\n  c\n  {%+ if 1 +%}\n d{% endif %}\n\n",
     "a\nb c\n  \n d"},
    {"{% raw %}{{ x }}{% endraw %}{{ '{{' }}", "{{ x }}{{"},
    {"{% set ns = namespace(found=false, i=0) %}{% for m in messages %}{% if "
     "m.role == 'assistant' %}{% set ns.found = true %}{% set ns.i = "
     "loop.index0 %}{% endif %}{% endfor %}{{ ns.found }} {{ ns.i }}",
     "True 2"},
    {"{% set x = 1 %}{% for m in messages %}{% set x = x + 1 %}{% endfor %}{{ "
     "x }}",
     "1"},
    {"{% for m in messages if m.role == 'user' %}{{ loop.index }}/{{ "
     "loop.length }}{{ '' if loop.last else ', ' }}{% else %}none{% endfor %}",
     "1/2, 2/2"},
    {"{% for m in messages[::-1] %}{{ loop.revindex }}{{ m.role[0] }}{{ "
     "loop.previtem.role if loop.previtem is defined }};{% endfor %}",
     "4u;3auser;2uassistant;1suser;"},
    {"{% for a in range(3) %}{% if a == 1 %}{% continue %}{% endif %}{{ a }}{% "
     "endfor %}{% for a in [] %}x{% else %}empty{% endfor %}",
     "02empty"},
    {"{% macro f(a, b='B') %}[{{ a }}{{ b }}]{% endmacro %}{{ f('x') }}{{ "
     "f('x', b=2) }}{{ f(b=1, a=none) }}",
     "[xB][x2][None1]"},
    {"{% set t %}  <{{ n }}>\n{% endset %}{{ t | trim | length }}", "3"},
    {"{{ d }} {{ d | tojson }} {{ d['a'] | tojson }} {{ [none, true, 1.0, 'a'] "
     "}}",
     "{'b': [1, 2.5, False], 'a': 'x\"y\\n<é>'} {\"b\": [1, 2.5, false], "
     "\"a\": \"x\\\"y\\n<é>\"} \"x\\\"y\\n<é>\" [None, True, 1.0, 'a']"},
    {"{{ d | tojson(indent=2) }}",
     "{\n  \"b\": [\n    1,\n    2.5,\n    false\n  ],\n  \"a\": "
     "\"x\\\"y\\n<é>\"\n}"},
    {"{{ (d | dictsort)[0][0] }} {{ (d.items() | list)[0][1] }} {{ d.keys() | "
     "list }}{{ d.get('z') }}{{ d.get('z', 4) }}{{ d.z }}",
     "a [1, 2.5, False] ['b', 'a']None4"},
    {"{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
     "b=[1, 2.5, False];a=x\"y\n<é>;"},
    {"{{ messages | selectattr('role', 'equalto', 'user') | "
     "map(attribute='content') | join('|') }} {{ messages | rejectattr('role', "
     "'in', ['user', 'system']) | list | length }}",
     "Hi|2+3? 1"},
    {"{{ tools is none }} {{ tools is not none }} {{ q is defined }} {{ q is "
     "undefined }} {{ not tools }} {{ tools or 'no' }} {{ q | default('x') }} "
     "{{ '' | default('y', true) }}",
     "True False False True True no x y"},
    {"{{ d is mapping }} {{ messages is iterable }} {{ 'a' is string }} {{ n "
     "is number }} {{ messages is sequence }} {{ d is string }} {{ n is odd }} "
     "{{ n is divisibleby 7 }}",
     "True True True True True False True True"},
    {"{{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 10 }} {{ 1.5 "
     "+ 1 }} {{ 1e20 }} {{ 0.1 }} {{ n * 2 - 1 }}",
     "3 -4 2 3.5 1024 2.5 1e+20 0.1 13"},
    {"{{ 'a' ~ 1 ~ none }} {{ 'ab' * 2 }} {{ [1] + [2, 3] }} {{ 'b' in 'abc' "
     "}} {{ 4 not in [1, 2] }} {{ 1 < 2 < 3 }} {{ 1 < 3 < 2 }} {{ 'a' < 'b' }}",
     "a1None abab [1, 2, 3] True True True False True"},
    {"{{ 'Hello World'[0:5] }} {{ 'abc'[-1] }} {{ 'abc'[::-1] }} {{ [1, 2, 3, "
     "4][1:-1] }} {{ [1, 2, 3][:2] }} {{ 'h\\u00e9'[1:] }} {{ [1, 2, 3][-2:] "
     "}}",
     "Hello c cba [2, 3] [1, 2] é [2, 3]"},
    {"{{ '  a b  '.strip() }}|{{ 'xxaxx'.strip('x') }}|{{ 'a,b,c'.split(',', "
     "1) }}|{{ ' a  b '.split() }}|{{ 'a-b-c'.rsplit('-', 1)[0] }}",
     "a b|a|['a', 'b,c']|['a', 'b']|a-b"},
    {"{{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'bc')) }} {{ "
     "'abc'.replace('b', '--') }} {{ 'aBc'.upper() }} {{ 'hello you'.title() "
     "}} {{ 'x'.join(['a', 'b']) }} {{ 'abc'.find('c') }} {{ "
     "'{}-{x}'.format(1, x=2) }}",
     "True True a--c ABC Hello You axb 2 1-2"},
    {"{{ 'It\\'s' }} {{ \"a\\tb\\\\\" }} {{ [\"it's\", 'say \"x\"'] }}",
     "It's a	b\\ [\"it's\", 'say \"x\"']"},
    {"{{ (1, 2)[0] }} {{ {'a': 1}['a'] }} {{ {'a': {'b': 2}}.a.b }} {{ 'yes' "
     "if n > 5 else 'no' }} {{ 'x' if false }}",
     "1 1 2 yes "},
    {"{{ [3, 1, 2] | sort }} {{ [1, 1, 2] | unique | list }} {{ [1, 2] | first "
     "}}{{ [1, 2] | last }} {{ 'b,a' | upper }} {{ [3, 1] | max }} {{ 2.567 | "
     "round(1) }} {{ '12' | int + 1 }} {{ 'a\nb' | indent(2) }}",
     "[1, 2, 3] [1, 2] 12 B,A 3 2.6 13 a\n  b"},
    {"{% if n == 1 %}a{% elif n == 7 and not tools %}b{% else %}c{% endif %}{{ "
     "n if n is not none and n > 3 }}",
     "b7"},
    {"{%- for m in messages %}{%- if loop.first and m.role == 'system' %}{{ "
     "'S:' + m.content | trim + '.' }}{%- elif (m.role == 'user') != "
     "(loop.index0 % 2 == 0) %}{{ 'U' }}{%- endif %}{%- endfor %}",
     "S:Be brief..UUU"},
};

TEST(JinjaTemplate, RendersAsJinja2) {
  for (const TemplateRow& row : kRows) {
    EXPECT_EQ(Rendered(row.source), row.text) << row.source;
  }
}

TEST(JinjaTemplate, RaisesTheTemplatesOwnWords) {
  EXPECT_EQ(Rendered("{{ raise_exception('Roles must ' ~ 'alternate') }}"),
            "error: the template refuses the messages: Roles must alternate");
}

TEST(JinjaTemplate, NamesTheLineOfAnError) {
  for (const auto& [source, words] :
       std::vector<std::pair<const char*, const char*>>{
           {"\n{{ a.b }}", "error: line 2: a is undefined"},
           {"{{ 1 + 'a' }}", "error: line 1: + of a number and a text"},
           {"{{ 1 | nothing }}", "error: line 1: no filter named nothing"},
           {"{{ 1 is nothing }}", "error: line 1: no test named nothing"},
           {"{{ n // 0 }}", "error: line 1: a division by 0"},
           {"{% set messages.x = 1 %}", "no namespace"},
           {"\n\n{{ (1 }}", "parse: line 3: an unexpected }"},
           {"{% if 1 %}", "parse: line 1: expected {% endif %}"},
           {"{% include 'x' %}", "parse: line 1: the tag include"},
           {"{{ 'a }}", "parse: line 1: a string does not end"},
           {"{# a", "parse: line 1: a comment {# does not end"},
           {"{{ f(*messages) }}", "parse: line 1: arguments with *"}}) {
    EXPECT_THAT(Rendered(source), HasSubstr(words)) << source;
  }
}

// Nothing runs for ever, takes all memory or overflows the stack.
TEST(JinjaTemplate, IsBounded) {
  const auto times = [](const char* text, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += text;
    return out;
  };
  const std::vector<std::string> sources = {
      "{{ " + times("(", 100000),
      "{{ " + times("not ", 100000) + "1 }}",
      "{{ " + times("-", 100000) + "1 }}",
      "{{ a" + times(".b", 100000) + " }}",
      "{{ 1" + times("+1", 100000) + " }}",
      "{{ a" + times("|trim", 100000) + " }}",
      times("{% if 1 %}", 100000),
      "{% if 1 %}" + times("{% elif 1 %}", 100000) + "{% endif %}",
      "{% for i in range(10 ** 9) %}x{% endfor %}",
      "{{ 'abc' * 10 ** 9 }}",
      "{{ ['a'] * 10 ** 9 }}",
      "{% set l = [1] %}" + times("{% set l = [l, l] %}", 70) + "{{ l }}",
      "{% set s = 'ab' %}" + times("{% set s = s + s %}", 70) + "{{ s }}",
      "{% macro f(a) %}{{ f(a) }}{% endmacro %}{{ f(1) }}",
      "{% set n = namespace(x=1) %}{% set n.x = [n] %}{{ n }}"};
  for (const std::string& source : sources) {
    EXPECT_THAT(Rendered(source),
                testing::AnyOf(HasSubstr("parse: "), HasSubstr("error: ")))
        << source.substr(0, 60);
  }
}

}  // namespace
}  // namespace espalier
