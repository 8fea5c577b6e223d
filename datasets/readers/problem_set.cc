#include "datasets/readers/problem_set.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "datasets/generators/countdown.h"
#include "datasets/generators/stories.h"
#include "datasets/grade/grade.h"
#include "nlohmann/json.hpp"
#include "src/base/files.h"
#include "src/base/status_macros.h"
#include "src/base/text.h"

namespace espalier {
namespace {

constexpr int64_t kGeneratedDefault = 200;  // a minute's work for small models

absl::StatusOr<GradedProblem> ParseLine(std::string_view line,
                                        const std::string& place) {
  const nlohmann::json object =
      nlohmann::json::parse(line.begin(), line.end(), nullptr, false);
  const auto error = [&](std::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(
        place, ": ", AbslView(what),
        "; expected an object {\"question\": \"...\", \"answer\": \"...\"}"));
  };
  if (object.is_discarded()) return error("not JSON");
  if (!object.is_object()) return error("JSON, but not an object");
  GradedProblem out;
  const auto question = object.find("question");
  if (question == object.end() || !question->is_string()) {
    return error("no text under \"question\"");
  }
  out.problem.question = question->get<std::string>();
  if (out.problem.question.find_first_not_of(" \t\r\n") == std::string::npos) {
    return error("the question is empty");
  }
  const auto answer = object.find("answer");
  if (answer != object.end() && answer->is_string()) {
    std::string text = answer->get<std::string>();
    const size_t mark = text.rfind("#### ");  // GSM8K
    if (mark != std::string::npos) text = text.substr(mark + 5);
    out.reference.answer = CanonicalAnswer(text);
  } else if (answer != object.end() && answer->is_number()) {
    out.reference.answer = CanonicalAnswer(answer->dump());
  } else if (answer != object.end()) {
    return error("\"answer\" is neither text nor a number");
  }
  return out;
}

absl::StatusOr<ProblemSet> LoadFile(const std::string& path,
                                    const SetOptions& options) {
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ProblemSet set{.name = path, .task = "qa"};
  ESP_ASSIGN_OR_RETURN(std::vector<GradedProblem> all,
                       ParseQuestionLines(text, path));
  const size_t begin = std::min(all.size(), static_cast<size_t>(options.first));
  size_t end = all.size();
  if (options.limit > 0) {
    end = std::min(end, begin + static_cast<size_t>(options.limit));
  }
  set.problems.assign(all.begin() + static_cast<std::ptrdiff_t>(begin),
                      all.begin() + static_cast<std::ptrdiff_t>(end));
  return set;
}

}  // namespace

std::vector<std::string> SetNames() {
  std::vector<std::string> names;
  for (const StoryBand& band : StoryBands()) {
    names.push_back(absl::StrCat("stories:", AbslView(band.name)));
  }
  for (int count = 3; count <= 5; ++count) {
    names.push_back(absl::StrCat("countdown:", count));
  }
  return names;
}

absl::StatusOr<std::vector<GradedProblem>> ParseQuestionLines(
    std::string_view text, const std::string& file) {
  std::vector<GradedProblem> problems;
  int64_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    ESP_ASSIGN_OR_RETURN(GradedProblem problem,
                         ParseLine(line, absl::StrCat(file, ":", number)));
    problem.problem.id = absl::StrCat(file, ":", number);
    problem.problem.set = file;
    problems.push_back(std::move(problem));
  }
  if (problems.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(file, ": no problems in it; expected a JSON object with ",
                     "\"question\" and \"answer\" a line"));
  }
  return problems;
}

absl::StatusOr<ProblemSet> LoadSet(const std::string& spec,
                                   const SetOptions& options) {
  if (options.limit < 0 || options.first < 0) {
    return absl::InvalidArgumentError(
        "the limit and the first index of a set must not be negative");
  }
  const int64_t count = options.limit > 0 ? options.limit : kGeneratedDefault;
  ProblemSet set{.name = spec};
  const std::vector<std::string> names = SetNames();
  if (std::find(names.begin(), names.end(), spec) == names.end()) {
    std::error_code error;
    if (std::filesystem::exists(spec, error)) return LoadFile(spec, options);
    return absl::NotFoundError(absl::StrCat(
        UnknownName("set", spec, names), "; nor is there a file of this name"));
  }
  const std::string tail = spec.substr(spec.find(':') + 1);
  set.task = spec.substr(0, spec.find(':'));
  for (int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<uint64_t>(options.first + i);
    set.problems.push_back(
        set.task == "stories"
            ? MakeStory(*FindStoryBand(tail), options.seed, index)
            : MakeCountdown(tail[0] - '0', options.seed, index));
  }
  return set;
}

}  // namespace espalier
