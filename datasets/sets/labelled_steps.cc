#include "datasets/sets/labelled_steps.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/set_kind.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using Json = nlohmann::json;

// The value of a whole number; those beyond 63 bits as the largest.
int64_t Whole(const Json& number) {
  constexpr auto kMost = std::numeric_limits<int64_t>::max();
  if (!number.is_number_unsigned()) return number.get<int64_t>();
  return static_cast<int64_t>(
      std::min(number.get<uint64_t>(), static_cast<uint64_t>(kMost)));
}

using Others = std::deque<LabelledSolution>;

// Each fills `out` and returns the error in the record, "" if none. `others`
// get what belongs to the same record.

std::string ReadProcessBench(const Json& fields, LabelledSolution& out,
                             Others&) {
  out.problem = ColumnText(fields, "problem");
  for (const Json& step : fields["steps"]) {
    if (!step.is_string()) return "a step is not text";
    out.steps.push_back(step.get<std::string>());
  }
  const Json& label = fields["label"];
  const auto count = static_cast<int64_t>(out.steps.size());
  if (!label.is_number_integer() || Whole(label) < -1 ||
      Whole(label) >= count) {
    return absl::StrCat("\"label\" is neither an index of the ", count,
                        " steps nor -1 for no error");
  }
  out.first_error = label.get<int>();
  for (int i = 0; i < count; ++i) {
    const bool before = out.first_error < 0 || i < out.first_error;
    out.labels.push_back(before                 ? StepLabel::kRight
                         : i == out.first_error ? StepLabel::kWrong
                                                : StepLabel::kUnknown);
  }
  const Json* correct = FindColumn(fields, "final_answer_correct");
  if (correct != nullptr && correct->is_boolean()) {
    out.final_correct = correct->get<bool>();
  }
  return "";
}

// A completion of a PRM800K step, as its text and label.
struct Completion {
  std::string text;
  StepLabel label = StepLabel::kUnknown;
};

// The error in a rating, "" if none.
std::string ReadCompletion(const Json& fields, Completion& out) {
  out.text = ColumnText(fields, "text");
  const Json* rating = FindColumn(fields, "rating");
  if (rating == nullptr || rating->is_null()) return "";
  if (!rating->is_number_integer()) return "a rating is not a whole number";
  const int64_t value = Whole(*rating);
  if (value < -1 || value > 1) {
    return absl::StrCat("a rating is ", value, ", not -1, 0 or 1");
  }
  out.label = static_cast<StepLabel>(value);
  return "";
}

struct Prm800kStep {
  std::optional<Completion> chosen;  // nothing: the solution ends before it
  std::vector<Completion> others;    // with a rating
};

std::string ReadPrm800kStep(const Json& fields, Prm800kStep& out) {
  const Json* human = FindColumn(fields, "human_completion");
  const Json* chosen = FindColumn(fields, "chosen_completion");
  const Json* completions = FindColumn(fields, "completions");
  const bool written = chosen != nullptr && chosen->is_null() &&
                       human != nullptr && human->is_object();
  if (written) {
    out.chosen = {ColumnText(*human, "text"), StepLabel::kRight};
  }
  if (completions == nullptr || !completions->is_array()) return "";
  const bool named = chosen != nullptr && chosen->is_number_unsigned();
  const size_t index = named ? chosen->get<size_t>() : 0;
  if (named && index >= completions->size()) {
    return absl::StrCat("\"chosen_completion\" is ", index, " of ",
                        completions->size(), " completions");
  }
  for (size_t i = 0; i < completions->size(); ++i) {
    Completion one;
    const std::string error = ReadCompletion((*completions)[i], one);
    if (!error.empty()) return error;
    if (one.text.empty()) continue;
    if (!written && i == index) {
      out.chosen = std::move(one);
    } else if (one.label != StepLabel::kUnknown) {
      out.others.push_back(std::move(one));
    }
  }
  return "";
}

void AddStep(Completion step, LabelledSolution& to) {
  if (step.label == StepLabel::kWrong && to.first_error < 0) {
    to.first_error = static_cast<int>(to.steps.size());
  }
  to.steps.push_back(std::move(step.text));
  to.labels.push_back(step.label);
}

