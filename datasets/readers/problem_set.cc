#include "datasets/readers/problem_set.h"

#include <array>
#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "datasets/generators/generated_sets.h"
#include "datasets/grade/grade.h"
#include "src/base/json_text.h"
#include "src/base/status_macros.h"
#include "src/base/text.h"

namespace espalier {
namespace {

constexpr int64_t kGeneratedDefault = 200;  // a minute's work for small models

absl::Status ReadAll(SetReader& reader, ProblemSet& set) {
  while (true) {
    ESP_ASSIGN_OR_RETURN(std::optional<SetRecord> record, reader.Next());
    if (!record) break;
    set.problems.push_back(ToProblem(*std::move(record), set.name));
  }
  set.notes = reader.report().Notes();
  if (reader.kind() == nullptr) return absl::OkStatus();
  set.task = std::string(reader.kind()->task);
  set.gold = std::string(reader.kind()->gold);
  return absl::OkStatus();
}

absl::StatusOr<ProblemSet> LoadFile(const std::string& path,
                                    const SetOptions& options) {
  ProblemSet set{.name = path, .task = "qa"};
  ESP_ASSIGN_OR_RETURN(const auto reader, SetReader::Open(path, options));
  ESP_RETURN_IF_ERROR(ReadAll(*reader, set));
  return set;
}

// "stories:hard/2000/12" is problem 12 of seed 2000.
absl::StatusOr<GradedProblem> GeneratedById(const GeneratedSet& set,
                                            const std::string& id) {
  const size_t last = id.rfind('/');
  const size_t middle = last == std::string::npos || last == 0
                            ? std::string::npos
                            : id.rfind('/', last - 1);
  uint64_t seed = 0;
  uint64_t index = 0;
  if (middle == std::string::npos || id.substr(0, middle) != set.name ||
      !absl::SimpleAtoi(id.substr(middle + 1, last - middle - 1), &seed) ||
      !absl::SimpleAtoi(id.substr(last + 1), &index)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "\"", id, "\" is no id of the set ", set.name, "; expected ", set.name,
        "/SEED/INDEX, as ", set.name, "/2000/12"));
  }
  return set.make(seed, index);
}

absl::StatusOr<ProblemSet> Generate(const GeneratedSet& generated,
                                    const SetOptions& options) {
  ProblemSet set{.name = generated.name, .task = generated.task};
  if (options.shuffle || !options.columns.empty() || !options.kind.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        set.name,
        ": a shuffle, columns and a kind are for files; the problems "
        "of a generated set are drawn at random by its seed"));
  }
  int64_t count = options.limit > 0 ? options.limit : kGeneratedDefault;
  if (!options.ids.empty()) {
    const auto all = static_cast<int64_t>(options.ids.size());
    count = std::max<int64_t>(0, all - options.first);
    if (options.limit > 0) count = std::min(count, options.limit);
  }
  for (int64_t i = options.shard; i < count; i += options.shards) {
    const auto index = static_cast<uint64_t>(options.first + i);
    if (options.ids.empty()) {
      set.problems.push_back(generated.make(options.seed, index));
    } else {
      ESP_ASSIGN_OR_RETURN(GradedProblem problem,
                           GeneratedById(generated, options.ids[index]));
      set.problems.push_back(std::move(problem));
    }
  }
  return set;
}

}  // namespace

std::vector<std::string> SetNames() {
  std::vector<std::string> names;
  for (const GeneratedSet& set : GeneratedSets()) names.push_back(set.name);
  return names;
}

GradedProblem ToProblem(SetRecord record, const std::string& set) {
  GradedProblem out;
  out.problem = {std::move(record.id), set, std::move(record.question)};
  // "1,005" is 1005; a decimal stays as its publisher wrote it.
  const auto number = ParseNumber(record.answer);
  out.reference.answer = number && number->den == 1
                             ? CanonicalAnswer(record.answer)
                             : std::move(record.answer);
  // What a grader may need, not the texts that stand elsewhere.
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
  std::string first;
  std::erase_if(set.problems, [&](const GradedProblem& graded) {
    if (verifier.CanCheck(graded.reference)) return false;
    if (first.empty()) first = graded.problem.id;
    return true;
  });
  const auto left = static_cast<int64_t>(set.problems.size());
  if (left == all) return std::string();
  const std::string where =
      set.gold.empty() ? "" : absl::StrCat(" under ", set.gold);
  if (left == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        set.name, ": no record has a gold answer", where,
        ", so no response to them can be right or wrong; name the column that "
        "has it (--columns question=NAME,answer=NAME)"));
  }
  return absl::StrCat(set.name, ": ", all - left, " of ", all,
                      " records have no gold answer", where,
                      " and are left out; the first is ", first);
}

absl::StatusOr<std::vector<GradedProblem>> ParseQuestionLines(
    std::string_view text, const std::string& file) {
  ESP_ASSIGN_OR_RETURN(
      const auto reader,
      SetReader::Create(
          MakeJsonLinesReader(ByteSource::FromText(std::string(text), file)),
          file, {.strict = true}));
  ProblemSet set{.name = file};
  ESP_RETURN_IF_ERROR(ReadAll(*reader, set));
  return std::move(set.problems);
}

std::vector<Problem> ProblemsOf(absl::Span<const GradedProblem> graded) {
  std::vector<Problem> problems;
  problems.reserve(graded.size());
  for (const GradedProblem& one : graded) problems.push_back(one.problem);
  return problems;
}

absl::StatusOr<ProblemSet> LoadSet(const std::string& spec,
                                   const SetOptions& options) {
  ESP_RETURN_IF_ERROR(CheckSetOptions(options));
  for (const GeneratedSet& set : GeneratedSets()) {
    if (set.name == spec) return Generate(set, options);
  }
  std::error_code error;
  if (std::filesystem::exists(spec, error)) return LoadFile(spec, options);
  if (spec.find_first_of("/.") != std::string::npos) {
    return absl::NotFoundError(
        absl::StrCat(spec, ": no such file or folder, nor a generated set as ",
                     SetNames().front()));
  }
  return absl::NotFoundError(
      absl::StrCat(UnknownName("set", spec, SetNames()),
                   "; nor is there a file of this name"));
}

}  // namespace espalier
