#include "models/schedule/trunk_backend.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "models/sampling/sampler.h"
#include "src/base/check.h"

namespace espalier {

// What one step runs. Segments point into the rows' and sequences' tables,
// which do not change while it runs.
struct TrunkBackend::Batch {
  std::vector<Segment> segments;
  std::vector<Row*> decoding;  // rows whose last token is forwarded; the
                               // first segments, in this order
  std::vector<SeqId> filling;  // sequences of the other segments
  std::vector<Row*> starting;  // rows that take their first token
  std::vector<float> hidden;   // [decoding + filling + sources, d]
  std::vector<size_t> source;  // hidden row of each starting row
  int64_t tokens = 0;
};

TrunkBackend::TrunkBackend(Trunk& trunk, const Tokenizer& tokenizer,
                           Executor& executor, TrunkBackendOptions options)
    : trunk_(trunk),
      tokenizer_(tokenizer),
      executor_(executor),
      options_(options),
      capabilities_{.propose = true,
                    .reward = trunk.config().reward_head,
                    .context_length = trunk.config().context_length},
      memory_(trunk.NewPages()),
      pool_(*memory_, options.kv_bytes),
      tree_(pool_) {}

TrunkBackend::~TrunkBackend() {
  for (Row& row : rows_) tree_.Drop(row.table);
}

SeqId TrunkBackend::Extend(SeqId parent, absl::Span<const int32_t> tokens) {
  return tree_.Extend(parent, tokens);
}

void TrunkBackend::Release(SeqId seq) {
  if (seq != kEmptySeq) tree_.Release(seq);
}

absl::Status TrunkBackend::CheckRequest(const Request& request) const {
  std::vector<SeqId> sequences;
  if (const auto* score = std::get_if<ScoreRequest>(&request.body)) {
    sequences = score->sequences;
    if (!capabilities_.reward) {
      return absl::FailedPreconditionError(
          "the model has no reward head; expected a checkpoint with "
          "reward_head.weight");
    }
  } else {
    const auto& generation = std::get<GenerateRequest>(request.body);
    sequences = {generation.from};
    if (generation.n < 1 || generation.stop.max_tokens < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "expected at least one continuation and token, found n ",
          generation.n, ", max_tokens ", generation.stop.max_tokens));
    }
    const absl::Status status = CheckSamplingOptions(generation.sampling);
    if (!status.ok()) return status;
  }
  for (const SeqId id : sequences) {
    if (id == kEmptySeq) {
      return absl::InvalidArgumentError("expected a prompt, found no tokens");
    }
    const int room = capabilities_.context_length;
    if (tree_.at(id).end() > room) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the text takes ", tree_.at(id).end(), " tokens and the context is ",
          room, "; shorten it or take a model with a longer context"));
    }
    for (SeqId s = id; s != kEmptySeq; s = tree_.at(s).parent) {
      for (const int32_t token : tree_.at(s).tokens) {
        if (token < 0 || token >= trunk_.config().vocab_size) {
          return absl::InvalidArgumentError(
              absl::StrCat("token ", token, " is not in the vocabulary of ",
                           trunk_.config().vocab_size));
        }
      }
    }
  }
  return absl::OkStatus();
}

void TrunkBackend::Submit(Request request) {
  Job& job = jobs_.emplace_back();
  job.id = request.id;
  job.completion.id = request.id;
  job.failure = CheckRequest(request);
  if (!job.failure.ok()) return;  // answered by the next step
  if (auto* generation = std::get_if<GenerateRequest>(&request.body)) {
    job.generate = true;
    job.generation = std::move(*generation);
    job.sequences = {job.generation.from};
  } else {
    job.sequences = std::move(std::get<ScoreRequest>(request.body).sequences);
  }
  for (const SeqId id : job.sequences) tree_.AddRef(id);
}