std::string ReadPrm800k(const Json& fields, LabelledSolution& out,
                        Others& others) {
  out.problem = ColumnText(fields, "question.problem");
  out.answer = ColumnText(fields, "question.ground_truth_answer");
  const Json* steps = FindColumn(fields, "label.steps");
  if (steps == nullptr || !steps->is_array()) return "no list \"label.steps\"";
  for (const Json& fields_of_step : *steps) {
    Prm800kStep step;
    std::string error = ReadPrm800kStep(fields_of_step, step);
    if (!error.empty()) return error;
    for (Completion& other : step.others) {
      LabelledSolution branch = out;
      branch.other = true;
      branch.shared = out.steps.size();
      branch.id = absl::StrCat("#", others.size() + 1);
      AddStep(std::move(other), branch);
      others.push_back(std::move(branch));
    }
    // The labeller gave up here; earlier labels stay.
    if (!step.chosen || step.chosen->text.empty()) break;
    AddStep(*std::move(step.chosen), out);
  }
  // "solution": a labeller saw it reach the reference answer.
  const std::string reason = ColumnText(fields, "label.finish_reason");
  if (reason == "solution") out.final_correct = out.first_error < 0;
  if (reason == "found_error") out.final_correct = false;
  return "";
}

// "Step 1: ... ки\nStep 2: ... ки": `input` has a mark after each step where
// `label` has + or -.
std::string ReadMathShepherd(const Json& fields, LabelledSolution& out,
                             Others&) {
  const std::string input = ColumnText(fields, "input");
  const std::string label = ColumnText(fields, "label");
  constexpr std::string_view kMark = "ки";
  const size_t begin = input.find("Step 1:");
  if (begin == std::string::npos) return "no \"Step 1:\" in \"input\"";
  out.problem =
      std::string(absl::StripAsciiWhitespace(AbslView(input).substr(0, begin)));
  size_t at = 0;  // position in label: input without its marks
  std::string_view rest = input;
  while (true) {
    const size_t mark = rest.find(kMark);
    at += std::min(mark, rest.size());
    if (mark == std::string_view::npos) break;
    if (at >= label.size() || (label[at] != '+' && label[at] != '-')) {
      return absl::StrCat("step ", out.steps.size() + 1,
                          " has no + or - in \"label\" where \"input\" has its "
                          "mark");
    }
    std::string_view text = rest.substr(0, mark);
    if (out.steps.empty()) {
      if (mark < begin) return "a mark before \"Step 1:\" in \"input\"";
      text.remove_prefix(begin);
    }
    const bool right = label[at] == '+';
    if (!right && out.first_error < 0) {
      out.first_error = static_cast<int>(out.steps.size());
    }
    out.steps.emplace_back(absl::StripAsciiWhitespace(AbslView(text)));
    out.labels.push_back(right ? StepLabel::kRight : StepLabel::kWrong);
    rest.remove_prefix(mark + kMark.size());
    ++at;
  }
  if (out.steps.empty()) return "no mark \"ки\" after a step in \"input\"";
  out.final_correct = out.labels.back() == StepLabel::kRight;
  return "";
}

// TRL's stepwise lines. A label is a boolean, 1 or 0; null: unknown.
std::string ReadStepwise(const Json& fields, LabelledSolution& out, Others&) {
  out.problem = fields["prompt"].get<std::string>();
  const Json& labels = fields["labels"];
  if (labels.size() != fields["completions"].size()) {
    return absl::StrCat(fields["completions"].size(), " \"completions\" and ",
                        labels.size(),
                        " \"labels\", expected one of each per "
                        "step");
  }
  for (size_t i = 0; i < labels.size(); ++i) {
    const Json& step = fields["completions"][i];
    if (!step.is_string()) return "a completion is not text";
    out.steps.push_back(step.get<std::string>());
    const Json& given = labels[i];
    const bool whole = given.is_number_integer();
    if (given.is_null()) {
      out.labels.push_back(StepLabel::kUnknown);
    } else if (given.is_boolean() ||
               (whole && (Whole(given) == 0 || Whole(given) == 1))) {
      const bool right = given.is_boolean() ? given.get<bool>() : given == 1;
      out.labels.push_back(right ? StepLabel::kRight : StepLabel::kWrong);
    } else {
      return "a label is neither true nor false";
    }
    if (out.labels.back() == StepLabel::kWrong && out.first_error < 0) {
      out.first_error = static_cast<int>(i);
    }
  }
  return "";
}

// Whether the line is Espalier's own, whose steps end as a search ends them.
bool EndsAsSearched(const Json& completions) {
  return std::all_of(
      completions.begin(), completions.end(), [](const Json& step) {
        return step.is_string() &&
               step.get_ref<const std::string&>().ends_with('\n');
      });
}

struct StepKind {
  std::string_view name;
  std::string (*read)(const Json& fields, LabelledSolution& out,
                      Others& others);
};

