#include "src/trace/run_recorder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace espalier {
namespace {

// What ToStored reads of an expansion.
LogEntry TokensOf(uint64_t number, const std::vector<NodeId>& nodes,
                  const SearchCompletion& completion) {
  LogEntry entry{.number = number, .nodes = nodes};
  for (const SampledStep& sample : completion.samples) {
    entry.completion.samples.push_back(
        {{.tokens = sample.tokens,
          .logprobs = sample.logprobs,
          .sampler_logprobs = sample.sampler_logprobs}});
  }
  return entry;
}

Solution SolutionAt(const StoredTree& tree, size_t node) {
  Solution solution{.response = tree.Response(node)};
  for (const size_t i : tree.Path(node)) {
    solution.logprob += static_cast<double>(tree.nodes[i].logprob);
    solution.tokens += tree.nodes[i].num_tokens;
  }
  return solution;
}

}  // namespace

absl::Status RunRecorder::Begin(size_t index, int64_t search_id,
                                absl::Span<const std::string> responses) {
  Search search{.search_id = search_id};
  for (const std::string& bytes : responses) {
    ESP_ASSIGN_OR_RETURN(LogEntry entry, DecodeEntry(bytes));
    search.log[entry.number] = bytes;
    if (entry.kind == RequestKind::kExpand) {
      search.samples.push_back(
          TokensOf(entry.number, entry.nodes, entry.completion));
    }
    search.recalled[entry.number] = std::move(entry);
  }
  searches_[index] = std::move(search);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<SearchCompletion>> RunRecorder::Recall(
    size_t index, const SearchRequest& request) {
  Search& search = searches_.at(index);
  const auto found = search.recalled.find(request.number);
  if (found == search.recalled.end()) return std::nullopt;
  LogEntry entry = std::move(found->second);
  search.recalled.erase(found);
  if (entry.fingerprint == Fingerprint(request)) return entry.completion;
  return absl::FailedPreconditionError(absl::StrCat(
      "search ", search.search_id, ", request ", request.number, " (",
      AbslView(RequestKindName(request.kind)),
      "): the record holds another request. The program or the machine's "
      "kernels have changed since the run began: start a new run"));
}

absl::Status RunRecorder::Append(size_t index, const SearchRequest& request,
                                 const SearchCompletion& completion) {
  // The next run retries requests that failed.
  if (!completion.status.ok()) return absl::OkStatus();
  Search& search = searches_.at(index);
  std::string bytes = EncodeEntry({.number = request.number,
                                   .kind = request.kind,
                                   .fingerprint = Fingerprint(request),
                                   .nodes = request.nodes,
                                   .completion = completion});
  // After a stop the search is about to end: either it is recorded whole, or
  // the next run resumes it from before the stop.
  if (search.stop.empty()) {
    ESP_RETURN_IF_ERROR(
        store_.AddResponse(search.search_id, request.number, bytes));
  }
  search.log[request.number] = std::move(bytes);
  if (request.kind == RequestKind::kExpand) {
    search.samples.push_back(
        TokensOf(request.number, request.nodes, completion));
  }
  return absl::OkStatus();
}

void RunRecorder::Stop(size_t index, uint64_t number, std::string_view reason) {
  searches_.at(index).stop =
      EncodeEntry({.number = number, .stop_reason = std::string(reason)});
}

absl::Status RunRecorder::Finish(size_t index, const Tree& tree,
                                 const SearchResult& result) {
  Search& search = searches_.at(index);
  std::vector<NodeVerdict> verdicts(tree.size());
  for (NodeId id = 1; id < tree.size(); ++id) {
    if (!tree[id].terminal()) continue;
    if (const auto correct = grade_(index, tree.Response(id))) {
      verdicts[id] = *correct ? NodeVerdict::kCorrect : NodeVerdict::kWrong;
    }
  }
  std::vector<std::string> encoded;
  if (!search.stop.empty()) encoded.push_back(search.stop);
  for (auto& [number, bytes] : search.log) {
    encoded.push_back(std::move(bytes));
  }
  // The first draw of a step gives its log-probs: in order of issue, whatever
  // the order of arrival.
  std::sort(
      search.samples.begin(), search.samples.end(),
      [](const LogEntry& a, const LogEntry& b) { return a.number < b.number; });
  const StoredTree stored = ToStored(tree, verdicts, search.samples);
  search.log.clear();
  search.recalled.clear();
  search.samples.clear();
  if (!result.answer.empty()) search.correct = grade_(index, result.response);
  if (!search.correct && result.status.ok() && grade_(index, "").has_value()) {
    search.correct = false;  // no answer, though answers are graded
  }
  ESP_ASSIGN_OR_RETURN(FinishedSearch finished,
                       Finished(result, search.correct, stored, encoded));
  for (size_t i = 0; i < stored.nodes.size(); ++i) {
    if (stored.nodes[i].verdict == NodeVerdict::kCorrect) {
      finished.solutions.push_back(SolutionAt(stored, i));
    }
  }
  return store_.FinishSearch(search.search_id, finished);
}

}  // namespace espalier