bool TrunkBackend::Ensure(SeqId id, bool pages) {
  if (id == kEmptySeq) return true;
  Sequence& sequence = tree_.at(id);
  tree_.Touch(id);
  if (sequence.locks > 0) {  // on its way
    wanted_.insert(id);
    return false;
  }
  if (!sequence.hidden.empty() && (!pages || sequence.resident())) return true;
  if (sequence.table.pages.empty()) {
    if (!Ensure(sequence.parent, true)) return false;
    const Sequence& parent = tree_.at(sequence.parent);
    ++sequence.locks;
    const bool forked = tree_.Fork(parent.table, parent.end(), sequence.table);
    --sequence.locks;
    if (!forked) return false;  // tried again when pages are free
  }
  // A sequence that lost its hidden row but not its pages cannot be: both are
  // made by the same pass, and eviction takes the pages alone.
  ESP_CHECK(sequence.table.resident < sequence.end());
  tree_.Lock(id);
  filling_.push_back(id);
  wanted_.insert(id);
  return false;
}

void TrunkBackend::DropUnwanted() {
  // Unlocking may free a sequence, so the list is put in order first.
  std::vector<SeqId> dropped;
  std::erase_if(filling_, [&](SeqId id) {
    if (wanted_.contains(id)) return false;
    dropped.push_back(id);
    return true;
  });
  wanted_.clear();
  for (const SeqId id : dropped) tree_.Unlock(id);
}

void TrunkBackend::StartReady() {
  for (Job& job : jobs_) {
    if (job.started || !job.failure.ok()) continue;
    bool ready = true;
    for (const SeqId id : job.sequences) {
      // All are asked, so that they are computed in the same batches.
      ready = Ensure(id, job.generate) && ready;
    }
    if (ready && job.generate) StartRows(job);
  }
}

void TrunkBackend::StartRows(Job& job) {
  const GenerateRequest& request = job.generation;
  Sequence& from = tree_.at(request.from);
  if (from.end() >= capabilities_.context_length) {
    job.failure = absl::InvalidArgumentError(absl::StrCat(
        "the text takes ", from.end(), " tokens, the whole context of ",
        capabilities_.context_length, "; nothing can follow it"));
    return;
  }
  job.started = true;
  job.unfinished = request.n;
  job.completion.continuations.resize(static_cast<size_t>(request.n));
  for (int i = 0; i < request.n; ++i) {
    Row& row = rows_.emplace_back();
    row.job = &job;
    row.index = i;
    row.key = SampleKey(request.stream, request.first_sample + i);
  }
}

// One token of every row; rows without a page wait for the next step.
void TrunkBackend::PlanRows(Batch& batch) {
  for (Row& row : rows_) {
    row.paused = false;
    if (row.tokens.empty()) {
      batch.starting.push_back(&row);
      continue;
    }
    const Sequence& from = tree_.at(row.job->generation.from);
    const int position = from.end() + static_cast<int>(row.tokens.size()) - 1;
    if (row.table.pages.empty()) {
      // The fork waits until the row goes on beyond its first token.
      row.paused = !Ensure(row.job->generation.from, true) ||
                   !tree_.Fork(from.table, from.end(), row.table);
    }
    if (!row.paused) row.paused = !tree_.Grow(row.table, position + 1);
    if (row.paused) continue;
    batch.segments.push_back(
        {.pages = row.table.pages,
         .start = position,
         .tokens = absl::MakeConstSpan(&row.tokens.back(), 1)});
    batch.decoding.push_back(&row);
  }
}

void TrunkBackend::PlanSequences(Batch& batch) {
  int room = options_.prefill_tokens;
  for (const SeqId id : filling_) {
    Sequence& sequence = tree_.at(id);
    const int have = sequence.table.resident;
    const int count =
        std::min({sequence.end() - have, options_.chunk_tokens, room});
    if (count <= 0) break;
    if (!tree_.Grow(sequence.table, have + count)) continue;
    room -= count;
    batch.segments.push_back(
        {.pages = sequence.table.pages,
         .start = have,
         .tokens = absl::MakeConstSpan(sequence.tokens)
                       .subspan(static_cast<size_t>(have - sequence.start),
                                static_cast<size_t>(count))});
    batch.filling.push_back(id);
  }
}

