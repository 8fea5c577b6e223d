#include "datasets/sets/problem_set.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "datasets/answers/grade.h"
#include "datasets/sets/problem_stream.h"
#include "datasets/sets/unjudged.h"
#include "datasets/tasks/broken_golds.h"
#include "datasets/tasks/generated_sets.h"
#include "nlohmann/json.hpp"

namespace espalier {
std::vector<std::string> SetNames() {
  std::vector<std::string> names;
  for (const GeneratedSet& set : GeneratedSets()) names.push_back(set.name);
  return names;
}

absl::StatusOr<LoadedProblems> LoadProblems(const std::string& spec,
                                            const ProblemChoice& choice) {
  ESP_ASSIGN_OR_RETURN(ProblemSet set, LoadSet(spec, {.limit = choice.limit,
                                                      .seed = choice.seed,
                                                      .first = choice.first}));
  return LoadedProblems{std::move(set.task), std::move(set.problems)};
}

GradedProblem ToProblem(SetRecord record, const std::string& set) {
  GradedProblem out;
  out.problem = {std::move(record.id), set, std::move(record.question)};
  // "1,005" is 1005; a decimal stays as published.
  const auto number = ParseNumber(record.answer);
  out.reference.answer = number && number->den == 1
                             ? CanonicalAnswer(record.answer)
                             : std::move(record.answer);
  // Only what a grader may need, without the texts stored elsewhere.
  constexpr std::array<std::string_view, 4> kElsewhere = {"question", "problem",
                                                          "answer", "solution"};
  for (const auto& [name, value] : record.fields.items()) {
    if (std::find(kElsewhere.begin(), kElsewhere.end(), name) !=
            kElsewhere.end() ||
        value.is_null()) {
      continue;
    }
    out.reference.fields[name] =
        value.is_string() ? value.get<std::string>() : JsonText(value);
  }
  return out;
}

absl::StatusOr<std::string> KeepJudged(const Verifier& verifier,
                                       ProblemSet& set) {
  const auto all = static_cast<int64_t>(set.problems.size());
  Unjudged unjudged;
  std::erase_if(set.problems, [&](const GradedProblem& graded) {
    if (verifier.CanCheck(graded.reference)) return false;
    unjudged.Add(graded);
    return true;
  });
  const auto judged = static_cast<int64_t>(set.problems.size());
  ESP_ASSIGN_OR_RETURN(std::string note,
                       unjudged.Note(set.name, set.gold, all));
  ESP_ASSIGN_OR_RETURN(const std::vector<std::string> reasons,
                       WhyGoldsAreBroken(verifier, set.problems));
  std::vector<GradedProblem> kept;
  std::string broken, why;
  for (size_t i = 0; i < reasons.size(); ++i) {
    if (reasons[i].empty()) {
      kept.push_back(std::move(set.problems[i]));
    } else if (why.empty()) {
      broken = set.problems[i].problem.id;
      why = reasons[i];
    }
  }
  set.problems = std::move(kept);
  ESP_ASSIGN_OR_RETURN(
      const std::string more,
      BrokenGoldsNote(set.name, judged,
                      judged - static_cast<int64_t>(set.problems.size()),
                      broken, why));
  if (!note.empty() && !more.empty()) note += "\n";
  return note + more;
}

absl::StatusOr<std::vector<GradedProblem>> ParseQuestionLines(
    std::string_view text, const std::string& file) {
  ESP_ASSIGN_OR_RETURN(
      const auto reader,
      SetReader::Create(
          MakeJsonLinesReader(ByteSource::FromText(std::string(text), file)),
          file, {.strict = true}));
  std::vector<GradedProblem> problems;
  while (true) {
    ESP_ASSIGN_OR_RETURN(std::optional<SetRecord> record, reader->Next());
    if (!record) return problems;
    problems.push_back(ToProblem(*std::move(record), file));
  }
}

std::vector<Problem> ProblemsOf(absl::Span<const GradedProblem> graded) {
  std::vector<Problem> problems;
  problems.reserve(graded.size());
  for (const GradedProblem& one : graded) problems.push_back(one.problem);
  return problems;
}

absl::StatusOr<ProblemSet> LoadSet(const std::string& spec,
                                   const SetOptions& options) {
  ESP_ASSIGN_OR_RETURN(const auto stream, ProblemStream::Open(spec, options));
  ProblemSet set{.name = stream->name()};
  while (true) {
    ESP_ASSIGN_OR_RETURN(std::optional<GradedProblem> problem, stream->Next());
    if (!problem) break;
    set.problems.push_back(*std::move(problem));
  }
  set.task = stream->task();
  set.gold = stream->gold();
  set.notes = stream->Notes();
  return set;
}

}  // namespace espalier
