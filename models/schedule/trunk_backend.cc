#include "models/schedule/trunk_backend.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "models/schedule/request_check.h"

namespace espalier {
namespace {

// The first two pages in one number, as a cheap sort key.
uint64_t FirstPages(const PageTable& table) {
  const auto page = [&](size_t i) {
    return i < table.pages.size() ? static_cast<uint32_t>(table.pages[i]) : 0;
  };
  return uint64_t{page(0)} << 32 | page(1);
}

double LogSumExp(absl::Span<const float> logits) {
  const float highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) {
    sum += static_cast<double>(std::exp(logit - highest));
  }
  return static_cast<double>(highest) + std::log(sum);
}

}  // namespace

TrunkBackend::TrunkBackend(Trunk& trunk, const Tokenizer& tokenizer,
                           Executor& executor, TrunkBackendOptions options)
    : trunk_(trunk),
      tokenizer_(tokenizer),
      executor_(executor),
      options_(options),
      capabilities_{.reward = trunk.config().reward_head,
                    .context_length = trunk.config().context_length,
                    .score_text = true,
                    .top_logprobs = true,
                    .hidden_size = trunk.config().hidden_size,
                    .logits = trunk.config().lm_head,
                    .levels = trunk.config().reward_levels(),
                    .level_weights = trunk.config().level_weights},
      memory_(trunk.NewPages()),
      pool_(*memory_, options.kv_bytes),
      tree_(pool_),
      prefills_(tree_, stats_),
      sampler_(trunk, executor) {
  ESP_CHECK(options.chunk_tokens > 0 && options.prefill_tokens > 0 &&
            options.max_rows > 0);
}

TrunkBackend::~TrunkBackend() {
  for (const auto& row : rows_) tree_.ReleasePages(row->table);
}

SeqId TrunkBackend::Extend(SeqId parent, absl::Span<const int32_t> tokens) {
  return tree_.Extend(parent, tokens);
}

void TrunkBackend::Release(SeqId seq) {
  if (seq != kEmptySeq) tree_.Release(seq);
}

void TrunkBackend::SetRetention(SeqId seq, float priority) {
  if (seq != kEmptySeq) tree_.SetRetention(seq, priority);
}

void TrunkBackend::Submit(Request request) {
  Job& job = jobs_.emplace_back();
  job.id = request.id;
  job.completion.id = request.id;
  job.failure =
      CheckRequest(request, tree_, capabilities_, trunk_.config().vocab_size);
  if (!job.failure.ok()) return;  // reported by the next step
  if (auto* generation = std::get_if<GenerateRequest>(&request.body)) {
    job.kind = JobKind::kGenerate;
    job.unfinished = generation->n;
    job.generation = std::move(*generation);
    job.sequences = {job.generation.from};
  } else if (auto* text = std::get_if<TextScoreRequest>(&request.body)) {
    job.kind = JobKind::kTextScore;
    job.unfinished = static_cast<int>(text->continuations.size());
    job.texts = std::move(text->continuations);
    job.keep_texts = text->keep;
    job.sequences = {text->from};
  } else {
    job.kind = JobKind::kScore;
    ScoreRequest& score = std::get<ScoreRequest>(request.body);
    job.sequences = std::move(score.sequences);
    job.read = score.read;
    job.read_tokens = std::move(score.tokens);
  }
  for (const SeqId id : job.sequences) tree_.AddRef(id);
}

// ---------------------------------------------------------------------------
// Planning

void TrunkBackend::StartReady() {
  for (Job& job : jobs_) {
    if (job.state != JobState::kWaiting || !job.failure.ok()) continue;
    bool ready = true;
    for (const SeqId id : job.sequences) {
      // A sequence marked kEvictNow would be evicted as soon as it is computed.
      if (tree_.at(id).priority == kEvictNow)
        tree_.SetRetention(id, kNoRetention);
      // Request all, so that they are computed in the same batches.
      ready = prefills_.Ensure(id, job.kind != JobKind::kScore) && ready;
    }
    if (!ready || job.kind == JobKind::kScore) continue;
    job.state = JobState::kRunning;
    tree_.Lock(job.from());
    if (job.kind == JobKind::kGenerate) {
      StartRows(job);
    } else {
      StartTexts(job);
    }
  }
}

