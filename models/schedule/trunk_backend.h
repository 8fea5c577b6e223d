// A backend over one trunk in this process: continuous batching over a paged
// prefix tree.
//
//   auto trunk = Trunk::Load(folder).value();
//   auto tokenizer = Tokenizer::Load(folder).value();
//   TrunkBackend backend(*trunk, *tokenizer, executor, {.kv_bytes = 1 << 30});
//
// Each Step batches one token of every running continuation and chunks of the
// pending prefills, runs the trunk once, samples and returns what finished.
// Requests join and leave at every step. With drafts a continuation also runs
// guesses of its next tokens (draft_source.h): the same answers in fewer steps.
//
// Every token is computed once: a continuation's last token waits until a
// request scores or continues it, and both use the same pass. Samples of one
// request that are identical so far share one row, which splits where their
// draws differ. Under memory pressure sequences lose their pages
// (prefix_tree.h) and are recomputed when needed, with the same bits. If that
// is not enough, the youngest requests are preempted until an older one has
// ended: a request fails only if it could not run alone.
//
// Externally synchronised; it uses the executor's threads itself.
#ifndef ESPALIER_MODELS_SCHEDULE_TRUNK_BACKEND_H_
#define ESPALIER_MODELS_SCHEDULE_TRUNK_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/types/span.h"
#include "base/executor.h"
#include "models/backend/backend.h"
#include "models/pages/page_pool.h"
#include "models/schedule/draft_source.h"
#include "models/schedule/prefill_queue.h"
#include "models/schedule/prefix_tree.h"
#include "models/schedule/row.h"
#include "models/schedule/row_sampler.h"
#include "models/tokenizer/tokenizer.h"
#include "models/trunk/trunk.h"

namespace espalier {

struct TrunkBackendOptions {
  int64_t kv_bytes = int64_t{1} << 30;
  int chunk_tokens = 256;    // per sequence and step: bounds how long a long
                             // prompt keeps others waiting
  int prefill_tokens = 512;  // per step, over all sequences
  // Rows that decode in one step; others wait in order of arrival, which keeps
  // the batch full when requests come in waves.
  int max_rows = 1024;
  bool share_rows = true;  // false: one row per sample, for comparison
  // Guesses the next tokens of a continuation and runs them in the same batch.
  bool drafts = false;
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
  // The work of one step. Segments point into the tables of rows and sequences,
  // which do not change during the step.
  struct Batch {
    struct Planned {
      Row* row = nullptr;
      int count = 0;  // tokens forwarded
      uint64_t first_pages = 0;
    };
    std::vector<Planned> rows;
    std::vector<Row*> starting;  // rows about to draw their first token
    std::vector<RowSampler::Place> drawing;  // tokens drawn in this step
    std::vector<Segment> segments;           // of rows, then of prefills
    // [drawing, then prefills and rows that catch up, then given texts; d]
    std::vector<float> hidden;
    std::vector<int32_t> given;  // tokens to score in rows of given texts
    size_t first_given = 0;      // where their rows begin in `hidden`
    int room = 0;                // prefill tokens left in this step
  };

  // The phases of a step, in order.
  void StartReady();
  void PlanRows();
  void PlanDrafts();
  void PlanHidden();
  void RunTrunk();
  void DrawTokens();
  void ScoreTexts();
  void FinishRows();
  void FinishJobs(std::vector<Completion>& done);
  // No progress for lack of memory: preempts the youngest request, or fails the
  // only one left.
  void MakeRoom();

  void StartRows(Job& job);
  void StartTexts(Job& job);
  Row& AddRow(Job& job);
  // True if `row` has a table; makes one if memory allows.
  bool HasTable(Row& row);
  // True if the batch computes all tokens that the row has.
  bool Draws(const Batch::Planned& planned) const;
  // Records that `count` more tokens of `row` are computed.
  void Advance(Row& row, int count);
  // The text of `id`, for guesses. Learns its prompt if it is new.
  DraftSource::Context ContextOf(SeqId id);
  void LearnPrompt(SeqId prompt);
  // Guesses at most `most` tokens after `row`, for a batch of `cost` in rows
  // that gives `gain` tokens; updates both.
  void Guess(Row& row, int most, float& cost, float& gain);
  // Takes what was drawn after the row's last token and after its guesses.
  void TakeDraws(Row& row, absl::Span<const RowSampler::Output> outputs);
  // Takes what the row's samples drew, each at its place in output.drawn
  // (places_). Splits those that differ. True if some drew `guess`: the row
  // goes on with these.
  bool Accept(Row& row, const RowSampler::Output& output, int32_t guess);
  // `drawn` is one of output.drawn.
  void Push(Row& row, const Sampled& drawn, const RowSampler::Output& output);
  std::unique_ptr<Row> Fork(const Row& row, std::vector<Member> members);
  void FinishRow(Row& row);
  bool FinishScore(Job& job);
  void ReadLogprobs(Job& job);
  // Releases the sequences of a completion that nobody will receive.
  void ReleaseResults(const Completion& completion);
  void DropJob(std::list<Job>::iterator job);
  // A request has ended: a preempted one may resume.
  void ResumeOldest();

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
  DraftSource drafts_;
  absl::flat_hash_set<uint64_t> prompts_;  // hashes of those learned for it
  std::list<Job> jobs_;                    // in order of submission
  Rows rows_;  // in order of start; forks next to their row
  Batch batch_;
  std::vector<size_t> places_;  // of the samples whose draws are being taken
  int preempted_ = 0;           // preempted requests in jobs_
  bool scarce_ = false;         // rows without pages wait for those with pages
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_SCHEDULE_TRUNK_BACKEND_H_
