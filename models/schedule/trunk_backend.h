// A backend over one trunk in this process: continuous batching over a prefix
// tree in pages.
//
//   auto trunk = Trunk::Load(folder).value();
//   auto tokenizer = Tokenizer::Load(folder).value();
//   TrunkBackend backend(*trunk, *tokenizer, executor, {.kv_bytes = 1 << 30});
//
// Each Step gathers one token of every continuation under way and chunks of
// sequences still to be computed, runs them through the trunk at once, samples
// and returns what finished. Requests join and leave at every step.
//
// Every token is computed once: a continuation's last token waits until
// somebody scores or continues it, and then both use the same pass. Under
// memory pressure the least recently used sequences lose their pages and are
// computed again when needed, with the same bits.
//
// Externally synchronised; it spreads work over the executor itself.
#ifndef ESPALIER_MODELS_SCHEDULE_TRUNK_BACKEND_H_
#define ESPALIER_MODELS_SCHEDULE_TRUNK_BACKEND_H_

#include <list>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "models/cpu/trunk.h"
#include "models/pages/page_pool.h"
#include "models/sampling/sampler.h"
#include "models/schedule/backend.h"
#include "models/schedule/prefix_tree.h"
#include "models/tokenizer/tokenizer.h"
#include "src/base/executor.h"

namespace espalier {

struct TrunkBackendOptions {
  int64_t kv_bytes = int64_t{1} << 30;
  int chunk_tokens = 256;  // of one sequence in one step: bounds the time that
                           // a long prompt keeps the others waiting
  int prefill_tokens = 512;  // of all sequences in one step, likewise
};

class TrunkBackend : public Backend {
 public:
  // `trunk`, `tokenizer` and `executor` outlive the backend.
  TrunkBackend(Trunk& trunk, const Tokenizer& tokenizer, Executor& executor,
               TrunkBackendOptions options = {});
  ~TrunkBackend() override;

  const Capabilities& capabilities() const override { return capabilities_; }
  const BackendStats& stats() const override { return stats_; }
  SeqId Extend(SeqId parent, absl::Span<const int32_t> tokens) override;
  void Release(SeqId seq) override;
  void Submit(Request request) override;
  bool Step(std::vector<Completion>& done) override;
  void Cancel(RequestId id) override;

  const PagePool& pool() const { return pool_; }
  const PrefixTree& sequences() const { return tree_; }

 private:
  // A request under way.
  struct Job {
    RequestId id = 0;
    bool generate = false;
    GenerateRequest generation;
    std::vector<SeqId> sequences;  // whose last hidden row is needed; held
    bool started = false;          // generation: its rows exist
    int unfinished = 0;            // rows
    absl::Status failure;
    Completion completion;
  };
  // One continuation being sampled.
  struct Row {
    Job* job = nullptr;
    int index = 0;  // within the request
    StreamKey key;
    PageTable table;  // resident: all but the token sampled last
    std::vector<int32_t> tokens;
    std::vector<float> logprobs;
    std::vector<float> sampler_logprobs;
    std::string text;
    double entropy = 0;
    bool paused = false;  // had no page in this step
  };
  struct Batch;  // what one step runs

  absl::Status CheckRequest(const Request& request) const;
  // True if `id`'s hidden row is there (and its pages, if `pages`); else sees
  // to it that what is missing is being computed.
  bool Ensure(SeqId id, bool pages);
  // Stops computing sequences that nobody has asked for in this step: their
  // requests were cancelled or failed. Their pages stay, open to eviction.
  void DropUnwanted();
  void StartReady();
  void StartRows(Job& job);
  void PlanRows(Batch& batch);
  void PlanSequences(Batch& batch);
  void RunTrunk(Batch& batch);
  void SampleRows(Batch& batch);
  void Accept(Row& row, const Sampled& drawn);
  bool Finished(const Row& row, Finish* finish) const;
  void FinishRows();
  void FinishJobs(std::vector<Completion>& done);
  void FailYoungest();
  void DropJob(std::list<Job>::iterator job);

  Trunk& trunk_;
  const Tokenizer& tokenizer_;
  Executor& executor_;
  const TrunkBackendOptions options_;
  Capabilities capabilities_;
  BackendStats stats_;
  std::unique_ptr<PageMemory> memory_;
  PagePool pool_;
  PrefixTree tree_;
  std::list<Job> jobs_;         // in order of submission
  std::list<Row> rows_;         // in order of start
  std::vector<SeqId> filling_;  // being computed, locked, in order of start
  absl::flat_hash_set<SeqId> wanted_;  // of filling_, asked for in this step
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_TRUNK_BACKEND_H_
