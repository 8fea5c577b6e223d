#include "tools/espalier/set_blocks.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "datasets/sets/problem_set.h"
#include "datasets/sets/unjudged.h"
#include "datasets/tasks/broken_golds.h"
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

// With the columns that the verdict is taken from.
uint64_t HashOf(const GradedProblem& graded) {
  uint64_t hash = MixProblem(0, graded);
  for (const auto& [name, text] : graded.reference.fields) {
    hash = MixHash(hash, StableHash(text));
  }
  return hash;
}

}  // namespace

bool SetBlocks::Judged(const GradedProblem& graded) const {
  if (verifier_ == nullptr) return true;
  return verifier_->CanCheck(graded.reference) &&
         (broken_.empty() || !broken_.contains(HashOf(graded)));
}

absl::StatusOr<SetBlocks> SetBlocks::Open(SetFlags& flags) {
  ESP_RETURN_IF_ERROR(ReadSetFlags(flags));
  ESP_RETURN_IF_ERROR(CheckGeneratedCount(flags));
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
  Unjudged unjudged;
  std::string broken, why;  // id of the first with a broken one, and how
  int64_t all = 0, judged = 0;
  std::vector<GradedProblem> block;  // with golds, not yet counted
  const auto count = [&]() -> absl::Status {
    ESP_ASSIGN_OR_RETURN(const std::vector<std::string> reasons,
                         WhyGoldsAreBroken(verifier, block));
    for (size_t i = 0; i < block.size(); ++i) {
      if (reasons[i].empty()) {
        ++count_;
        hash_ = MixProblem(hash_, block[i]);
        continue;
      }
      broken_.insert(HashOf(block[i]));
      if (why.empty()) {
        broken = block[i].problem.id;
        why = reasons[i];
      }
    }
    judged += static_cast<int64_t>(block.size());
    block.clear();
    return absl::OkStatus();
  };
  const auto add = [&](const GradedProblem& graded) -> absl::Status {
    ++all;
    if (verifier.CanCheck(graded.reference)) {
      block.push_back(graded);
    } else {
      unjudged.Add(graded);
    }
    return block.size() < kBlock ? absl::OkStatus() : count();
  };
  std::string gold = gold_;
  std::vector<std::string> notes = notes_;
  if (kept_) {
    for (const GradedProblem& graded : *kept_) {
      ESP_RETURN_IF_ERROR(add(graded));
    }
    ESP_RETURN_IF_ERROR(count());
    std::erase_if(*kept_, [&](const auto& graded) { return !Judged(graded); });
  } else {
    ESP_ASSIGN_OR_RETURN(const auto stream,
                         ProblemStream::Open(spec_, options_));
    while (true) {
      const auto graded = stream->Next();
      if (!graded.ok()) return SetError(spec_, options_, graded.status());
      if (!*graded) break;
      ESP_RETURN_IF_ERROR(add(**graded));
    }
    ESP_RETURN_IF_ERROR(count());
    gold = stream->gold();
    notes = stream->Notes();
  }
  ESP_ASSIGN_OR_RETURN(notes.emplace_back(), unjudged.Note(name_, gold, all));
  ESP_ASSIGN_OR_RETURN(
      notes.emplace_back(),
      BrokenGoldsNote(name_, judged, judged - count_, broken, why));
  for (const std::string& note : notes) {
    if (note.empty()) continue;
    std::fprintf(stderr, "%s\n", Printable(note).c_str());
  }
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
