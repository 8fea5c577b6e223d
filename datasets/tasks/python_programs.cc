#include "datasets/tasks/python_programs.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/random.h"
#include "base/text.h"
#include "datasets/tasks/python_operations.h"
#include "datasets/tasks/split.h"

namespace espalier {
namespace {

struct Band {
  std::string_view name;
  int fewest, most;  // operations
};
constexpr Band kBands[] = {{"easy", 2, 3}, {"middle", 4, 5}, {"hard", 6, 8}};

constexpr int kTests = 10;
constexpr int kExamples = 2;  // number of tests shown in the question
constexpr size_t kFewestOutputs = 4;
constexpr size_t kLongestValue = 200;  // as text

struct Stage {
  const PythonOperation* operation;
  int64_t k;
};
using Pipeline = std::vector<Stage>;

std::string Fill(std::string_view text, int64_t k) {
  return absl::StrReplaceAll(AbslView(text), {{"{k}", absl::StrCat(k)}});
}

PythonType DrawType(RandomStream& rng) {
  return static_cast<PythonType>(rng.Below(3));
}

PythonValue DrawValue(PythonType type, RandomStream& rng) {
  if (type == PythonType::kInt) {
    return int64_t{rng.Below(4) == 0 ? rng.Range(-9, 9)
                                     : rng.Range(-999, 9999)};
  }
  if (type == PythonType::kList) {
    IntList list(rng.Below(10));
    for (int64_t& value : list) value = rng.Range(-20, 30);
    // Make equal numbers likely.
    if (list.size() > 2 && rng.Below(2) == 0) list[2] = list[0];
    return list;
  }
  constexpr std::string_view kLetters =
      "aaabcdeeeefghiiijklmnoooprstuvwyABEHIOST0123456789";
  std::string text;
  const uint32_t words = rng.Below(5);
  for (uint32_t w = 0; w < words; ++w) {
    if (w > 0) text += ' ';
    const int letters = rng.Range(1, 7);
    for (int i = 0; i < letters; ++i) {
      text += kLetters[rng.Below(static_cast<uint32_t>(kLetters.size()))];
    }
  }
  return text;
}

Pipeline DrawPipeline(const Band& band, PythonType type, RandomStream& rng) {
  const int length = rng.Range(band.fewest, band.most);
  const std::vector<PythonOperation>& all = PythonOperations();
  Pipeline pipeline;
  while (static_cast<int>(pipeline.size()) < length) {
    const PythonOperation& op =
        all[rng.Below(static_cast<uint32_t>(all.size()))];
    if (op.from != type) continue;
    // Repeating an operation has little or no effect.
    if (!pipeline.empty() && pipeline.back().operation == &op) continue;
    pipeline.push_back(
        {&op, op.least_k == op.most_k ? 0 : rng.Range(op.least_k, op.most_k)});
    type = op.to;
  }
  return pipeline;
}

// The output without the stage `without` (-1: with all stages); nothing if an
// integer or a text becomes too large.
std::optional<PythonValue> Run(const Pipeline& pipeline, PythonValue value,
                               int without = -1) {
  for (int i = 0; i < static_cast<int>(pipeline.size()); ++i) {
    if (i == without) continue;
    const Stage& stage = pipeline[static_cast<size_t>(i)];
    std::optional<PythonValue> next = stage.operation->run(value, stage.k);
    if (!next || PythonLiteral(*next).size() > kLongestValue) {
      return std::nullopt;
    }
    value = *std::move(next);
  }
  return value;
}

struct Test {
  PythonValue input;
  PythonValue output;
};

// Whether the result of some test changes without the stage.
bool Matters(const Pipeline& pipeline, int stage,
             const std::vector<Test>& tests) {
  const PythonOperation& op = *pipeline[static_cast<size_t>(stage)].operation;
  if (op.from != op.to) return true;
  return std::any_of(tests.begin(), tests.end(), [&](const Test& test) {
    return Run(pipeline, test.input, stage) != test.output;
  });
}

// Tests that distinguish the pipeline from shorter ones; empty if these do not.
std::vector<Test> DrawTests(const Pipeline& pipeline, PythonType type,
                            RandomStream& rng) {
  std::vector<Test> tests;
  std::set<std::string> inputs, outputs;
  for (int tries = 0; tries < 5 * kTests; ++tries) {
    if (static_cast<int>(tests.size()) == kTests) break;
    PythonValue input = DrawValue(type, rng);
    std::optional<PythonValue> output = Run(pipeline, input);
    if (!output || !inputs.insert(PythonLiteral(input)).second) continue;
    outputs.insert(PythonLiteral(*output));
    tests.push_back({std::move(input), *std::move(output)});
  }
  if (static_cast<int>(tests.size()) < kTests ||
      outputs.size() < kFewestOutputs) {
    return {};
  }
  for (int i = 0; i < static_cast<int>(pipeline.size()); ++i) {
    if (!Matters(pipeline, i, tests)) return {};
  }
  return tests;
}

std::string Words(const Pipeline& pipeline, PythonType type) {
  std::string text = absl::StrCat("Take ",
                                  type == PythonType::kInt    ? "an integer"
                                  : type == PythonType::kText ? "a text"
                                                              : "a list of "
                                                                "integers",
                                  ". ");
  for (size_t i = 0; i < pipeline.size(); ++i) {
    std::string words = Fill(pipeline[i].operation->words, pipeline[i].k);
    if (i == 0) words[0] = absl::ascii_toupper(words[0]);
    absl::StrAppend(&text, i == 0 ? "" : ", then ", words);
  }
  absl::StrAppend(&text, ". Return the result.");
  return text;
}

// `text` in lines of at most 76 characters, each after four blanks.
std::string Wrapped(std::string_view text) {
  std::string out = "    \"\"\"";
  size_t column = out.size();
  bool begin = true;
  for (const absl::string_view word : absl::StrSplit(AbslView(text), ' ')) {
    if (!begin && column + 1 + word.size() > 76) {
      absl::StrAppend(&out, "\n    ", word);
      column = 4 + word.size();
    } else {
      absl::StrAppend(&out, begin ? "" : " ", word);
      column += (begin ? 0 : 1) + word.size();
    }
    begin = false;
  }
  return out;
}

std::string Prompt(const Pipeline& pipeline, PythonType type,
                   const std::vector<Test>& tests) {
  std::string prompt =
      absl::StrCat("def solve(x):\n", Wrapped(Words(pipeline, type)), "\n");
  for (int i = 0; i < kExamples; ++i) {
    const Test& test = tests[static_cast<size_t>(i)];
    // Python's prompt shows texts in single quotes.
    std::string output = PythonLiteral(test.output);
    std::replace(output.begin(), output.end(), '"', '\'');
    absl::StrAppend(&prompt, "\n    >>> solve(", PythonLiteral(test.input),
                    ")\n    ", output);
  }
  absl::StrAppend(&prompt, "\n    \"\"\"\n");
  return prompt;
}

std::string CheckFunction(const std::vector<Test>& tests) {
  std::string text = "def check(candidate):\n";
  for (const Test& test : tests) {
    absl::StrAppend(&text, "    assert candidate(", PythonLiteral(test.input),
                    ") == ", PythonLiteral(test.output), "\n");
  }
  return text;
}

}  // namespace

const std::vector<std::string_view>& PythonBands() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Band& band : kBands) all.push_back(band.name);
    return all;
  }();
  return names;
}