void TrunkBackend::RunTrunk(Batch& batch) {
  const size_t d = static_cast<size_t>(trunk_.config().hidden_size);
  batch.hidden.resize((batch.segments.size() + batch.starting.size()) * d);
  for (size_t i = 0; i < batch.segments.size(); ++i) {
    batch.segments[i].last_hidden = batch.hidden.data() + i * d;
    batch.tokens += static_cast<int64_t>(batch.segments[i].tokens.size());
  }
  if (!batch.segments.empty()) {
    trunk_.Forward(batch.segments, *memory_, executor_);
    ++stats_.steps;
    stats_.rows += static_cast<int64_t>(batch.segments.size());
    stats_.tokens_computed += batch.tokens;
  }
  for (Row* row : batch.decoding) {
    row->table.resident = tree_.at(row->job->generation.from).end() +
                          static_cast<int>(row->tokens.size());
  }
  for (size_t i = 0; i < batch.filling.size(); ++i) {
    Sequence& sequence = tree_.at(batch.filling[i]);
    const size_t segment = batch.decoding.size() + i;
    const int now = batch.segments[segment].start +
                    static_cast<int>(batch.segments[segment].tokens.size());
    stats_.tokens_recomputed += std::max(
        0, std::min(now, sequence.ever_resident) - sequence.table.resident);
    sequence.table.resident = now;
    sequence.ever_resident = std::max(sequence.ever_resident, now);
    if (!sequence.resident()) continue;
    const float* row = batch.segments[segment].last_hidden;
    sequence.hidden.assign(row, row + d);
    std::erase(filling_, batch.filling[i]);
    tree_.Unlock(batch.filling[i]);
  }
}

void TrunkBackend::SampleRows(Batch& batch) {
  const size_t d = static_cast<size_t>(trunk_.config().hidden_size);
  const size_t vocab = static_cast<size_t>(trunk_.config().vocab_size);
  // Logits are needed of decoded rows and, once a request, of its source.
  std::vector<float> hidden(
      batch.hidden.begin(),
      batch.hidden.begin() +
          static_cast<std::ptrdiff_t>(batch.decoding.size() * d));
  std::vector<Row*> rows = batch.decoding;
  std::vector<size_t> logits_row(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) logits_row[i] = i;
  const Job* last_job = nullptr;
  for (Row* row : batch.starting) {
    if (row->job != last_job) {
      const auto& source = tree_.at(row->job->generation.from).hidden;
      hidden.insert(hidden.end(), source.begin(), source.end());
      last_job = row->job;
    }
    rows.push_back(row);
    logits_row.push_back(hidden.size() / d - 1);
  }
  if (rows.empty()) return;
  const int count = static_cast<int>(hidden.size() / d);
  std::vector<float> logits(static_cast<size_t>(count) * vocab);
  trunk_.Logits(hidden.data(), count, logits.data(), executor_);
  std::vector<absl::StatusOr<Sampled>> drawn(rows.size(), Sampled{});
  executor_.ParallelFor(
      static_cast<int>(rows.size()), 8, [&](int begin, int end) {
        for (size_t i = static_cast<size_t>(begin);
             i < static_cast<size_t>(end); ++i) {
          drawn[i] = Sample(
              absl::MakeConstSpan(logits.data() + logits_row[i] * vocab, vocab),
              rows[i]->job->generation.sampling,
              RandomStream::UniformAt(rows[i]->key, rows[i]->tokens.size()));
        }
      });
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!drawn[i].ok()) {
      rows[i]->job->failure = drawn[i].status();
      continue;
    }
    Accept(*rows[i], *drawn[i]);
  }
}

void TrunkBackend::Accept(Row& row, const Sampled& drawn) {
  row.tokens.push_back(drawn.token);
  row.logprobs.push_back(drawn.logprob);
  row.sampler_logprobs.push_back(drawn.sampler_logprob);
  row.entropy += drawn.entropy;
  row.text += tokenizer_.TokenBytes(drawn.token);
  ++stats_.tokens_generated;
}

bool TrunkBackend::Finished(const Row& row, Finish* finish) const {
  if (row.tokens.empty()) return false;
  const GenerateRequest& request = row.job->generation;
  if (trunk_.config().IsEnd(row.tokens.back())) {
    *finish = Finish::kEnd;
    return true;
  }
  // The text before the last token did not complete the delimiter.
  if (!request.stop.delimiter.empty() &&
      row.text.find(request.stop.delimiter) != std::string::npos) {
    *finish = Finish::kDelimiter;
    return true;
  }
  const int length =
      tree_.at(request.from).end() + static_cast<int>(row.tokens.size());
  *finish = Finish::kLength;
  return static_cast<int>(row.tokens.size()) >= request.stop.max_tokens ||
         length >= capabilities_.context_length;
}