Row& TrunkBackend::AddRow(Job& job) {
  Row& row = *rows_.emplace_back(std::make_unique<Row>());
  row.job = &job;
  row.ever_resident = tree_.at(job.from()).end();
  ++job.rows;
  return row;
}

void TrunkBackend::StartRows(Job& job) {
  const GenerateRequest& request = job.generation;
  job.completion.continuations.resize(static_cast<size_t>(request.n));
  std::vector<int32_t> seen;
  if (request.sampling.repetition_penalty != 1) {
    for (SeqId id = job.from(); id != kEmptySeq; id = tree_.at(id).parent) {
      const auto& tokens = tree_.at(id).tokens;
      seen.insert(seen.end(), tokens.begin(), tokens.end());
    }
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  }
  for (int i = 0; i < request.n; ++i) {
    Row& row = i == 0 || !options_.share_rows ? AddRow(job) : *rows_.back();
    if (row.members.empty()) {
      row.seen = seen;
      if (options_.drafts) row.context = ContextOf(job.from());
    }
    row.members.push_back(
        {i, SampleKey(request.stream, request.first_sample + i)});
  }
}

void TrunkBackend::StartTexts(Job& job) {
  job.completion.texts.resize(job.texts.size());
  std::vector<int32_t> first;
  for (const auto& text : job.texts) first.push_back(text[0]);
  const auto scores =
      sampler_.ScoreNext(tree_.at(job.from()).hidden.data(), first);
  for (size_t i = 0; i < job.texts.size(); ++i) {
    Row& row = AddRow(job);
    row.members.push_back({static_cast<int>(i), {}});
    row.tokens = std::move(job.texts[i]);
    row.logprobs.push_back(scores[i].logprob);
    row.greedy.push_back(scores[i].greedy);
    row.finished = row.tokens.size() == 1;
    job.failure.Update(scores[i].status);
  }
}

bool TrunkBackend::HasTable(Row& row) {
  if (!row.table.pages.empty()) return true;
  Job& job = *row.job;
  if (job.state == JobState::kResumed) {
    if (!prefills_.Ensure(job.from(), true)) return false;
    tree_.Lock(job.from());
    job.state = JobState::kRunning;
  }
  const Sequence& from = tree_.at(job.from());
  return tree_.Fork(from.table, from.end(), row.table);
}

// One token of every row that has one, more of rows that catch up and of given
// texts; rows without a page wait for the next step, as do the youngest rows
// beyond max_rows.
void TrunkBackend::PlanRows() {
  batch_.rows.clear();
  batch_.starting.clear();
  bool some_have_pages =
      scarce_ && std::any_of(rows_.begin(), rows_.end(), [](const auto& row) {
        return !row->table.pages.empty();
      });
  for (const auto& owned : rows_) {
    Row& row = *owned;
    if (row.finished || !row.job->failure.ok() ||
        row.job->state == JobState::kPreempted) {
      continue;
    }
    if (row.tokens.empty()) {
      batch_.starting.push_back(&row);
      continue;
    }
    if (static_cast<int>(batch_.rows.size()) >= options_.max_rows) continue;
    if (scarce_ && some_have_pages && row.table.pages.empty()) continue;
    if (!HasTable(row)) continue;
    some_have_pages = true;
    const int have = row.table.resident;
    int count = tree_.at(row.job->from()).end() + row.forwarded() - have;
    if (count > 1) {
      count = std::min({count, options_.chunk_tokens, batch_.room});
      if (count == 0) continue;
      batch_.room -= count;
    }
    if (!tree_.Grow(row.table, have + count)) continue;
    batch_.rows.push_back({&row, count, FirstPages(row.table)});
  }
  // Next to the rows they share pages with. No two rows have equal pages: each
  // owns its last page.
  std::sort(batch_.rows.begin(), batch_.rows.end(),
            [](const Batch::Planned& a, const Batch::Planned& b) {
              if (a.first_pages != b.first_pages) {
                return a.first_pages < b.first_pages;
              }
              return a.row->table.pages < b.row->table.pages;
            });
}

