#include "models/fake/scripted_backend.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "models/sampling/sampler.h"
#include "models/schedule/stop_matcher.h"

namespace espalier {
namespace {

// Tags that separate the hash's uses.
constexpr uint64_t kGoodTag = 0x600D, kLogitTag = 0x1061, kScoreTag = 0x5C0E,
                   kAnswerTag = 0xA25, kDelayTag = 0xDE1A, kReadTag = 0x4EAD;

bool IsDigit(int32_t token) { return token >= '0' && token <= '9'; }

// The sequences that must stay alive until `request` has ended.
std::vector<SeqId> SequencesOf(const Request& request) {
  if (const auto* g = std::get_if<GenerateRequest>(&request.body)) {
    return {g->from};
  }
  if (const auto* t = std::get_if<TextScoreRequest>(&request.body)) {
    return {t->from};
  }
  return std::get<ScoreRequest>(request.body).sequences;
}

}  // namespace

ScriptedBackend::ScriptedBackend(const ScriptedOptions& options)
    : options_(options), nodes_(1) {
  ESP_CHECK(options.branching >= 1 && options.branching <= 10);
  ESP_CHECK(options.depth >= 0 && options.max_delay >= 0);
  capabilities_ = {.reward = options.reward,
                   .context_length = options.context_length,
                   .top_logprobs = true,
                   .hidden_size = options.hidden_size,
                   .logits = options.logits,
                   .levels = options.reward ? kStepAndPath : LevelSet()};
  nodes_[kEmptySeq].refs = 1;  // never freed
  nodes_[kEmptySeq].state.path = MixHash(options.seed, 0);
  nodes_[kEmptySeq].state.prompt = nodes_[kEmptySeq].state.path;
}

double ScriptedBackend::Noise(uint64_t a, uint64_t b) const {
  return static_cast<double>(MixHash(MixHash(options_.seed, a), b) >> 11) *
         0x1.0p-53;
}

bool ScriptedBackend::StepIsGood(uint64_t line_start, int digit) const {
  return Noise(MixHash(line_start, kGoodTag), static_cast<uint64_t>(digit)) <
         options_.good_rate;
}

int ScriptedBackend::Answer(const State& state) const {
  const auto number = [&](uint64_t hash) {
    return 10 + static_cast<int>(90 * Noise(hash, kAnswerTag));
  };
  const int gold = number(state.prompt);
  if (state.good) return gold;
  const int wrong = number(state.line_start);
  return wrong != gold ? wrong : (wrong == 99 ? 10 : wrong + 1);
}

// `state` after a line that is not part of the script: a new tree follows.
ScriptedBackend::State ScriptedBackend::Leave(State state) const {
  state.prompt = state.path;
  state.depth = 0;
  state.good = state.last_good = true;
  state.line = Line::kOther;
  return state;
}

ScriptedBackend::State ScriptedBackend::Advance(State s, int32_t token) const {
  const uint64_t before = s.path;
  s.path = MixHash(s.path, static_cast<uint64_t>(token) + 1);
  ++s.length;
  if (token == ByteTokenizer::kEnd) {
    s.line = Line::kEnded;
    return s;
  }
  const bool newline = token == '\n';
  switch (s.line) {
    case Line::kFresh:
      s.line_start = before;
      if (token == 's' && s.depth < options_.depth) {
        s.line = Line::kStep;
        return s;
      }
      if (token == '=' && s.depth == options_.depth) {
        s.line = Line::kEquals;
        return s;
      }
      break;
    case Line::kStep:
      if (IsDigit(token) && token - '0' < options_.branching) {
        s.digit = token - '0';
        s.line = Line::kDigit;
        return s;
      }
      break;
    case Line::kDigit:
      if (newline) {
        ++s.depth;
        s.last_good = StepIsGood(s.line_start, s.digit);
        s.good = s.good && s.last_good;
        s.line = Line::kFresh;
        return s;
      }
      break;
    case Line::kEquals:
      if (token == ' ') {
        s.line = Line::kSpace;
        return s;
      }
      break;
    case Line::kSpace:
    case Line::kTens:
      if (IsDigit(token)) {
        s.line = s.line == Line::kSpace ? Line::kTens : Line::kOnes;
        return s;
      }
      break;
    case Line::kOnes:
      if (newline) {
        s.line = Line::kAnswered;
        return s;
      }
      break;
    case Line::kOther:
    case Line::kAnswered:
    case Line::kEnded:
      break;
  }
  s = Leave(s);
  if (newline) s.line = Line::kFresh;
  return s;
}

void ScriptedBackend::Candidates(const State& s, std::vector<int32_t>& tokens,
                                 std::vector<float>& logits) const {
  tokens.clear();
  logits.assign(1, 0);
  switch (s.line) {
    case Line::kFresh:
      tokens = {s.depth < options_.depth ? 's' : '='};
      return;
    case Line::kStep:
      logits.clear();
      for (int k = 0; k < options_.branching; ++k) {
        tokens.push_back('0' + k);
        const double taste = Noise(MixHash(s.path, kLogitTag), k);
        logits.push_back(static_cast<float>(taste) +
                         (StepIsGood(s.line_start, k) ? options_.skill : 0.0f));
      }
      return;
    case Line::kDigit:
    case Line::kOnes:
    case Line::kOther:
      tokens = {'\n'};
      return;
    case Line::kEquals:
      tokens = {' '};
      return;
    case Line::kSpace:
      tokens = {'0' + Answer(s) / 10};
      return;
    case Line::kTens:
      tokens = {'0' + Answer(s) % 10};
      return;
    case Line::kAnswered:
    case Line::kEnded:
      tokens = {ByteTokenizer::kEnd};
      return;
  }
}

SeqId ScriptedBackend::Extend(SeqId parent, absl::Span<const int32_t> tokens) {
  ESP_CHECK(parent >= 0 && parent < static_cast<SeqId>(nodes_.size()));
  ESP_CHECK(parent == kEmptySeq || nodes_[parent].refs > 0);
  if (tokens.empty()) {
    if (parent != kEmptySeq) ++nodes_[parent].refs;
    return parent;
  }
  std::pair<SeqId, std::vector<int32_t>> key(
      parent, std::vector<int32_t>(tokens.begin(), tokens.end()));
  const auto found = index_.find(key);
  if (found != index_.end()) {
    ++nodes_[found->second].refs;
    return found->second;
  }
  SeqId id = static_cast<SeqId>(nodes_.size());
  if (free_ids_.empty()) {
    nodes_.emplace_back();
  } else {
    id = free_ids_.back();
    free_ids_.pop_back();
  }
  Node& node = nodes_[id];
  node = {.parent = parent,
          .tokens = key.second,
          .state = nodes_[parent].state,
          .refs = 1,
          .children = 0};
  for (const int32_t token : tokens) node.state = Advance(node.state, token);
  ++nodes_[parent].children;
  ++live_;
  index_.emplace(std::move(key), id);
  return id;
}

void ScriptedBackend::Release(SeqId seq) {
  if (seq == kEmptySeq) return;
  ESP_CHECK(seq > 0 && seq < static_cast<SeqId>(nodes_.size()) &&
            nodes_[seq].refs > 0);
  --nodes_[seq].refs;
  while (seq != kEmptySeq && nodes_[seq].refs == 0 &&
         nodes_[seq].children == 0) {
    const SeqId parent = nodes_[seq].parent;
    Free(seq);
    --nodes_[parent].children;
    seq = parent;
  }
}

void ScriptedBackend::Free(SeqId seq) {
  index_.erase({nodes_[seq].parent, nodes_[seq].tokens});
  nodes_[seq].tokens.clear();
  free_ids_.push_back(seq);
  --live_;
}

void ScriptedBackend::Submit(Request request) {
  Pending pending{std::move(request), 0};
  if (options_.max_delay > 0) {
    pending.due = static_cast<int>(Noise(kDelayTag, pending.request.id) *
                                   (options_.max_delay + 1));
  }
  for (const SeqId s : SequencesOf(pending.request)) {
    if (s != kEmptySeq) ++nodes_[s].refs;
  }
  pending_.push_back(std::move(pending));
}

bool ScriptedBackend::Step(std::vector<Completion>& done) {
  if (pending_.empty()) return false;
  ++stats_.steps;
  std::vector<Pending> later, now;
  for (Pending& p : pending_) {
    (p.due-- > 0 ? later : now).push_back(std::move(p));
  }
  pending_ = std::move(later);
  for (const Pending& p : now) {
    ++stats_.rows;
    done.push_back(Run(p.request));
    for (const SeqId s : SequencesOf(p.request)) Release(s);
  }
  return true;
}

void ScriptedBackend::Cancel(RequestId id) {
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i].request.id != id) continue;
    const Request request = std::move(pending_[i].request);
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
    for (const SeqId s : SequencesOf(request)) Release(s);
    return;
  }
}

