#include "datasets/sets/answer_kinds.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text.h"
#include "datasets/answers/find/extract_answer.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using Json = nlohmann::json;

bool NoText(std::string_view text) {
  return absl::StripAsciiWhitespace(AbslView(text)).empty();
}

// What a list under "answer" may mean: the parts of one answer, such as the
// solutions of an equation; accepted answers to a question about facts, as
// nq_open has them; or either.
enum class ListedAnswers { kParts, kAccepted, kUnclear };

// Whether a text has a word of three letters or more; other than in Greek,
// bytes of characters beyond ASCII count as letters.
bool HasLongWord(std::string_view text) {
  int run = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool foreign = byte >= 0x80 && byte != 0xCE && byte != 0xCF &&
                         byte != 0xE2;  // E2: arrows, roots and the like
    run = absl::ascii_isalpha(byte) || foreign ? run + 1 : 0;
    if (run == 3) return true;
  }
  return false;
}

// Texts in words are accepted answers, numbers and formulas parts.
ListedAnswers WhatIsListed(const Json& list) {
  size_t words = 0, mixed = 0;
  for (const Json& one : list) {
    if (!one.is_string()) continue;
    const std::string& text = one.get_ref<const std::string&>();
    if (text.find_first_of("\\$=^_{}[]()<>+*/|") != std::string::npos ||
        !HasLongWord(text)) {
      continue;
    }
    const bool number = text.find_first_of("0123456789") != std::string::npos;
    ++(number ? mixed : words);
  }
  if (words == list.size()) return ListedAnswers::kAccepted;
  return words + mixed == 0 ? ListedAnswers::kParts : ListedAnswers::kUnclear;
}

}  // namespace

std::string Trimmed(std::string_view text) {
  return std::string(absl::StripAsciiWhitespace(AbslView(text)));
}

std::string ReadGsm8k(SetRecord& record) {
  record.question = ColumnText(record.fields, "question");
  record.solution = ColumnText(record.fields, "answer");
  const std::optional<std::string> answer = MarkedAnswer(record.solution);
  if (!answer) {
    return WrongValue("answer", "\"#### \" before the final answer",
                      FindColumn(record.fields, "answer"));
  }
  record.answer = *answer;
  return "";
}

std::string ReadMath(SetRecord& record) {
  record.question = ColumnText(record.fields, "problem");
  record.solution = ColumnText(record.fields, "solution");
  const std::optional<std::string> answer = MarkedAnswer(record.solution);
  if (!answer) {
    return WrongValue("solution", "the final answer in \\boxed{}",
                      FindColumn(record.fields, "solution"));
  }
  record.answer = *answer;
  return "";
}

std::string ReadCompetition(SetRecord& record) {
  record.question = ColumnText(record.fields, "problem");
  record.solution = ColumnText(record.fields, "solution");
  record.answer = Trimmed(ColumnText(record.fields, "answer"));
  return "";
}

std::string ReadSvamp(SetRecord& record) {
  std::string body = Trimmed(ColumnText(record.fields, "Body"));
  if (!body.empty() && absl::ascii_isalnum(body.back())) body += '.';
  const std::string question = ColumnText(record.fields, "Question");
  if (NoText(question)) {
    return WrongValue("Question", "the question's text",
                      FindColumn(record.fields, "Question"));
  }
  record.question = absl::StrCat(body, body.empty() ? "" : " ", question);
  record.answer = ColumnText(record.fields, "Answer");
  record.solution = ColumnText(record.fields, "Equation");
  return "";
}

std::string ReadOlympiadBench(SetRecord& record) {
  const std::string context = ColumnText(record.fields, "context");
  const std::string question = ColumnText(record.fields, "question");
  if (NoText(question)) {
    return WrongValue("question", "the question's text",
                      FindColumn(record.fields, "question"));
  }
  record.question =
      absl::StrCat(context, context.empty() ? "" : "\n", question);
  record.solution = ColumnText(record.fields, "solution");
  record.answer = ColumnText(record.fields, "final_answer");
  return NoText(record.answer)
             ? "\"final_answer\" is empty: a proof has no answer to grade"
             : "";
}

std::string ReadGolds(SetRecord& record) {
  for (const char* column : {"question", "problem"}) {
    if (record.question.empty()) {
      record.question = ColumnText(record.fields, column);
    }
  }
  record.solution = ColumnText(record.fields, "solution");
  const Json* golds = FindColumn(record.fields, "golds");
  const bool good =
      golds->is_array() &&
      std::all_of(golds->begin(), golds->end(), [](const Json& gold) {
        return gold.is_string() || gold.is_number();
      });
  if (!good) return WrongValue("golds", "a list of texts and numbers", golds);
  // A separate column next to the list stands for all.
  for (const char* column : {"gold", "answer"}) {
    if (record.answer.empty()) {
      record.answer = Trimmed(ColumnText(record.fields, column));
    }
  }
  if (record.answer.empty() && !golds->empty()) {
    const Json& first = golds->front();
    record.answer =
        Trimmed(first.is_string() ? first.get<std::string>() : first.dump());
  }
  return "";
}

std::string ReadGame24(SetRecord& record) {
  const std::string numbers = ColumnText(record.fields, "Puzzles");
  const std::vector<std::string> parts =
      absl::StrSplit(numbers, ' ', absl::SkipEmpty());
  bool ok = parts.size() == 4;
  for (const std::string& part : parts) {
    for (const char c : part) ok = ok && absl::ascii_isdigit(c);
  }
  if (!ok) {
    return WrongValue("Puzzles", "four numbers",
                      FindColumn(record.fields, "Puzzles"));
  }
  record.question = absl::StrCat("Make 24 from ", parts[0], ", ", parts[1],
                                 ", ", parts[2], " and ", parts[3], ".");
  record.answer = "24";
  return "";
}

std::string ReadPlain(SetRecord& record) {
  record.question = ColumnText(record.fields, "question");
  record.solution = ColumnText(record.fields, "solution");
  const Json* answer = FindColumn(record.fields, "answer");
  if (answer == nullptr && FindColumn(record.fields, "mc1_targets")) {
    return "TruthfulQA's \"mc1_targets\" is not read; write its choices under "
           "\"options\", in a mixed order because the right one comes first, "
           "and the right one under \"answer\"";
  }
  if (answer == nullptr || answer->is_null()) return "";
  if (answer->is_object() || answer->is_boolean()) {
    return WrongValue("answer", "text or a number", answer);
  }
  if (answer->is_array() && answer->size() > 1) {
    const ListedAnswers listed = WhatIsListed(*answer);
    if (listed == ListedAnswers::kUnclear) {
      return absl::StrCat(
          WrongValue("answer", "one answer", answer),
          ", which may be several accepted answers or one of several parts; "
          "put accepted answers under \"golds\", or the parts in one text");
    }
    if (listed == ListedAnswers::kAccepted) {
      record.fields["golds"] = *answer;
      record.answer = Trimmed(answer->front().get_ref<const std::string&>());
      return "";
    }
  }
  const std::string text = ColumnText(record.fields, "answer");
  const std::optional<std::string> final_answer = MarkedAnswer(text);
  if (final_answer && record.solution.empty()) record.solution = text;
  record.answer = final_answer.value_or(Trimmed(text));
  return "";
}

}  // namespace espalier
