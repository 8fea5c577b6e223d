// Serialization of trees and logs (src/trace/stored_tree.h).
#include <zstd.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "src/trace/stored_tree.h"
#include "src/trace/trace.pb.h"

namespace espalier {
namespace {

absl::Status Damaged(absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("a stored tree or log is damaged: ", what));
}

template <class Column>
absl::Status CheckLength(const Column& column, int expected,
                         absl::string_view name) {
  if (column.size() == expected) return absl::OkStatus();
  return Damaged(absl::StrCat("column ", name, " has ", column.size(),
                              " entries, expected ", expected));
}

// For greedy or plain sampling the two log-prob columns are equal and stored
// once. 0 and -0 differ, as in FirstDifference.
bool SameColumn(absl::Span<const float> a, absl::Span<const float> b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](float x, float y) {
           return (x == y && std::signbit(x) == std::signbit(y)) ||
                  (std::isnan(x) && std::isnan(y));
         });
}

absl::Status CheckColumns(const trace::TreeColumns& c) {
  const int nodes = c.parent_gap_size();
  if (nodes == 0) return Damaged("the tree has no root");
  ESP_RETURN_IF_ERROR(CheckLength(c.kind(), nodes, "kind"));
  ESP_RETURN_IF_ERROR(CheckLength(c.flags(), nodes, "flags"));
  ESP_RETURN_IF_ERROR(CheckLength(c.visits(), nodes, "visits"));
  ESP_RETURN_IF_ERROR(CheckLength(c.draws(), nodes, "draws"));
  ESP_RETURN_IF_ERROR(CheckLength(c.prior(), nodes, "prior"));
  ESP_RETURN_IF_ERROR(CheckLength(c.q(), nodes, "q"));
  ESP_RETURN_IF_ERROR(CheckLength(c.step_score(), nodes, "step_score"));
  ESP_RETURN_IF_ERROR(CheckLength(c.path_score(), nodes, "path_score"));
  ESP_RETURN_IF_ERROR(CheckLength(c.logprob(), nodes, "logprob"));
  ESP_RETURN_IF_ERROR(CheckLength(c.answer(), nodes, "answer"));
  ESP_RETURN_IF_ERROR(CheckLength(c.verdict(), nodes, "verdict"));
  ESP_RETURN_IF_ERROR(CheckLength(c.num_tokens(), nodes, "num_tokens"));
  ESP_RETURN_IF_ERROR(CheckLength(c.text_bytes(), nodes, "text_bytes"));
  ESP_RETURN_IF_ERROR(
      CheckLength(c.token_logprob(), c.token_size(), "token_logprob"));
  if (c.token_sampler_logprob_size() != 0) {
    ESP_RETURN_IF_ERROR(CheckLength(c.token_sampler_logprob(), c.token_size(),
                                    "token_sampler_logprob"));
  }
  return CheckLength(c.alias_of(), c.alias_size(), "alias_of");
}

// The levels that have columns of their own: all but path and step.
constexpr size_t kFirstMore = IndexOf(Level::kOutcome);

// Adds a column of each further level that any node has.
template <class Scores, class Message>
void AddMore(size_t count, const Scores& score, Message& message) {
  for (size_t l = kFirstMore; l < kLevels; ++l) {
    const auto level = static_cast<Level>(l);
    bool any = false;
    for (size_t i = 0; i < count; ++i) any |= !std::isnan(score(i, level));
    if (!any) continue;
    trace::LevelColumn* column = message.add_more_scores();
    column->set_level(static_cast<uint32_t>(l));
    for (size_t i = 0; i < count; ++i) column->add_score(score(i, level));
  }
}

// Calls set(i, level, score) for all of them.
template <class Message, class Set>
absl::Status ReadMore(const Message& message, int count, const Set& set) {
  for (const trace::LevelColumn& column : message.more_scores()) {
    if (column.level() < kFirstMore || column.level() >= kLevels) {
      return Damaged(absl::StrCat("level ", column.level(), " of scores"));
    }
    ESP_RETURN_IF_ERROR(CheckLength(column.score(), count, "more_scores"));
    for (int i = 0; i < count; ++i) {
      set(static_cast<size_t>(i), static_cast<Level>(column.level()),
          column.score(i));
    }
  }
  return absl::OkStatus();
}

void AddSpreads(const std::vector<StepScores>& scores, trace::LogEntry& out) {
  for (size_t l = 0; l < kLevels; ++l) {
    const auto level = static_cast<Level>(l);
    const bool any = std::any_of(
        scores.begin(), scores.end(),
        [level](const StepScores& s) { return s.spread_of(level) != 0; });
    if (!any) continue;
    trace::LevelColumn* column = out.add_spread();
    column->set_level(static_cast<uint32_t>(l));
    for (const StepScores& s : scores) column->add_score(s.spread_of(level));
  }
}