// Fills in the rows' segments, which come before the prefills', and gives each
// segment its place in `hidden`.
void TrunkBackend::PlanHidden() {
  const size_t d = static_cast<size_t>(trunk_.config().hidden_size);
  batch_.drawing.clear();
  batch_.given.clear();
  size_t texts = 0, others = static_cast<size_t>(prefills_.planned());
  for (const Batch::Planned& planned : batch_.rows) {
    if (planned.row->job->kind == JobKind::kTextScore) {
      texts += static_cast<size_t>(planned.count);
    } else if (Draws(planned)) {
      const int last = std::max(1, static_cast<int>(planned.row->ahead.size()));
      for (int i = 0; i < last; ++i) batch_.drawing.push_back({planned.row, i});
    } else {
      ++others;
    }
  }
  const size_t forwarded = batch_.drawing.size();
  for (Row* row : batch_.starting) batch_.drawing.push_back({row, 0});
  const size_t first_other = batch_.drawing.size();
  const size_t first_text = batch_.first_given = first_other + others;
  if (batch_.hidden.size() < (first_text + texts) * d) {
    batch_.hidden.resize((first_text + texts) * d);
  }
  float* const hidden = batch_.hidden.data();
  size_t drawing = 0, other = first_other, text = first_text;
  for (size_t i = 0; i < batch_.rows.size(); ++i) {
    const Batch::Planned& planned = batch_.rows[i];
    Row& row = *planned.row;
    Segment& segment = batch_.segments[i];
    const int have = row.table.resident;
    const auto begin =
        static_cast<size_t>(have - tree_.at(row.job->from()).end());
    const auto count = static_cast<size_t>(planned.count);
    segment.pages = row.table.pages;
    segment.start = have;
    segment.tokens = absl::MakeConstSpan(row.tokens).subspan(begin, count);
    if (row.job->kind == JobKind::kTextScore) {
      segment.all_hidden = hidden + text * d;
      text += count;
      const auto next = row.tokens.begin() + static_cast<std::ptrdiff_t>(begin);
      batch_.given.insert(batch_.given.end(), next + 1,
                          next + 1 + planned.count);
    } else if (!row.ahead.empty()) {
      segment.tokens = row.ahead;
      segment.all_hidden = hidden + drawing * d;
      drawing += row.ahead.size();
    } else {
      segment.last_hidden = hidden + (Draws(planned) ? drawing++ : other++) * d;
    }
  }
  ESP_CHECK(drawing == forwarded);
  for (size_t i = batch_.rows.size(); i < batch_.segments.size(); ++i) {
    batch_.segments[i].last_hidden = hidden + other++ * d;
  }
  for (size_t i = forwarded; i < batch_.drawing.size(); ++i) {
    const auto& source = tree_.at(batch_.drawing[i].row->job->from()).hidden;
    std::copy(source.begin(), source.end(), hidden + i * d);
  }
}

// ---------------------------------------------------------------------------
// Running

void TrunkBackend::Advance(Row& row, int count) {
  const int have = row.table.resident;
  const int again = std::clamp(row.ever_resident - have, 0, count);
  const int64_t fresh = count - again;
  const auto samples = static_cast<int64_t>(row.members.size());
  stats_.tokens_recomputed += again;
  stats_.tokens_needed += fresh * samples;
  stats_.tokens_shared += fresh * (samples - 1);
  row.table.resident = have + count;
  row.ever_resident = std::max(row.ever_resident, row.table.resident);
}

void TrunkBackend::RunTrunk() {
  if (batch_.segments.empty()) return;
  trunk_.Forward(batch_.segments, *memory_, executor_);
  ++stats_.steps;
  stats_.rows += static_cast<int64_t>(batch_.segments.size());
  for (const Segment& segment : batch_.segments) {
    stats_.tokens_computed += static_cast<int64_t>(segment.tokens.size());
  }
  for (const Batch::Planned& planned : batch_.rows) {
    Advance(*planned.row, planned.count);
  }
  prefills_.Advance(trunk_.config().hidden_size, [&](size_t i) {
    return batch_.segments[batch_.rows.size() + i].last_hidden;
  });
}

void TrunkBackend::DrawTokens() {
  if (batch_.drawing.empty()) return;
  const absl::Span<const RowSampler::Output> outputs =
      sampler_.Draw(batch_.hidden.data(), batch_.drawing);
  for (size_t i = 0, count = 0; i < batch_.drawing.size(); i += count) {
    Row& row = *batch_.drawing[i].row;
    count = std::max<size_t>(1, row.ahead.size());
    TakeDraws(row, outputs.subspan(i, count));
  }
}

