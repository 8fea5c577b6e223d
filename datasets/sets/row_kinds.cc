#include "datasets/sets/row_kinds.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/parse_json.h"
#include "base/text.h"
#include "datasets/sets/answer_kinds.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using Json = nlohmann::json;

constexpr size_t kMarkBytes = 4;  // of "N_07"

// Whether a text is a list of objects or an object, as Python or JSON writes
// them: what a CSV file makes of nested columns.
bool HoldsMembers(std::string_view text) {
  const std::string squeezed =
      absl::StrReplaceAll(AbslView(text), {{" ", ""}, {"\n", ""}, {"\r", ""}});
  for (const char* begin : {"[{'", "[{\"", "{'", "{\""}) {
    if (!squeezed.starts_with(begin)) continue;
    for (const char* name : {"role", "content", "ground_truth"}) {
      if (absl::StrContains(squeezed, name)) return true;
    }
  }
  return false;
}

std::string NestedInText(const char* column, const char* what,
                         const Json& found) {
  return absl::StrCat(
      WrongValue(column, what, &found),
      ", a text; save the rows as JSON lines, which keep nested columns");
}

// The text of system and user in the messages of `column`, which may also be
// one text; errors go to `wrong`.
std::string AskedIn(const SetRecord& record, const char* column,
                    std::string& wrong) {
  const Json& messages = *FindColumn(record.fields, column);
  if (messages.is_string()) {
    const std::string text = messages.get<std::string>();
    if (!HoldsMembers(text)) return text;
    wrong = NestedInText(column, "messages", messages);
    return "";
  }
  wrong = WrongValue(column, "text or a list of {\"role\", \"content\"}",
                     &messages);
  if (!messages.is_array()) return "";
  std::string asked;
  for (const Json& message : messages) {
    const Json* content = FindColumn(message, "content");
    if (content == nullptr || !content->is_string()) return "";
    const std::string role = ColumnText(message, "role");
    if (role != "user" && role != "system" && role != "developer") {
      wrong = absl::StrCat("a message has the role \"", role,
                           "\"; expected only system and user");
      return "";
    }
    absl::StrAppend(&asked, asked.empty() ? "" : "\n\n",
                    Trimmed(content->get<std::string>()));
  }
  wrong.clear();
  return asked;
}

// Whether `value` lists several accepted answers.
bool ListsAnswers(const Json& value) {
  return value.is_array() && value.size() > 1 &&
         std::all_of(value.begin(), value.end(), [](const Json& one) {
           return one.is_string() || one.is_number();
         });
}

// The element of a list of one, also nested; any other value itself.
const Json* OnlyElement(const Json* value) {
  while (value->is_array() && value->size() == 1) value = &value->front();
  return value;
}

// The gold answer in the ground truth of `column`, "" if there is none. With
// `several`, a list holds accepted answers, which become the record's "golds".
// Errors go to `wrong`.
std::string GroundTruth(const char* column, bool several, SetRecord& record,
                        std::string& wrong) {
  const Json* truth = FindColumn(record.fields, column);
  if (truth == nullptr || truth->is_null()) return "";
  const Json* value = OnlyElement(truth);
  Json unpacked;
  if (value->is_string()) {
    const std::string text = Trimmed(value->get<std::string>());
    // Some rows have JSON in a text.
    unpacked = text.starts_with("{") || text.starts_with("[\"")
                   ? ParseJsonOrNull(text)
                   : Json();
    if (!unpacked.is_object() && !unpacked.is_array()) return text;
    value = OnlyElement(&unpacked);
  }
  if (several && ListsAnswers(*value)) {
    record.fields["golds"] = *value;
    value = &value->front();
  }
  if (value->is_string()) return Trimmed(value->get<std::string>());
  if (value->is_number()) return value->dump();
  const bool tests = FindColumn(*value, "inputs") != nullptr ||
                     FindColumn(*value, "fn_name") != nullptr;
  wrong = tests ? "the ground truth holds tests of a program; problems about "
                  "programs are not supported in this format"
                : WrongValue(column,
                             several ? "text, a number or a list of accepted "
                                       "answers"
                                     : "text or a number",
                             truth);
  return "";
}

// "56.0" as "56", as a person would write it.
std::string_view WrittenNumber(std::string_view number) {
  if (number.ends_with(".0")) number.remove_suffix(2);
  return number;
}

// The numbers that a masked question leaves out, in a text or in a list.
std::vector<std::string> NumbersOf(const Json& fields) {
  std::string text;
  for (const char* column : {"Numbers", "num_list"}) {
    if (text.empty()) text = ColumnText(fields, column);
  }
  std::vector<std::string> numbers =
      absl::StrSplit(text, ' ', absl::SkipEmpty());
  for (std::string& number : numbers) {
    if (number.ends_with(",")) number.pop_back();
  }
  return numbers;
}

// The number of the mark "N_07" at the start of `text`; none otherwise.
std::optional<size_t> MarkedNumber(std::string_view text) {
  const auto digit = [&](size_t i) {
    return i < text.size() && absl::ascii_isdigit(text[i]);
  };
  if (!text.starts_with("N_") || !digit(2) || !digit(3) ||
      (text.size() > 4 && (absl::ascii_isalnum(text[4]) || text[4] == '_'))) {
    return std::nullopt;
  }
  return static_cast<size_t>(10 * (text[2] - '0') + (text[3] - '0'));
}

}  // namespace