absl::Status ReadSpreads(const trace::LogEntry& in,
                         std::vector<StepScores>& scores) {
  for (const trace::LevelColumn& column : in.spread()) {
    if (column.level() >= kLevels) {
      return Damaged(absl::StrCat("level ", column.level(), " of spreads"));
    }
    ESP_RETURN_IF_ERROR(
        CheckLength(column.score(), static_cast<int>(scores.size()), "spread"));
    for (size_t i = 0; i < scores.size(); ++i) {
      const float spread = column.score(static_cast<int>(i));
      if (!(spread >= 0 && spread <= 1)) {
        return Damaged(absl::StrCat("a spread of ", spread));
      }
      scores[i].spread_of(static_cast<Level>(column.level())) = spread;
    }
  }
  return absl::OkStatus();
}

StepScores MoreOf(const StoredNode& node) {
  return {.outcome = node.outcome_score, .windows = node.window_scores};
}

trace::LogEntry ToProto(const LogEntry& entry) {
  trace::LogEntry out;
  out.set_number(entry.number);
  out.set_kind(static_cast<uint32_t>(entry.kind));
  out.set_fingerprint(entry.fingerprint);
  for (const NodeId node : entry.nodes) out.add_node(node);
  for (const SampledStep& s : entry.completion.samples) {
    trace::LoggedSample* sample = out.add_sample();
    sample->mutable_token()->Add(s.tokens.begin(), s.tokens.end());
    sample->mutable_logprob()->Add(s.logprobs.begin(), s.logprobs.end());
    if (s.sampler_logprobs.empty()) {
      // Not told. An empty column would mean that they are the log-probs.
      sample->mutable_sampler_logprob()->Resize(
          static_cast<int>(s.logprobs.size()), std::nanf(""));
    } else if (!SameColumn(s.logprobs, s.sampler_logprobs)) {
      sample->mutable_sampler_logprob()->Add(s.sampler_logprobs.begin(),
                                             s.sampler_logprobs.end());
    }
    sample->set_text(s.text);
    sample->set_ended(s.ended);
    sample->set_truncated(s.truncated);
    if (!std::isnan(s.mean_entropy)) sample->set_mean_entropy(s.mean_entropy);
    sample->mutable_entropy()->Add(s.entropies.begin(), s.entropies.end());
    sample->mutable_confidence()->Add(s.confidences.begin(),
                                      s.confidences.end());
    for (const TokenLogprob& top : s.alternatives) {
      sample->add_alternative(static_cast<uint32_t>(top.token));
      sample->add_alternative_logprob(top.logprob);
    }
    sample->mutable_hidden()->Add(s.hidden.begin(), s.hidden.end());
    if (!std::isnan(s.verdict)) sample->set_verdict(s.verdict);
  }
  for (const StepScores& s : entry.completion.scores) {
    out.add_step_score(s.step);
    out.add_path_score(s.path);
  }
  const std::vector<StepScores>& scores = entry.completion.scores;
  AddMore(
      scores.size(), [&](size_t i, Level level) { return scores[i][level]; },
      out);
  AddSpreads(scores, out);
  out.set_correct(entry.completion.correct);
  out.set_stop_reason(entry.stop_reason);
  return out;
}

