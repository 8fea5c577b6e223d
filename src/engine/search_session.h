// One search in progress: its context, its coroutine and the sequences that its
// nodes have in the models.
#ifndef ESPALIER_SRC_ENGINE_SEARCH_SESSION_H_
#define ESPALIER_SRC_ENGINE_SEARCH_SESSION_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "espalier/search_options.h"
#include "espalier/search_result.h"
#include "models/backend/backend.h"
#include "search/algorithm.h"
#include "search/search_context.h"
#include "src/engine/reward_reader.h"
#include "src/engine/speculation.h"
#include "src/engine/step_judge.h"

namespace espalier {

struct RunnerJob;

// The sequences of a search's nodes in one backend. Externally synchronised.
class NodeSequences {
 public:
  // Takes ownership of the reference to `prompt`.
  NodeSequences(Backend* backend, SeqId prompt);
  ~NodeSequences();
  NodeSequences(const NodeSequences&) = delete;
  NodeSequences& operator=(const NodeSequences&) = delete;

  // The sequence of `node`, forked from its parent's if there is none yet.
  SeqId Of(const Tree& tree, NodeId node);
  // Takes ownership of the reference to a continuation that became `node`.
  void Adopt(NodeId node, SeqId seq);
  // Sets the retention priority of `node`, if it has a sequence.
  void SetRetention(NodeId node, float priority);
  Backend* backend() const { return backend_; }

 private:
  Backend* backend_;
  std::vector<SeqId> seqs_;  // by node; -1: none yet
};

// Thread-compatible: Resume of different searches may run at the same time.
class SearchSession {
 public:
  SearchSession(size_t index, const Problem& problem, const Task& task,
                const SearchOptions& options);

  // Starts the coroutine (first call) or applies completions and resumes it.
  void Resume(const SearchAlgorithm& algorithm);
  bool begun() const { return search_.has_value(); }
  // True if the coroutine has ended or failed.
  bool over() const;
  // Fills everything except the prompt's token counts and seconds.
  SearchResult Result() const;
  // Fills response, steps and response_tokens with the unfinished response of
  // the best score, the longest of these.
  void FillUnfinished(SearchResult& result) const;
  // Fills everything except seconds.
  SearchSnapshot Snapshot() const;
  // The whole tree as text, the root first.
  std::vector<TreeNode> TreeAsText() const;

  size_t index() const { return index_; }
  SearchContext& context() { return context_; }
  SearchDriver& driver() { return driver_; }

  // What it is a part of; its task and options are the session's. Set by the
  // runner.
  std::shared_ptr<const RunnerJob> job;
  // Sequences in the policies' backends, in the order of their roles, and in
  // the critic's (the same object as the first if they share a backend). Set by
  // the runner before Resume.
  std::vector<std::shared_ptr<NodeSequences>> policies;
  std::shared_ptr<NodeSequences> critic;
  // Reads a critic of a published format in place of `critic`; else null.
  std::unique_ptr<RewardReader> reader;
  // The same for a format that takes more than one reading; else null.
  std::unique_ptr<StepJudge> judge;
  std::map<uint64_t, SearchRequest> judged;  // that it works on, by number
  std::set<RequestId> in_flight;             // backend requests
  Speculation ahead;
  bool has_news = true;  // completions wait for Resume
  bool lost = false;     // to another worker: it ends without a result
  double started = 0;    // seconds of the real clock
  double shown = -1;     // when it was last reported; -1: never
  int64_t prompt_tokens = 0;

 private:
  size_t index_;
  Stoppers stoppers_;
  SearchContext context_;
  SearchDriver driver_;
  std::optional<Co<>> search_;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_ENGINE_SEARCH_SESSION_H_
