#include "tools/espalier/set_blocks.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "datasets/sets/problem_set.h"
#include "tools/espalier/printable.h"

namespace espalier {
namespace {

constexpr size_t kBlock = 1024;

uint64_t MixProblem(uint64_t hash, const GradedProblem& graded) {
  const uint64_t texts[] = {StableHash(graded.problem.id),
                            StableHash(graded.problem.question),
                            StableHash(graded.reference.answer)};
  for (const uint64_t text : texts) hash = MixHash(hash, text);
  return hash;
}

}  // namespace

absl::StatusOr<SetBlocks> SetBlocks::Open(SetFlags& flags) {
  ESP_RETURN_IF_ERROR(ReadSetFlags(flags));
  SetBlocks set;
  set.spec_ = flags.set;
  set.options_ = flags.options;
  std::error_code error;
  const std::filesystem::file_status status =
      std::filesystem::status(flags.set, error);
  const bool once = std::filesystem::exists(status) &&
                    !std::filesystem::is_regular_file(status) &&
                    !std::filesystem::is_directory(status);
  if (once) {
    ESP_ASSIGN_OR_RETURN(ProblemSet all, LoadSet(flags.set, flags.options));
    if (all.problems.empty()) {
      ESP_RETURN_IF_ERROR(CheckFirst(flags.set, flags.options));
    }
    set.name_ = all.name;
    set.task_ = all.task;
    set.gold_ = all.gold;
    set.notes_ = std::move(all.notes);
    set.kept_ = std::move(all.problems);
    return set;
  }
  const auto stream = ProblemStream::Open(flags.set, flags.options);
  const auto first = stream.ok() ? (*stream)->Next() : stream.status();
  if (!first.ok()) return SetError(flags.set, flags.options, first.status());
  if (!*first) ESP_RETURN_IF_ERROR(CheckFirst(flags.set, flags.options));
  set.name_ = (*stream)->name();
  set.task_ = (*stream)->task();
  return set;
}

absl::Status SetBlocks::KeepJudged(const Verifier& verifier) {
  verifier_ = &verifier;
  std::string first;  // id of the first problem left out
  int64_t all = 0;
  const auto add = [&](const GradedProblem& graded) {
    ++all;
    if (Judged(graded)) {
      ++count_;
      hash_ = MixProblem(hash_, graded);
    } else if (first.empty()) {
      first = graded.problem.id;
    }
  };
  std::string gold = gold_;
  std::vector<std::string> notes = notes_;
  if (kept_) {
    for (const GradedProblem& graded : *kept_) add(graded);
    std::erase_if(*kept_, [&](const auto& graded) { return !Judged(graded); });
  } else {
    ESP_ASSIGN_OR_RETURN(const auto stream,
                         ProblemStream::Open(spec_, options_));
    while (true) {
      const auto graded = stream->Next();
      if (!graded.ok()) return SetError(spec_, options_, graded.status());
      if (!*graded) break;
      add(**graded);
    }
    gold = stream->gold();
    notes = stream->Notes();
  }
  for (const std::string& note : notes) {
    std::fprintf(stderr, "%s\n", Printable(note).c_str());
  }
  ESP_ASSIGN_OR_RETURN(const std::string note,
                       UnjudgedNote(name_, gold, all, count_, first));
  if (!note.empty()) std::fprintf(stderr, "%s\n", Printable(note).c_str());
  return absl::OkStatus();
}

absl::Status SetBlocks::Read(const Use& use) const {
  if (kept_) return use(*kept_);
  ESP_ASSIGN_OR_RETURN(const auto stream, ProblemStream::Open(spec_, options_));
  std::vector<GradedProblem> block;
  uint64_t hash = 0;
  while (true) {
    ESP_ASSIGN_OR_RETURN(std::optional<GradedProblem> graded, stream->Next());
    if (!graded) break;
    if (!Judged(*graded)) continue;
    hash = MixProblem(hash, *graded);
    block.push_back(*std::move(graded));
    if (block.size() < kBlock) continue;
    ESP_RETURN_IF_ERROR(use(block));
    block.clear();
  }
  if (hash != hash_) {
    return absl::FailedPreconditionError(absl::StrCat(
        name_,
        ": the file has changed since it was first read; leave it as it "
        "is until the command has ended"));
  }
  return block.empty() ? absl::OkStatus() : use(block);
}

absl::StatusOr<std::vector<Problem>> SetBlocks::First(size_t n) const {
  std::vector<Problem> first;
  if (kept_) {
    for (size_t i = 0; i < kept_->size() && i < n; ++i) {
      first.push_back((*kept_)[i].problem);
    }
    return first;
  }
  SetOptions whole = options_;
  whole.shard = 0;
  whole.shards = 1;
  ESP_ASSIGN_OR_RETURN(const auto stream, ProblemStream::Open(spec_, whole));
  while (first.size() < n) {
    ESP_ASSIGN_OR_RETURN(const std::optional<GradedProblem> graded,
                         stream->Next());
    if (!graded) break;
    if (Judged(*graded)) first.push_back(graded->problem);
  }
  return first;
}

}  // namespace espalier
