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
// somebody scores or continues it, and then both use the same pass. Samples of
// one request that agree so far are one row and part where their draws differ.
// Under memory pressure sequences lose their pages (prefix_tree.h) and are
// computed again when needed, with the same bits. When that does not suffice,
// the youngest requests give up their pages until an older one has ended: a
// request fails only if it could not run alone.
//
// Externally synchronised; it spreads work over the executor itself.
#ifndef ESPALIER_MODELS_SCHEDULE_TRUNK_BACKEND_H_
#define ESPALIER_MODELS_SCHEDULE_TRUNK_BACKEND_H_

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/executor.h"
#include "models/backend/backend.h"
#include "models/pages/page_pool.h"
#include "models/schedule/prefill_queue.h"
#include "models/schedule/prefix_tree.h"
#include "models/schedule/row.h"
#include "models/schedule/row_sampler.h"
#include "models/tokenizer/tokenizer.h"
#include "models/trunk/trunk.h"

namespace espalier {

struct TrunkBackendOptions {
  int64_t kv_bytes = int64_t{1} << 30;
  int chunk_tokens = 256;  // of one sequence in one step: bounds the time that
                           // a long prompt keeps the others waiting
  int prefill_tokens = 512;  // of all sequences in one step, likewise
  // Rows that decode in one step; the others wait, in order of arrival, which
  // keeps the batch full when requests come in waves.
  int max_rows = 1024;
  bool share_rows = true;  // false: a row for every sample, for comparison
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
  void SetRetention(SeqId seq, float priority) override;
  void Submit(Request request) override;
  bool Step(std::vector<Completion>& done) override;
  void Cancel(RequestId id) override;

  const PagePool& pool() const { return pool_; }
  const PrefixTree& sequences() const { return tree_; }

 private:
  using Rows = std::vector<std::unique_ptr<Row>>;
  // What one step runs. Segments point into the rows' and sequences' tables,
  // which do not change while it runs.
  struct Batch {
    struct Planned {
      Row* row = nullptr;
      int count = 0;  // tokens forwarded
      uint64_t first_pages = 0;
    };
    std::vector<Planned> rows;
    std::vector<Row*> starting;     // that take their first token
    std::vector<Row*> drawing;      // that draw a token after this step
    std::vector<Segment> segments;  // the rows', then the fills'
    // [drawing, then fills and rows that catch up, then given texts; d]
    std::vector<float> hidden;
    std::vector<int32_t> given;  // tokens scored after the rows of given texts
    size_t first_given = 0;      // the first of those in `hidden`
    int room = 0;                // tokens that may still be filled
  };

  // What a step does, in this order.
  void StartReady();
  void PlanRows();
  void PlanHidden();
  void RunTrunk();
  void DrawTokens();
  void ScoreTexts();
  void FinishRows();
  void FinishJobs(std::vector<Completion>& done);
  // Nothing moved because of memory: takes pages from the youngest, or fails
  // the only one that is left.
  void MakeRoom();

  void StartRows(Job& job);
  void StartTexts(Job& job);
  Row& AddRow(Job& job);
  // True if `row` has a table, made if there is memory for it.
  bool HasTable(Row& row);
  // Counts `count` more tokens of `row` as computed.
  void Advance(Row& row, int count);
  void Accept(Row& row, const RowSampler::Output& output);
  // `drawn` is one of the output's.
  void Push(Row& row, const Sampled& drawn, const RowSampler::Output& output);
  std::unique_ptr<Row> Fork(const Row& row, std::vector<Member> members);
  void FinishRow(Row& row);
  bool FinishScore(Job& job);
  void Unlock(Job& job);
  void DropJob(std::list<Job>::iterator job);
  // A request has ended: others may go on.
  void Unpark();

  Trunk& trunk_;
  const Tokenizer& tokenizer_;
  Executor& executor_;
  const TrunkBackendOptions options_;
  Capabilities capabilities_;
  BackendStats stats_;
  std::unique_ptr<PageMemory> memory_;
  PagePool pool_;
  PrefixTree tree_;
  PrefillQueue prefills_;
  RowSampler sampler_;
  std::list<Job> jobs_;  // in order of submission
  Rows rows_;            // in order of start; those that forks side by side
  Batch batch_;
  int preempted_ = 0;    // of jobs_
  bool scarce_ = false;  // rows without pages wait for those that have some
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_TRUNK_BACKEND_H_