void TrunkBackend::ScoreTexts() {
  if (batch_.given.empty()) return;
  const size_t d = static_cast<size_t>(trunk_.config().hidden_size);
  const auto scores = sampler_.Score(
      batch_.hidden.data() + batch_.first_given * d, batch_.given);
  size_t at = 0;
  for (const Batch::Planned& planned : batch_.rows) {
    Row& row = *planned.row;
    if (row.job->kind != JobKind::kTextScore) continue;
    for (int i = 0; i < planned.count; ++i, ++at) {
      row.job->failure.Update(scores[at].status);
      row.logprobs.push_back(scores[at].logprob);
      row.greedy.push_back(scores[at].greedy);
    }
    row.finished = row.logprobs.size() == row.tokens.size();
  }
}

std::unique_ptr<Row> TrunkBackend::Fork(const Row& row,
                                        std::vector<Member> members) {
  auto part = std::make_unique<Row>();
  part->job = row.job;
  part->members = std::move(members);
  static_cast<StepTokens&>(*part) = row;
  part->stop = row.stop;
  part->seen = row.seen;
  part->context = row.context;
  part->entropy_sum = row.entropy_sum;
  part->ever_resident = row.ever_resident;
  ++row.job->rows;
  // Without memory for the copy, its tokens are recomputed.
  if (!row.table.pages.empty()) {
    tree_.Fork(row.table, row.table.resident, part->table);
  }
  return part;
}

void TrunkBackend::Push(Row& row, const Sampled& drawn,
                        const RowSampler::Output& output) {
  const GenerateRequest& request = row.job->generation;
  if (row.tokens.empty()) {
    const auto some =
        static_cast<size_t>(std::min(16, request.stop.max_tokens));
    row.tokens.reserve(some);
    row.logprobs.reserve(some);
    row.sampler_logprobs.reserve(some);
  }
  row.tokens.push_back(drawn.token);
  row.logprobs.push_back(drawn.logprob);
  row.sampler_logprobs.push_back(drawn.sampler_logprob);
  row.entropy_sum += drawn.entropy;
  if (request.top_alternatives > 0) {
    row.alternatives.insert(row.alternatives.end(), output.alternatives.begin(),
                            output.alternatives.end());
  }
  if (request.top_logprobs > 0) {
    row.entropies.push_back(drawn.entropy);
    row.confidences.push_back(output.confidence);
  }
  if (request.sampling.repetition_penalty != 1) {
    const auto at =
        std::lower_bound(row.seen.begin(), row.seen.end(), drawn.token);
    if (at == row.seen.end() || *at != drawn.token) {
      row.seen.insert(at, drawn.token);
    }
  }
  if (options_.drafts) drafts_.Learn(row.context, drawn.token);
  stats_.tokens_generated += static_cast<int64_t>(row.members.size());
  const StopMatcher::Found found =
      row.stop.Add(request.stop, tokenizer_.TokenBytes(drawn.token));
  const int written = static_cast<int>(row.tokens.size());
  row.finished = true;
  if (trunk_.config().IsEnd(drawn.token)) {
    row.finish = Finish::kEnd;
  } else if (found == StopMatcher::Found::kStop) {
    row.finish = Finish::kStop;
  } else if (found == StopMatcher::Found::kDelimiter) {
    row.finish = Finish::kDelimiter;
  } else {
    row.finish = Finish::kLength;
    row.finished = written >= request.stop.max_tokens ||
                   tree_.at(row.job->from()).end() + written >=
                       capabilities_.context_length;
  }
  if (row.finished && request.hidden) {
    row.hidden.assign(output.hidden.begin(), output.hidden.end());
  }
  if (!request.on_token) return;
  for (const Member& member : row.members) {
    request.on_token({member.index, drawn.token, drawn.logprob});
  }
}

// ---------------------------------------------------------------------------
// Ending

void TrunkBackend::FinishRows() {
  const bool any = std::any_of(rows_.begin(), rows_.end(), [](const auto& row) {
    return row->finished || !row->forks.empty();
  });
  if (!any) return;
  Rows left;
  left.reserve(rows_.size());
  const auto keep = [&](std::unique_ptr<Row> row) {
    if (row->finished && row->job->failure.ok()) {
      FinishRow(*row);
    } else {
      left.push_back(std::move(row));
    }
  };
  for (auto& row : rows_) {
    Rows forks = std::move(row->forks);
    row->forks.clear();
    keep(std::move(row));
    for (auto& part : forks) keep(std::move(part));
  }
  rows_ = std::move(left);
}