GradedProblem MakePythonProgram(std::string_view band, uint64_t seed,
                                uint64_t index) {
  const Band* const found =
      std::find_if(std::begin(kBands), std::end(kBands),
                   [&](const Band& b) { return b.name == band; });
  ESP_CHECK(found != std::end(kBands));
  const std::string set = absl::StrCat("python:", AbslView(band));
  RandomStream rng(StreamKey(seed, StableHash(set), index, Purpose::kGenerate));
  PythonType type;
  Pipeline pipeline;
  std::vector<Test> tests;
  do {
    type = DrawType(rng);
    pipeline = DrawPipeline(*found, type, rng);
    tests.clear();
    if (BelongsToSeed(Words(pipeline, type), seed)) {
      tests = DrawTests(pipeline, type, rng);
    }
  } while (tests.empty());

  GradedProblem out;
  out.problem.question = Prompt(pipeline, type, tests);
  out.problem.set = set;
  out.problem.id = absl::StrCat(set, "/", seed, "/", index);
  std::string solution;
  for (const Stage& stage : pipeline) {
    out.reference.steps.push_back(
        absl::StrCat("    x = ", Fill(stage.operation->python, stage.k)));
  }
  out.reference.steps.push_back("    return x");
  for (const std::string& line : out.reference.steps) {
    absl::StrAppend(&solution, line, "\n");
  }
  out.reference.fields = {{"prompt", out.problem.question},
                          {"entry_point", "solve"},
                          {"test", CheckFunction(tests)},
                          {"canonical_solution", solution}};
  return out;
}

}  // namespace espalier