void TrunkBackend::FinishRows() {
  for (auto it = rows_.begin(); it != rows_.end();) {
    Row& row = *it;
    Finish finish;
    if (!Finished(row, &finish)) {
      ++it;
      continue;
    }
    Continuation& out =
        row.job->completion.continuations[static_cast<size_t>(row.index)];
    out.entropy = static_cast<float>(row.entropy /
                                     static_cast<double>(row.tokens.size()));
    out.finish = finish;
    out.logprobs = std::move(row.logprobs);
    out.sampler_logprobs = std::move(row.sampler_logprobs);
    out.seq = tree_.Adopt(row.job->generation.from, row.tokens,
                          std::exchange(row.table, PageTable()));
    out.tokens = std::move(row.tokens);
    --row.job->unfinished;
    it = rows_.erase(it);
  }
}

void TrunkBackend::FinishJobs(std::vector<Completion>& done) {
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    Job& job = *it;
    const auto next = std::next(it);
    bool ready = !job.failure.ok();
    if (!ready && job.generate) ready = job.started && job.unfinished == 0;
    if (!ready && !job.generate) {
      ready =
          std::all_of(job.sequences.begin(), job.sequences.end(),
                      [&](SeqId id) { return !tree_.at(id).hidden.empty(); });
      if (ready && !job.sequences.empty()) {
        std::vector<float> hidden;
        for (const SeqId id : job.sequences) {
          const auto& row = tree_.at(id).hidden;
          hidden.insert(hidden.end(), row.begin(), row.end());
        }
        job.completion.scores.resize(job.sequences.size());
        trunk_.Rewards(hidden.data(), static_cast<int>(job.sequences.size()),
                       job.completion.scores.data());
      }
    }
    if (ready) {
      Completion completion = std::move(job.completion);
      completion.status = job.failure;
      if (!completion.status.ok()) {
        for (const Continuation& c : completion.continuations) {
          if (c.seq != kEmptySeq) tree_.Release(c.seq);
        }
        completion.continuations.clear();
      }
      DropJob(it);
      done.push_back(std::move(completion));
    }
    it = next;
  }
}

void TrunkBackend::DropJob(std::list<Job>::iterator job) {
  for (auto row = rows_.begin(); row != rows_.end();) {
    if (row->job != &*job) {
      ++row;
      continue;
    }
    tree_.Drop(row->table);
    row = rows_.erase(row);
  }
  const std::vector<SeqId> held = std::move(job->sequences);
  jobs_.erase(job);
  for (const SeqId id : held) tree_.Release(id);
  // The next step drops what only this job waited for; if none comes, now.
  if (jobs_.empty()) DropUnwanted();
}

void TrunkBackend::Cancel(RequestId id) {
  for (auto it = jobs_.begin(); it != jobs_.end(); ++it) {
    if (it->id != id) continue;
    for (const Continuation& c : it->completion.continuations) {
      if (c.seq != kEmptySeq) tree_.Release(c.seq);
    }
    DropJob(it);
    return;
  }
}

void TrunkBackend::FailYoungest() {
  for (auto it = jobs_.rbegin(); it != jobs_.rend(); ++it) {
    if (!it->failure.ok()) continue;
    it->failure = absl::ResourceExhaustedError(absl::StrCat(
        "key/value memory is full: ", pool_.capacity(), " pages of ",
        pool_.page_bytes(), " bytes are all in use; give it more (--kv-mib) ",
        "or run fewer searches at once (--live)"));
    return;
  }
}

bool TrunkBackend::Step(std::vector<Completion>& done) {
  if (jobs_.empty()) return false;
  StartReady();
  Batch batch;
  PlanRows(batch);
  DropUnwanted();
  PlanSequences(batch);
  const size_t before = done.size();
  RunTrunk(batch);
  SampleRows(batch);
  FinishRows();
  FinishJobs(done);
  if (batch.segments.empty() && batch.starting.empty() &&
      done.size() == before && !jobs_.empty()) {
    // Nothing moved: every page is held by something that waits for another.
    FailYoungest();
    FinishJobs(done);
  }
  return true;
}

}  // namespace espalier
