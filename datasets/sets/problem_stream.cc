#include "datasets/sets/problem_stream.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/foreign.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "datasets/sets/problem_set.h"
#include "datasets/tasks/generated_sets.h"

namespace espalier {
namespace {

constexpr int64_t kGeneratedDefault = 200;  // a minute's work for small models

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
        "\"", id, "\" is not an id of the set ", set.name, "; expected ",
        set.name, "/SEED/INDEX, e.g. ", set.name, "/2000/12"));
  }
  return set.make(seed, index);
}

class GeneratedStream : public ProblemStream {
 public:
  GeneratedStream(const GeneratedSet& set, const SetOptions& options)
      : ProblemStream(set.name),
        set_(set),
        options_(options),
        next_(options.shard),
        count_(options.limit > 0 ? options.limit : kGeneratedDefault) {
    if (options.ids.empty()) return;
    const auto all = static_cast<int64_t>(options.ids.size());
    count_ = std::max<int64_t>(0, all - options.first);
    if (options.limit > 0) count_ = std::min(count_, options.limit);
  }

  std::string task() const override { return set_.task; }

  absl::StatusOr<std::optional<GradedProblem>> Next() override {
    if (next_ >= count_) return std::optional<GradedProblem>();
    const auto index = static_cast<uint64_t>(options_.first + next_);
    next_ += options_.shards;
    if (options_.ids.empty()) return set_.make(options_.seed, index);
    ESP_ASSIGN_OR_RETURN(GradedProblem problem,
                         GeneratedById(set_, options_.ids[index]));
    return problem;
  }

 private:
  const GeneratedSet& set_;
  const SetOptions options_;
  int64_t next_;
  int64_t count_;
};

class FileStream : public ProblemStream {
 public:
  FileStream(const std::string& path, std::unique_ptr<SetReader> reader)
      : ProblemStream(path), reader_(std::move(reader)) {}

  std::string task() const override {
    return reader_->kind() == nullptr ? "qa"
                                      : std::string(reader_->kind()->task);
  }
  std::string gold() const override {
    return reader_->kind() == nullptr ? "" : std::string(reader_->kind()->gold);
  }
  std::vector<std::string> Notes() const override {
    return reader_->report().Notes();
  }

  absl::StatusOr<std::optional<GradedProblem>> Next() override {
    ESP_ASSIGN_OR_RETURN(std::optional<SetRecord> record, reader_->Next());
    if (!record) return std::optional<GradedProblem>();
    return ToProblem(*std::move(record), name());
  }

 private:
  const std::unique_ptr<SetReader> reader_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ProblemStream>> ProblemStream::Open(
    const std::string& spec, const SetOptions& options) {
  ESP_RETURN_IF_ERROR(CheckSetOptions(options));
  for (const GeneratedSet& set : GeneratedSets()) {
    if (set.name != spec) continue;
    if (options.shuffle || !options.columns.empty() || !options.kind.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(
          set.name,
          ": --shuffle, --columns and --kind are only for files; the problems "
          "of a generated set are drawn at random by its seed"));
    }
    return std::make_unique<GeneratedStream>(set, options);
  }
  if (spec == "-") {
    return absl::InvalidArgumentError(
        "-: expected a file, a folder or the name of a generated set; "
        "/dev/stdin names standard input");
  }
  std::error_code error;
  const bool there = std::filesystem::exists(spec, error);
  if (error) return FileError("open", spec, error.value());
  if (there) {
    ESP_ASSIGN_OR_RETURN(auto reader, SetReader::Open(spec, options));
    return std::make_unique<FileStream>(spec, std::move(reader));
  }
  if (spec.find_first_of("/.") != std::string::npos) {
    return absl::NotFoundError(absl::StrCat(
        spec, ": no such file or folder, and not a generated set such as ",
        SetNames().front(), ForeignName(spec, Wanted::kData)));
  }
  const std::string unknown =
      UnknownName("set", spec, std::vector<std::string>());
  const std::string known = UnknownName("set", spec, SetNames());
  return absl::NotFoundError(absl::StrCat(
      unknown, ", and there is no such file", known.substr(unknown.size())));
}

}  // namespace espalier