std::string FillMarks(SetRecord& record) {
  if (!absl::StrContains(record.question, "N_")) return "";
  const std::vector<std::string> numbers = NumbersOf(record.fields);
  const std::string masked = std::exchange(record.question, "");
  for (size_t at = 0; at < masked.size();) {
    const bool begins = at == 0 || (!absl::ascii_isalnum(masked[at - 1]) &&
                                    masked[at - 1] != '_');
    const auto which = begins
                           ? MarkedNumber(std::string_view(masked).substr(at))
                           : std::nullopt;
    if (!which) {
      record.question += masked[at++];
      continue;
    }
    const std::string mark = masked.substr(at, kMarkBytes);
    if (*which >= numbers.size()) {
      record.question = masked;
      return absl::StrCat(
          "the question has ", mark, " in place of a number, and ",
          numbers.empty()
              ? std::string("no column \"Numbers\" or \"num_list\" gives it")
              : absl::StrCat("\"Numbers\" or \"num_list\" holds only ",
                             numbers.size(), ", the first for N_00"));
    }
    absl::StrAppend(&record.question, AbslView(WrittenNumber(numbers[*which])));
    at += kMarkBytes;
  }
  return "";
}

std::string ReadVerl(SetRecord& record) {
  std::string wrong;
  record.question = AskedIn(record, "prompt", wrong);
  if (!wrong.empty()) return wrong;
  const Json& reward = *FindColumn(record.fields, "reward_model");
  if (reward.is_string() && HoldsMembers(reward.get<std::string>())) {
    return NestedInText("reward_model", "an object", reward);
  }
  record.answer =
      GroundTruth("reward_model.ground_truth", /*several=*/true, record, wrong);
  return wrong;
}

std::string ReadNemo(SetRecord& record) {
  std::string wrong;
  for (const char* column : {"problem", "question"}) {
    if (record.question.empty()) {
      record.question = ColumnText(record.fields, column);
    }
  }
  for (const char* column : {"responses_create_params.input", "input"}) {
    const Json* input = FindColumn(record.fields, column);
    if (!record.question.empty() || input == nullptr) continue;
    record.question = AskedIn(record, column, wrong);
    if (!wrong.empty()) return wrong;
  }
  for (const char* column :
       {"generated_solution", "reference_solution", "solution"}) {
    if (record.solution.empty()) {
      record.solution = ColumnText(record.fields, column);
    }
  }
  record.answer =
      GroundTruth("expected_answer", /*several=*/false, record, wrong);
  return wrong;
}

std::string ReadMawps(SetRecord& record) {
  const bool first = FindColumn(record.fields, "sQuestion") != nullptr;
  record.question =
      Trimmed(ColumnText(record.fields, first ? "sQuestion" : "original_text"));
  record.answer =
      Trimmed(ColumnText(record.fields, first ? "lSolutions" : "ans"));
  record.solution =
      ColumnText(record.fields, first ? "lEquations" : "equation");
  return "";
}

std::string ReadMaskedNumbers(SetRecord& record) {
  const std::string masked = ColumnText(record.fields, "Question");
  const std::vector<std::string> numbers = NumbersOf(record.fields);
  constexpr std::string_view kMark = "number";
  std::string_view rest = masked;
  while (!rest.empty()) {
    const size_t at = rest.find(kMark);
    absl::StrAppend(&record.question, AbslView(rest.substr(0, at)));
    if (at == std::string_view::npos) break;
    rest.remove_prefix(at + kMark.size());
    size_t digits = 0;
    while (digits < rest.size() && absl::ascii_isdigit(rest[digits])) ++digits;
    size_t which = 0;
    if (!absl::SimpleAtoi(AbslView(rest.substr(0, digits)), &which)) {
      absl::StrAppend(&record.question, AbslView(kMark));
      continue;
    }
    if (which >= numbers.size()) {
      return absl::StrCat("\"Question\" has number", which,
                          ", and \"Numbers\" holds ", numbers.size());
    }
    absl::StrAppend(&record.question, AbslView(WrittenNumber(numbers[which])));
    rest.remove_prefix(digits);
  }
  record.answer = ColumnText(record.fields, "Answer");
  record.solution = ColumnText(record.fields, "Equation");
  return "";
}

std::string ReadMultiArith(SetRecord& record) {
  record.question = Trimmed(ColumnText(record.fields, "question"));
  record.answer = Trimmed(ColumnText(record.fields, "final_ans"));
  return "";
}

std::string ReadMgsm(SetRecord& record) {
  record.question = ColumnText(record.fields, "question");
  record.answer = Trimmed(ColumnText(record.fields, "answer_number"));
  record.solution = ColumnText(record.fields, "answer");
  return "";
}

std::string ReadInputTarget(SetRecord& record) {
  record.question = ColumnText(record.fields, "input");
  record.answer = Trimmed(ColumnText(record.fields, "target"));
  record.solution = ColumnText(record.fields, "code");
  return "";
}

}  // namespace espalier