void TrunkBackend::FinishRow(Row& row) {
  Job& job = *row.job;
  --job.rows;
  job.unfinished -= static_cast<int>(row.members.size());
  if (job.kind == JobKind::kTextScore) {
    SeqId seq = kEmptySeq;
    if (job.keep_texts) {
      seq = tree_.Adopt(job.from(), row.tokens,
                        std::exchange(row.table, PageTable()));
    } else {
      tree_.ReleasePages(row.table);
    }
    job.completion.texts[static_cast<size_t>(row.members[0].index)] = {
        std::move(row.logprobs), std::move(row.greedy), seq};
    return;
  }
  const SeqId seq = tree_.Adopt(job.from(), row.tokens,
                                std::exchange(row.table, PageTable()));
  if (!row.last_hidden.empty() && tree_.at(seq).hidden.empty()) {
    tree_.at(seq).hidden = std::move(row.last_hidden);
  }
  row.mean_entropy = static_cast<float>(row.entropy_sum /
                                        static_cast<double>(row.tokens.size()));
  Continuation out{std::move(row), seq, row.finish, row.stop.text_bytes()};
  auto& continuations = job.completion.continuations;
  for (size_t i = 1; i < row.members.size(); ++i) {
    tree_.AddRef(seq);
    continuations[static_cast<size_t>(row.members[i].index)] = out;
  }
  continuations[static_cast<size_t>(row.members[0].index)] = std::move(out);
}

// ln p of job.read_tokens at the end of each sequence.
void TrunkBackend::ReadLogprobs(Job& job) {
  // Whole rows of logits are as large as the vocabulary.
  constexpr size_t kMostAtOnce = 16;
  const auto vocab = static_cast<size_t>(trunk_.config().vocab_size);
  std::vector<float> hidden, logits;
  for (size_t at = 0; at < job.sequences.size(); at += kMostAtOnce) {
    const size_t n = std::min(kMostAtOnce, job.sequences.size() - at);
    hidden.clear();
    for (size_t i = at; i < at + n; ++i) {
      const auto& row = tree_.at(job.sequences[i]).hidden;
      hidden.insert(hidden.end(), row.begin(), row.end());
    }
    logits.resize(n * vocab);
    trunk_.Logits(hidden.data(), static_cast<int>(n), logits.data(), executor_);
    for (size_t i = 0; i < n; ++i) {
      const float* of = logits.data() + i * vocab;
      const double log_sum = LogSumExp(absl::MakeConstSpan(of, vocab));
      std::vector<float>& row = job.completion.rows.emplace_back();
      for (const int32_t token : job.read_tokens) {
        row.push_back(
            static_cast<float>(static_cast<double>(of[token]) - log_sum));
      }
    }
  }
}

// True if all its sequences have their hidden rows.
bool TrunkBackend::FinishScore(Job& job) {
  const bool ready =
      std::all_of(job.sequences.begin(), job.sequences.end(),
                  [&](SeqId id) { return !tree_.at(id).hidden.empty(); });
  if (!ready || job.sequences.empty()) return ready;
  if (job.read == ScoreRead::kHidden) {
    for (const SeqId id : job.sequences) {
      job.completion.rows.push_back(tree_.at(id).hidden);
    }
    return true;
  }
  if (job.read == ScoreRead::kLogprobs) {
    ReadLogprobs(job);
    return true;
  }
  std::vector<float> hidden;
  for (const SeqId id : job.sequences) {
    const auto& row = tree_.at(id).hidden;
    hidden.insert(hidden.end(), row.begin(), row.end());
  }
  job.completion.scores.resize(job.sequences.size());
  trunk_.Rewards(hidden.data(), static_cast<int>(job.sequences.size()),
                 job.completion.scores.data());
  return true;
}

void TrunkBackend::ReleaseResults(const Completion& completion) {
  for (const Continuation& c : completion.continuations) Release(c.seq);
  for (const TextScore& text : completion.texts) Release(text.seq);
}

void TrunkBackend::FinishJobs(std::vector<Completion>& done) {
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    Job& job = *it;
    const auto next = std::next(it);
    bool ready = !job.failure.ok();
    if (!ready) {
      ready =
          job.kind == JobKind::kScore ? FinishScore(job) : job.unfinished == 0;
    }
    if (ready) {
      Completion completion = std::move(job.completion);
      completion.status = job.failure;
      if (!completion.status.ok()) {
        ReleaseResults(completion);
        completion.continuations.clear();
        completion.texts.clear();
      }
      DropJob(it);
      done.push_back(std::move(completion));
    }
    it = next;
  }
}