absl::StatusOr<LogEntry> FromProto(const trace::LogEntry& in) {
  LogEntry out{.number = in.number(),
               .kind = static_cast<RequestKind>(in.kind()),
               .fingerprint = in.fingerprint(),
               .nodes = {in.node().begin(), in.node().end()}};
  if (in.kind() > static_cast<uint32_t>(RequestKind::kVerify) &&
      in.kind() != static_cast<uint32_t>(RequestKind::kGrade)) {
    return Damaged(absl::StrCat("request kind ", in.kind()));
  }
  out.stop_reason = in.stop_reason();
  out.completion.number = in.number();
  out.completion.correct = in.correct();
  for (const trace::LoggedSample& s : in.sample()) {
    SampledStep& step = out.completion.samples.emplace_back();
    step.tokens.assign(s.token().begin(), s.token().end());
    step.logprobs.assign(s.logprob().begin(), s.logprob().end());
    step.sampler_logprobs =
        s.sampler_logprob_size() == 0
            ? step.logprobs
            : std::vector<float>(s.sampler_logprob().begin(),
                                 s.sampler_logprob().end());
    step.text = s.text();
    step.ended = s.ended();
    step.truncated = s.truncated();
    if (s.has_mean_entropy()) step.mean_entropy = s.mean_entropy();
    step.entropies.assign(s.entropy().begin(), s.entropy().end());
    step.confidences.assign(s.confidence().begin(), s.confidence().end());
    step.hidden.assign(s.hidden().begin(), s.hidden().end());
    if (s.has_verdict()) step.verdict = s.verdict();
    if (s.alternative_size() != s.alternative_logprob_size() ||
        (step.tokens.empty() ? s.alternative_size() > 0
                             : s.alternative_size() % s.token_size() != 0)) {
      return Damaged(
          "a sample does not have one log-prob per alternative and equally "
          "many alternatives per token");
    }
    step.alternatives.reserve(static_cast<size_t>(s.alternative_size()));
    for (int i = 0; i < s.alternative_size(); ++i) {
      step.alternatives.push_back(
          {static_cast<int32_t>(s.alternative(i)), s.alternative_logprob(i)});
    }
    for (const auto* column : {&step.entropies, &step.confidences}) {
      if (!column->empty() && column->size() != step.tokens.size()) {
        return Damaged(
            "a sample does not have one entropy and confidence per token");
      }
    }
    // Summed in the engine's order.
    for (const float logprob : step.logprobs) step.logprob += logprob;
  }
  if (in.step_score_size() != in.path_score_size()) {
    return Damaged(
        "a log entry has different numbers of step scores and path scores");
  }
  for (int i = 0; i < in.step_score_size(); ++i) {
    out.completion.scores.push_back(
        {.step = in.step_score(i), .path = in.path_score(i)});
  }
  std::vector<StepScores>& scores = out.completion.scores;
  ESP_RETURN_IF_ERROR(ReadMore(
      in, in.step_score_size(),
      [&](size_t i, Level level, float score) { scores[i][level] = score; }));
  ESP_RETURN_IF_ERROR(ReadSpreads(in, scores));
  return out;
}

}  // namespace

std::string EncodeTree(const StoredTree& tree) {
  trace::TreeColumns c;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const StoredNode& n = tree.nodes[i];
    c.add_parent_gap(n.parent < 0 ? 0
                                  : static_cast<uint32_t>(i) -
                                        static_cast<uint32_t>(n.parent));
    c.add_kind(static_cast<uint32_t>(n.kind));
    c.add_flags(n.flags);
    c.add_visits(n.visits);
    c.add_draws(n.draws);
    c.add_prior(n.prior);
    c.add_q(n.q);
    c.add_step_score(n.step_score);
    c.add_path_score(n.path_score);
    c.add_logprob(n.logprob);
    c.add_answer(static_cast<uint32_t>(n.answer + 1));
    c.add_verdict(static_cast<uint32_t>(n.verdict));
    c.add_num_tokens(n.num_tokens);
    c.add_text_bytes(n.text_bytes);
    if (n.original < 0) continue;
    c.add_alias(static_cast<uint32_t>(i));
    c.add_alias_of(static_cast<uint32_t>(n.original));
  }
  AddMore(
      tree.nodes.size(),
      [&](size_t i, Level level) { return MoreOf(tree.nodes[i])[level]; }, c);
  c.set_text(tree.text);
  for (const std::string& answer : tree.answers) c.add_answers(answer);
  c.mutable_token()->Add(tree.tokens.begin(), tree.tokens.end());
  c.mutable_token_logprob()->Add(tree.logprobs.begin(), tree.logprobs.end());
  if (!SameColumn(tree.logprobs, tree.sampler_logprobs)) {
    c.mutable_token_sampler_logprob()->Add(tree.sampler_logprobs.begin(),
                                           tree.sampler_logprobs.end());
  }
  return c.SerializeAsString();
}