// The kind whose columns `fields` has; null if none. `before`: the name of the
// kind of earlier records, "" for the first.
const StepKind* KindOf(const Json& fields, std::string_view before = "") {
  static constexpr StepKind kStepwise = {"trl-stepwise", ReadStepwise};
  static constexpr StepKind kProcessBench = {"processbench", ReadProcessBench};
  static constexpr StepKind kPrm800k = {"prm800k", ReadPrm800k};
  static constexpr StepKind kMathShepherd = {"math-shepherd", ReadMathShepherd};
  const auto type = [&](const char* column) {
    const auto it = fields.find(column);
    return it == fields.end() ? Json::value_t::null : it->type();
  };
  using Type = Json::value_t;
  if (type("problem") == Type::string && type("steps") == Type::array &&
      fields.contains("label")) {
    return &kProcessBench;
  }
  if (type("question") == Type::object && type("label") == Type::object) {
    return &kPrm800k;
  }
  if (type("input") == Type::string && type("label") == Type::string) {
    return &kMathShepherd;
  }
  if (type("prompt") == Type::string && type("completions") == Type::array &&
      type("labels") == Type::array && !fields.contains("values") &&
      !fields.contains("levels") &&
      (before == kStepwise.name || !EndsAsSearched(fields["completions"]))) {
    return &kStepwise;
  }
  return nullptr;
}

absl::StatusOr<LabelledSolution> Interpret(const Record& record,
                                           std::string* kind_name,
                                           Others& others) {
  const StepKind* kind = KindOf(record.fields, *kind_name);
  const auto error = [&](std::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat(record.place, ": ", AbslView(what)));
  };
  if (kind == nullptr) {
    return error(
        "expected a solution with labelled steps: ProcessBench's problem, "
        "steps and label, PRM800K's question and label, Math-Shepherd's input "
        "and label, or TRL's prompt, completions and labels");
  }
  LabelledSolution out{.place = record.place};
  const std::string problem = kind->read(record.fields, out, others);
  if (!problem.empty()) return error(problem);
  if (out.problem.find_first_not_of(" \t\r\n") == std::string::npos) {
    return error("the problem is empty or not text");
  }
  if (out.steps.empty()) return error("the solution has no steps");
  out.id = ColumnText(record.fields, "id");
  if (out.id.empty()) out.id = out.place;
  for (LabelledSolution& other : others) {
    other.id = absl::StrCat(out.id, other.id);
    other.place = out.place;
    other.problem = out.problem;
    other.answer = out.answer;
  }
  *kind_name = std::string(kind->name);
  return out;
}

}  // namespace

std::string_view LabelledKind(const Json& fields) {
  const StepKind* kind = KindOf(fields);
  return kind == nullptr ? "" : kind->name;
}

bool HoldsLabelledSteps(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return false;
  const auto reader = RecordReader::Open(path);
  while (reader.ok()) {
    const auto record = (*reader)->Next();
    if (!record.ok() && CanReadOn(record.status())) continue;
    return record.ok() && *record && KindOf((*record)->fields) != nullptr;
  }
  return false;
}

StepSetReader::StepSetReader(std::unique_ptr<RecordReader> records,
                             std::string name, StepSetOptions options)
    : records_(std::move(records)), options_(options) {
  report_.file = std::move(name);
}

absl::StatusOr<std::unique_ptr<StepSetReader>> StepSetReader::Open(
    const std::string& path, StepSetOptions options) {
  ESP_ASSIGN_OR_RETURN(auto records, RecordReader::Open(path));
  return Create(std::move(records), path, options);
}

std::unique_ptr<StepSetReader> StepSetReader::Create(
    std::unique_ptr<RecordReader> records, std::string name,
    StepSetOptions options) {
  return std::unique_ptr<StepSetReader>(
      new StepSetReader(std::move(records), std::move(name), options));
}

absl::Status StepSetReader::Skip(const absl::Status& error) {
  if (options_.strict) return error;
  report_.AddSkipped(error);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<LabelledSolution>> StepSetReader::Next() {
  if (!others_.empty()) {
    LabelledSolution next = std::move(others_.front());
    others_.pop_front();
    return next;
  }
  while (options_.limit == 0 || report_.read < options_.limit) {
    absl::StatusOr<std::optional<Record>> record = records_->Next();
    if (!record.ok()) {
      ESP_RETURN_IF_ERROR(Skip(record.status()));
      if (CanReadOn(record.status())) continue;
      if (report_.read == 0) return record.status();
      break;
    }
    if (!*record) {
      if (report_.read > 0) break;
      return report_.NothingRead("solutions with labelled steps");
    }
    absl::StatusOr<LabelledSolution> read =
        Interpret(**record, &kind_, others_);
    if (!options_.others || !read.ok()) others_.clear();
    if (!read.ok()) {
      ESP_RETURN_IF_ERROR(Skip(read.status()));
      continue;
    }
    ++report_.read;
    if (++kinds_[kind_] == 1) {
      absl::StrAppend(&report_.kind, report_.kind.empty() ? "" : ", ", kind_);
    }
    return *std::move(read);
  }
  return std::optional<LabelledSolution>();
}

}  // namespace espalier