void TrunkBackend::DropJob(std::list<Job>::iterator job) {
  if (job->rows > 0) {
    std::erase_if(rows_, [&](const std::unique_ptr<Row>& row) {
      if (row->job != &*job) return false;
      tree_.ReleasePages(row->table);
      return true;
    });
  }
  if (job->state == JobState::kRunning) tree_.Unlock(job->from());
  if (job->state == JobState::kPreempted) --preempted_;
  const std::vector<SeqId> held = std::move(job->sequences);
  jobs_.erase(job);
  for (const SeqId id : held) tree_.Release(id);
  ResumeOldest();
  // The next step drops prefills that only this job needed. Without jobs no
  // step follows, so drop them now.
  if (jobs_.empty()) {
    prefills_.BeginStep();
    prefills_.DropUnwanted();
  }
}

void TrunkBackend::Cancel(RequestId id) {
  for (auto it = jobs_.begin(); it != jobs_.end(); ++it) {
    if (it->id != id) continue;
    ReleaseResults(it->completion);
    DropJob(it);
    return;
  }
}

// ---------------------------------------------------------------------------
// Memory shortage

void TrunkBackend::ResumeOldest() {
  scarce_ = false;
  prefills_.set_scarce(false);
  if (preempted_ == 0) return;
  const auto preempted = std::find_if(
      jobs_.begin(), jobs_.end(),
      [](const Job& job) { return job.state == JobState::kPreempted; });
  ESP_CHECK(preempted != jobs_.end());
  const Completion& begun = preempted->completion;
  preempted->state = begun.continuations.empty() && begun.texts.empty()
                         ? JobState::kWaiting
                         : JobState::kResumed;
  --preempted_;
}

void TrunkBackend::MakeRoom() {
  std::vector<Job*> active;
  for (Job& job : jobs_) {
    if (job.state != JobState::kPreempted) active.push_back(&job);
  }
  if (active.size() > 1) {
    Job& youngest = *active.back();
    const bool locked = youngest.state == JobState::kRunning;
    youngest.state = JobState::kPreempted;
    ++preempted_;
    for (const auto& row : rows_) {
      if (row->job == &youngest) tree_.ReleasePages(row->table);
    }
    if (locked) tree_.Unlock(youngest.from());
    return;
  }
  scarce_ = true;
  prefills_.set_scarce(true);
  if (prefills_.GiveUpYoungest()) return;
  const auto with_pages = [](const std::unique_ptr<Row>& row) {
    return !row->table.pages.empty();
  };
  if (std::count_if(rows_.begin(), rows_.end(), with_pages) > 1) {
    tree_.ReleasePages(
        (*std::find_if(rows_.rbegin(), rows_.rend(), with_pages))->table);
    return;
  }
  if (active.empty()) {
    ResumeOldest();
    return;
  }
  active[0]->failure = absl::ResourceExhaustedError(
      absl::StrCat("key/value memory is too small for this request alone: ",
                   pool_.capacity(), " pages of ", pool_.page_bytes(),
                   " bytes; give it more (--kv-mib) or shorten the text"));
}

bool TrunkBackend::Step(std::vector<Completion>& done) {
  if (jobs_.empty()) return false;
  const size_t before = done.size();
  const int64_t evicted = tree_.evicted_pages();
  prefills_.BeginStep();
  StartReady();
  batch_.room = options_.prefill_tokens;
  PlanRows();
  const bool dropped = prefills_.DropUnwanted();
  batch_.segments.assign(batch_.rows.size(), Segment());
  prefills_.Plan(options_.chunk_tokens, batch_.room, batch_.segments);
  PlanDrafts();
  PlanHidden();
  RunTrunk();
  DrawTokens();
  ScoreTexts();
  FinishRows();
  FinishJobs(done);
  const bool moved = !batch_.segments.empty() || !batch_.starting.empty() ||
                     dropped || done.size() > before ||
                     tree_.evicted_pages() > evicted;
  if (!moved && !jobs_.empty()) {
    MakeRoom();
    FinishJobs(done);
  }
  return true;
}

}  // namespace espalier