absl::StatusOr<StoredTree> DecodeTree(std::string_view bytes) {
  trace::TreeColumns c;
  if (!c.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Damaged("not a tree");
  }
  ESP_RETURN_IF_ERROR(CheckColumns(c));
  StoredTree tree;
  tree.text = c.text();
  tree.answers.assign(c.answers().begin(), c.answers().end());
  uint64_t tokens = 0, text = 0;
  for (int i = 0; i < c.parent_gap_size(); ++i) {
    const uint32_t gap = c.parent_gap(i);
    if ((i == 0) != (gap == 0) || gap > static_cast<uint32_t>(i)) {
      return Damaged(absl::StrCat("node ", i, " has no parent before it"));
    }
    if (c.kind(i) > static_cast<uint32_t>(NodeKind::kAnswer) ||
        c.flags(i) > 0xff || c.verdict(i) > 2 ||
        c.answer(i) > tree.answers.size()) {
      return Damaged(absl::StrCat("node ", i, " has impossible values"));
    }
    tree.nodes.push_back({.parent = i - static_cast<int32_t>(gap),
                          .kind = static_cast<NodeKind>(c.kind(i)),
                          .flags = static_cast<uint8_t>(c.flags(i)),
                          .verdict = static_cast<NodeVerdict>(c.verdict(i)),
                          .visits = c.visits(i),
                          .draws = c.draws(i),
                          .answer = static_cast<int32_t>(c.answer(i)) - 1,
                          .prior = c.prior(i),
                          .q = c.q(i),
                          .step_score = c.step_score(i),
                          .path_score = c.path_score(i),
                          .logprob = c.logprob(i),
                          .token_begin = static_cast<uint32_t>(tokens),
                          .num_tokens = c.num_tokens(i),
                          .text_begin = static_cast<uint32_t>(text),
                          .text_bytes = c.text_bytes(i)});
    if (i == 0) tree.nodes[0].parent = -1;
    tokens += c.num_tokens(i);
    text += c.text_bytes(i);
  }
  ESP_RETURN_IF_ERROR(
      ReadMore(c, c.parent_gap_size(), [&](size_t i, Level level, float score) {
        StepScores more = MoreOf(tree.nodes[i]);
        more[level] = score;
        tree.nodes[i].outcome_score = more.outcome;
        tree.nodes[i].window_scores = more.windows;
      }));
  for (int i = 0; i < c.alias_size(); ++i) {
    const uint32_t alias = c.alias(i), state = c.alias_of(i);
    if (alias >= tree.nodes.size() || state >= tree.nodes.size() ||
        state == alias) {
      return Damaged(
          absl::StrCat("node ", alias, " is an impossible alias of ", state));
    }
    tree.nodes[alias].original = static_cast<int32_t>(state);
  }
  if (tokens != static_cast<uint64_t>(c.token_size()) ||
      text != tree.text.size()) {
    return Damaged(
        "the lengths of tokens or text differ from the sums over the nodes");
  }
  tree.tokens.assign(c.token().begin(), c.token().end());
  tree.logprobs.assign(c.token_logprob().begin(), c.token_logprob().end());
  tree.sampler_logprobs =
      c.token_sampler_logprob_size() == 0
          ? tree.logprobs
          : std::vector<float>(c.token_sampler_logprob().begin(),
                               c.token_sampler_logprob().end());
  return tree;
}

std::string EncodeEntry(const LogEntry& entry) {
  return ToProto(entry).SerializeAsString();
}

absl::StatusOr<LogEntry> DecodeEntry(std::string_view bytes) {
  trace::LogEntry entry;
  if (!entry.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Damaged("not a log entry");
  }
  return FromProto(entry);
}

std::string EncodeLog(absl::Span<const std::string> entries) {
  // A repeated message on the wire: the field's tag, a length and the already
  // encoded bytes.
  std::string log;
  for (const std::string& entry : entries) {
    log += static_cast<char>(trace::ResponseLog::kEntryFieldNumber << 3 | 2);
    uint64_t size = entry.size();
    for (; size >= 0x80; size >>= 7) {
      log += static_cast<char>((size & 0x7f) | 0x80);
    }
    log += static_cast<char>(size);
    log += entry;
  }
  return log;
}

absl::StatusOr<std::vector<LogEntry>> DecodeLog(std::string_view bytes) {
  trace::ResponseLog log;
  if (!log.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Damaged("not a log");
  }
  std::vector<LogEntry> entries;
  for (const trace::LogEntry& in : log.entry()) {
    ESP_ASSIGN_OR_RETURN(LogEntry entry, FromProto(in));
    entries.push_back(std::move(entry));
  }
  return entries;
}

absl::StatusOr<std::string> Compress(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  // Level 3 is zstd's default; higher levels save a few per cent for many times
  // the time.
  const size_t size =
      ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3);
  if (ZSTD_isError(size)) {
    return absl::InternalError(absl::StrCat("zstd: ", ZSTD_getErrorName(size)));
  }
  out.resize(size);
  return out;
}

absl::StatusOr<std::string> Decompress(std::string_view bytes, size_t limit) {
  const unsigned long long size =
      ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    return Damaged("not compressed by zstd");
  }
  // zstd writes at least 4 bytes for each 128 KiB, so that a short input cannot
  // claim gigabytes.
  if (size > limit || size / (size_t{128} << 10) > bytes.size() / 4) {
    return Damaged(absl::StrCat("it claims ", size, " bytes"));
  }
  std::string out(size, '\0');
  const size_t got =
      ZSTD_decompress(out.data(), out.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) || got != size) {
    return Damaged(ZSTD_isError(got) ? ZSTD_getErrorName(got) : "too short");
  }
  return out;
}

}  // namespace espalier