absl::Status ScriptedBackend::Check(const GenerateRequest& request) const {
  ESP_RETURN_IF_ERROR(CheckSamplingOptions(request.sampling));
  if (request.n < 1 || request.stop.max_tokens < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("n is ", request.n, " and max_tokens ",
                     request.stop.max_tokens, "; expected at least 1 each"));
  }
  const int length = nodes_[request.from].state.length;
  if (length >= options_.context_length) {
    return absl::InvalidArgumentError(
        absl::StrCat("the prompt has ", length, " tokens, the context holds ",
                     options_.context_length, "; shorten the question"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Continuation> ScriptedBackend::Continue(
    const GenerateRequest& request, int i) {
  const StreamKey key = SampleKey(request.stream, request.first_sample + i);
  State state = nodes_[request.from].state;
  Continuation c;
  StopMatcher stop;
  std::vector<int32_t> tokens;
  std::vector<float> logits;
  TokenDistribution d;
  double entropy = 0;
  for (int t = 0;; ++t) {
    Candidates(state, tokens, logits);
    ESP_RETURN_IF_ERROR(d.Assign(logits, request.sampling));
    const Sampled s = d.Draw(RandomStream::UniformAt(key, t));
    const int32_t token = tokens[s.token];
    c.tokens.push_back(token);
    c.logprobs.push_back(s.logprob);
    c.sampler_logprobs.push_back(s.sampler_logprob);
    entropy += s.entropy;
    if (request.top_alternatives > 0) {
      for (TokenLogprob top : d.Alternatives(request.top_alternatives)) {
        top.token = tokens[static_cast<size_t>(top.token)];
        c.alternatives.push_back(top);
      }
    }
    if (request.top_logprobs > 0) {
      c.entropies.push_back(s.entropy);
      c.confidences.push_back(d.Confidence(request.top_logprobs));
    }
    const StopMatcher::Found found =
        stop.Add(request.stop, tokenizer_.TokenBytes(token));
    state = Advance(state, token);
    c.finish = Finish::kLength;
    if (token == ByteTokenizer::kEnd) {
      c.finish = Finish::kEnd;
    } else if (found == StopMatcher::Found::kStop) {
      c.finish = Finish::kStop;
    } else if (found == StopMatcher::Found::kDelimiter) {
      c.finish = Finish::kDelimiter;
    } else if (t + 1 < request.stop.max_tokens &&
               state.length < options_.context_length) {
      continue;
    }
    break;
  }
  c.mean_entropy =
      static_cast<float>(entropy / static_cast<double>(c.tokens.size()));
  c.text_bytes = stop.text_bytes();
  for (int k = 0; request.hidden && k < options_.hidden_size; ++k) {
    c.hidden.push_back(Read(state, static_cast<uint64_t>(k)));
  }
  c.seq = Extend(request.from, c.tokens);
  const auto n = static_cast<int64_t>(c.tokens.size());
  stats_.tokens_generated += n;
  stats_.tokens_computed += n;
  return c;
}

StepScores ScriptedBackend::Score(const State& state) const {
  const auto score = [&](bool good, uint64_t level) {
    const double noise = Noise(MixHash(state.path, kScoreTag), level) - 0.5;
    return static_cast<float>(std::clamp(
        (good ? 0.75 : 0.25) + options_.reward_noise * noise, 0.01, 0.99));
  };
  return {.step = score(state.last_good, 0), .path = score(state.good, 1)};
}

float ScriptedBackend::Read(const State& state, uint64_t index) const {
  return static_cast<float>(2 * Noise(MixHash(state.path, kReadTag), index) -
                            1);
}

absl::Status ScriptedBackend::CheckRead(const ScoreRequest& request) const {
  const char* lacks =
      request.read == ScoreRead::kRewards && !options_.reward ? "a reward head"
      : request.read == ScoreRead::kHidden && options_.hidden_size == 0
          ? "hidden rows"
      : request.read == ScoreRead::kLogprobs && !options_.logits
          ? "a language model head"
      : request.read == ScoreRead::kOutputs ? "a server's head"
                                            : nullptr;
  if (lacks == nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("a ScoreRequest for a model without ", lacks,
                   "; bind the role to a reward model"));
}

Completion ScriptedBackend::Run(const Request& request) {
  Completion c;
  c.id = request.id;
  if (const auto* g = std::get_if<GenerateRequest>(&request.body)) {
    c.status = Check(*g);
    for (int i = 0; c.status.ok() && i < g->n; ++i) {
      absl::StatusOr<Continuation> one = Continue(*g, i);
      if (one.ok()) {
        c.continuations.push_back(*std::move(one));
      } else {
        c.status = one.status();
      }
    }
    return c;
  }
  if (std::holds_alternative<TextScoreRequest>(request.body)) {
    c.status = absl::FailedPreconditionError(
        "the scripted model cannot answer a TextScoreRequest; use a model with "
        "weights");
    return c;
  }
  const ScoreRequest& score = std::get<ScoreRequest>(request.body);
  c.status = CheckRead(score);
  if (!c.status.ok()) return c;
  for (const SeqId s : score.sequences) {
    const State& state = nodes_[s].state;
    if (score.read == ScoreRead::kRewards) {
      c.scores.push_back(Score(state));
      continue;
    }
    std::vector<float>& row = c.rows.emplace_back();
    if (score.read == ScoreRead::kHidden) {
      for (int i = 0; i < options_.hidden_size; ++i) {
        row.push_back(Read(state, static_cast<uint64_t>(i)));
      }
    }
    for (const int32_t token : score.tokens) {
      row.push_back(Read(state, kLogitTag + static_cast<uint64_t>(token)) - 1);
    }
  }
  return c;
}

bool ScriptedBackend::Good(SeqId seq) const { return nodes_[seq].state.good; }

int ScriptedBackend::Gold(SeqId prompt) const {
  State state = nodes_[prompt].state;
  if (state.line == Line::kOther) state = Advance(state, '\n');
  state.good = true;
  return Answer(state);
}

}  // namespace espalier
