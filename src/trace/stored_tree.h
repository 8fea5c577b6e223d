// A search tree as stored: what labels, exports, viewers and replay read.
//
//   ESP_ASSIGN_OR_RETURN(StoredTree tree, db.LoadTree(search_id));
//   for (size_t i = 0; i < tree.nodes.size(); ++i) use(tree.Response(i));
//
// Thread-compatible.
#ifndef ESPALIER_SRC_TRACE_STORED_TREE_H_
#define ESPALIER_SRC_TRACE_STORED_TREE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "search/search_context.h"
#include "search/tree/tree.h"

namespace espalier {

enum class NodeVerdict : uint8_t { kNotAsked, kWrong, kCorrect };

struct StoredNode {
  int32_t parent = -1;
  NodeKind kind = NodeKind::kStep;
  uint8_t flags = 0;  // NodeFlag
  NodeVerdict verdict = NodeVerdict::kNotAsked;
  uint32_t visits = 0;
  uint32_t draws = 0;
  int32_t answer = -1;    // index in StoredTree::answers
  int32_t original = -1;  // of a transposition: the node that is the same state
  float prior = 0;        // the fields of Node and Step
  float q = 0;
  float step_score = 0;
  float path_score = 0;
  float outcome_score = StepScores::kNone;
  std::array<float, kMaxWindow - 1> window_scores = StepScores().windows;
  float logprob = 0;
  uint32_t token_begin = 0, num_tokens = 0;
  uint32_t text_begin = 0, text_bytes = 0;

  bool terminal() const { return (flags & kTerminal) != 0; }
  bool truncated() const { return (flags & kTruncated) != 0; }
  bool proved() const { return (flags & kProved) != 0; }
};

// Its scores by level; NaN: not scored.
inline StepScores ScoresOf(const StoredNode& node) {
  return {.step = node.step_score,
          .path = node.path_score,
          .outcome = node.outcome_score,
          .windows = node.window_scores};
}

struct StoredTree {
  std::vector<StoredNode> nodes;  // in order of creation, the root first
  std::string text;
  std::vector<std::string> answers;
  // One per token. The first draw of a step gives its log-probs.
  std::vector<int32_t> tokens;
  std::vector<float> logprobs;          // temperature 1, no filter
  std::vector<float> sampler_logprobs;  // under the sampler

  std::string_view Text(size_t node) const;
  std::vector<int32_t> Tokens(size_t node) const;
  // Nodes from the root's child to `node`.
  std::vector<size_t> Path(size_t node) const;
  // Their texts, concatenated.
  std::string Response(size_t node) const;
  std::vector<std::vector<size_t>> ChildLists() const;
};

// One completion as delivered, or a stop.
struct LogEntry {
  uint64_t number = 0;
  RequestKind kind = RequestKind::kExpand;
  uint64_t fingerprint = 0;
  std::vector<NodeId> nodes;
  SearchCompletion completion;
  std::string stop_reason;  // not empty: stopped before delivery `number`
};

// Identifies a request within a search. Equal requests of equal searches agree;
// a log with other fingerprints belongs to another search.
uint64_t Fingerprint(const SearchRequest& request);

// `verdicts`: one per node, or empty. Token log-probs come from `log`.
StoredTree ToStored(const Tree& tree, absl::Span<const NodeVerdict> verdicts,
                    absl::Span<const LogEntry> log);

// Empty if both are the same bit for bit (except verdicts), else the first
// difference as text.
std::string FirstDifference(const StoredTree& a, const StoredTree& b);

// To and from the bytes in the database. Decoding never trusts its input:
// InvalidArgument if columns disagree, links do not form a tree, or a size is
// absurd.
std::string EncodeTree(const StoredTree& tree);
absl::StatusOr<StoredTree> DecodeTree(std::string_view bytes);
std::string EncodeEntry(const LogEntry& entry);
absl::StatusOr<LogEntry> DecodeEntry(std::string_view bytes);
// Joins encoded entries into one log.
std::string EncodeLog(absl::Span<const std::string> entries);
absl::StatusOr<std::vector<LogEntry>> DecodeLog(std::string_view bytes);

// zstd. Decompress refuses more than `limit` bytes.
absl::StatusOr<std::string> Compress(std::string_view bytes);
absl::StatusOr<std::string> Decompress(std::string_view bytes,
                                       size_t limit = (size_t{1} << 31) - 1);

}  // namespace espalier

#endif  // ESPALIER_SRC_TRACE_STORED_TREE_H_
