#include "src/learn/trainer.h"

#include <ATen/Parallel.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/random.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/trunk/label_head.h"

namespace espalier {
namespace {

// The optimiser processes parameters in pieces, so that two threads share them
// evenly; a piece's sum of squares is one term of the gradient's norm.
constexpr size_t kPiece = size_t{1} << 15;

// A state's first bytes: the magic, the step, the description's length.
constexpr std::string_view kMagic = "ESPTRN2\n";
constexpr size_t kHeader = kMagic.size() + 2 * sizeof(uint64_t);

struct Piece {
  size_t begin;
  size_t size;
  bool decay;
};

std::vector<Piece> Pieces(const Trainable& trained) {
  std::vector<Piece> out;
  for (const net::NetParameter& p : trained.parameters()) {
    const size_t padded = (p.size + 15) / 16 * 16;
    for (size_t i = 0; i < padded; i += kPiece) {
      out.push_back({p.offset + i, std::min(kPiece, padded - i), p.decay});
    }
  }
  return out;
}

// Keeps ATen's own matrix products on the calling thread.
void StayOnThread() {
  thread_local const bool once = [] {
    at::set_num_threads(1);
    return true;
  }();
  static_cast<void>(once);
}

void CountTargets(absl::Span<const TrainSequence> batch, StepMetrics& m) {
  for (const TrainSequence& s : batch) {
    m.tokens += static_cast<int64_t>(s.tokens.size());
    for (size_t i = 0; i < s.tokens.size(); ++i) {
      if (i > 0) m.lm_weight += s.lm_weight[i];
      for (size_t l = 0; l < kLevels; ++l) {
        m.labels[l] += !std::isnan(s.Label(static_cast<Level>(l), i));
      }
    }
  }
}

}  // namespace

Trainer::Trainer(net::LlamaNet& net, TrainerOptions options, Trainable* trained)
    : net_(net),
      all_weights_(net),
      trained_(trained != nullptr ? *trained : all_weights_),
      options_(std::move(options)),
      executor_(std::max(1, options_.threads)) {
  const int64_t flat = static_cast<int64_t>(net.flat_size());
  ESP_CHECK(options_.partial_sums >= 1);
  grads_ = at::zeros({options_.partial_sums, flat}, at::kFloat);
  moments_ = at::zeros({2, trained_.values().numel()}, at::kFloat);
}

Trainer::~Trainer() = default;

std::unique_ptr<net::Replica> Trainer::TakeReplica() {
  MutexLock lock(mutex_);
  if (idle_.empty()) return std::make_unique<net::Replica>(net_, nullptr);
  std::unique_ptr<net::Replica> out = std::move(idle_.back());
  idle_.pop_back();
  return out;
}

void Trainer::GiveBack(std::unique_ptr<net::Replica> replica) {
  MutexLock lock(mutex_);
  idle_.push_back(std::move(replica));
}

double Trainer::RateAt(int64_t done) const {
  const double peak = options_.learning_rate;
  if (done < options_.warmup_steps) {
    return peak * static_cast<double>(done + 1) / options_.warmup_steps;
  }
  if (options_.schedule == RateSchedule::kConstant) return peak;
  const double span = std::max<double>(
      1, static_cast<double>(options_.total_steps - options_.warmup_steps));
  const double at = std::min(1.0, (done - options_.warmup_steps) / span);
  const double share = options_.schedule == RateSchedule::kCosine
                           ? 0.5 * (1 + std::cos(M_PI * at))
                           : 1 - at;
  return peak * (options_.final_rate + (1 - options_.final_rate) * share);
}

absl::Status Trainer::Check(absl::Span<const TrainSequence> batch) const {
  if (batch.empty()) {
    return absl::InvalidArgumentError(
        "an empty batch: expected at least one sequence");
  }
  const TrunkConfig& c = net_.config();
  const std::vector<Level> levels = RewardLevels(c);
  for (size_t i = 0; i < batch.size(); ++i) {
    const TrainSequence& s = batch[i];
    const size_t n = s.tokens.size();
    const auto error = [i](std::string what) {
      return absl::InvalidArgumentError(
          absl::StrCat("sequence ", i, " of the batch: ", what));
    };
    if (n == 0 || n > static_cast<size_t>(c.context_length)) {
      return error(
          absl::StrCat(n, " tokens, expected 1 to ", c.context_length));
    }
    for (size_t l = IndexOf(Level::kOutcome); l < kLevels; ++l) {
      const size_t labels = s.labels.of[l].size();
      if (labels == 0 || labels == n) continue;
      return error(
          absl::StrFormat("%d tokens with %d %s labels: expected one "
                          "per token or none",
                          n, labels, kLevelNames[l]));
    }
    if (s.lm_weight.size() != n || s.labels[Level::kStep].size() != n ||
        s.labels[Level::kPath].size() != n) {
      return error(absl::StrFormat(
          "%d tokens with %d weights, %d step labels and %d path labels: "
          "expected one of each per token",
          n, s.lm_weight.size(), s.labels[Level::kStep].size(),
          s.labels[Level::kPath].size()));
    }
    for (size_t t = 0; t < n; ++t) {
      if (s.tokens[t] < 0 || s.tokens[t] >= c.vocab_size) {
        return error(absl::StrFormat("token %d is %d, the vocabulary has %d", t,
                                     s.tokens[t], c.vocab_size));
      }
      for (size_t l = 0; l < kLevels; ++l) {
        const auto level = static_cast<Level>(l);
        if (std::isnan(s.Label(level, t))) continue;
        if (std::find(levels.begin(), levels.end(), level) != levels.end()) {
          continue;
        }
        if (levels.empty()) {
          return error(absl::StrCat("token ", t,
                                    " has a reward label, but the net has no "
                                    "reward head: set reward_head"));
        }
        return error(absl::StrCat(
            "token ", t, " has a label of the level ", AbslView(kLevelNames[l]),
            ", and no output of the net's reward head is trained for it"));
      }
    }
  }
  return absl::OkStatus();
}

void Trainer::RunPart(int part, const std::vector<MicroBatch>& batches,
                      bool learn, const StepMetrics& totals,
                      std::vector<net::LossSums>& sums) {
  StayOnThread();
  const int64_t flat = static_cast<int64_t>(net_.flat_size());
  std::unique_ptr<net::Replica> replica = TakeReplica();
  replica->set_grads(nullptr);
  if (learn) {
    float* grads = grads_.data_ptr<float>() + part * flat;
    std::memset(grads, 0, flat * sizeof(float));
    replica->set_grads(grads);
  }
  at::AutoGradMode mode(learn);
  const auto share = [](double coef, double count) {
    return static_cast<float>(count > 0 ? coef / count : 0);
  };
  for (size_t i = part; i < batches.size(); i += options_.partial_sums) {
    const MicroBatch& batch = batches[i];
    net::LossTargets targets = {
        .next = batch.next.data(),
        .weight = batch.weight.data(),
        .labels = {},
        .lm_scale = share(options_.lm_coef, totals.lm_weight),
        .reward_scales = {}};
    const std::vector<Level> levels = RewardLevels(net_.config());
    const int heads = net_.config().reward_ensemble;
    for (size_t j = 0; j < levels.size() * static_cast<size_t>(heads); ++j) {
      const Level level = levels[j % levels.size()];
      targets.labels[j] = batch.labels[level].data();
      targets.reward_scales[j] =
          share(options_.reward_coef / heads,
                static_cast<double>(totals.labels[IndexOf(level)]));
    }
    const at::Tensor hidden = replica->Hidden(batch.stream);
    const at::Tensor loss = replica->Loss(hidden, targets, &sums[i]);
    if (learn) loss.backward();
  }
  GiveBack(std::move(replica));
}

void Trainer::Run(const std::vector<MicroBatch>& batches, bool learn,
                  StepMetrics& metrics) {
  std::vector<net::LossSums> sums(batches.size());
  executor_.ParallelFor(options_.partial_sums, 1, [&](int begin, int end) {
    for (int part = begin; part < end; ++part) {
      RunPart(part, batches, learn, metrics, sums);
    }
  });
  const std::vector<Level> levels = RewardLevels(net_.config());
  const int heads = net_.config().reward_ensemble;
  std::array<double, kLevels> bce{};
  for (const net::LossSums& s : sums) {
    metrics.lm_loss += s.lm;
    for (size_t j = 0; j < levels.size() * static_cast<size_t>(heads); ++j) {
      bce[IndexOf(levels[j % levels.size()])] += s.rewards[j] / heads;
    }
  }
  for (size_t l = 0; l < kLevels; ++l) {
    const auto labels = static_cast<double>(metrics.labels[l]);
    if (labels > 0) bce[l] /= labels;
  }
  metrics.step_bce = bce[IndexOf(Level::kStep)];
  metrics.path_bce = bce[IndexOf(Level::kPath)];
  if (metrics.lm_weight > 0) metrics.lm_loss /= metrics.lm_weight;
}

double Trainer::GradNorm() {
  gradient_ = trained_.Gradient(grads_, executor_);
  const std::vector<Piece> pieces = Pieces(trained_);
  std::vector<double> squares(pieces.size());
  const float* grads = gradient_.data_ptr<float>();
  const int parts = static_cast<int>(gradient_.size(0));
  const auto stride = static_cast<size_t>(gradient_.size(1));
  executor_.ParallelFor(
      static_cast<int>(pieces.size()), 4, [&](int begin, int end) {
        for (int i = begin; i < end; ++i) {
          squares[i] = net_.kernels().grad_squares(
              pieces[i].size, grads + pieces[i].begin, parts, stride);
        }
      });
  double total = 0;
  for (double s : squares) total += s;
  return std::sqrt(total);
}

void Trainer::Update(double rate, double grad_norm) {
  const double clip = options_.clip_norm > 0 && grad_norm > options_.clip_norm
                          ? options_.clip_norm / grad_norm
                          : 1.0;
  const double steps = static_cast<double>(step_ + 1);
  const auto correct1 =
      static_cast<float>(1 / (1 - std::pow(options_.beta1, steps)));
  const auto correct2 =
      static_cast<float>(1 / (1 - std::pow(options_.beta2, steps)));
  const std::vector<Piece> pieces = Pieces(trained_);
  const int parts = static_cast<int>(gradient_.size(0));
  const auto size = static_cast<size_t>(gradient_.size(1));
  const float* grads = gradient_.data_ptr<float>();
  float* values = trained_.values().data_ptr<float>();
  float* moments = moments_.data_ptr<float>();
  executor_.ParallelFor(
      static_cast<int>(pieces.size()), 2, [&](int begin, int end) {
        for (int i = begin; i < end; ++i) {
          const Piece& p = pieces[i];
          net_.kernels().adamw(
              p.size, grads + p.begin, parts, size, static_cast<float>(clip),
              static_cast<float>(rate), static_cast<float>(options_.beta1),
              static_cast<float>(options_.beta2),
              static_cast<float>(options_.epsilon),
              static_cast<float>(p.decay ? options_.weight_decay : 0), correct1,
              correct2, values + p.begin, moments + p.begin,
              moments + size + p.begin);
        }
      });
  trained_.Apply(executor_);
}

absl::StatusOr<StepMetrics> Trainer::Step(
    absl::Span<const TrainSequence> batch) {
  const double start = Clock::Real().Seconds();
  ESP_RETURN_IF_ERROR(Check(batch));
  StepMetrics m;
  CountTargets(batch, m);
  const std::vector<MicroBatch> batches =
      Pack(batch, options_.micro_batch_tokens, options_.partial_sums);
  Run(batches, /*learn=*/true, m);
  m.grad_norm = GradNorm();
  m.step = step_ + 1;
  if (!std::isfinite(m.lm_loss) || !std::isfinite(m.step_bce) ||
      !std::isfinite(m.path_bce) || !std::isfinite(m.grad_norm)) {
    return absl::InternalError(absl::StrFormat(
        "step %d: lm loss %g, step BCE %g, path BCE %g, gradient norm %g: "
        "expected finite numbers; lower the learning rate (%g) or check the "
        "batch",
        m.step, m.lm_loss, m.step_bce, m.path_bce, m.grad_norm, RateAt(step_)));
  }
  m.learning_rate = RateAt(step_);
  Update(m.learning_rate, m.grad_norm);
  ++step_;
  m.seconds = Clock::Real().Seconds() - start;
  m.tokens_per_second = static_cast<double>(m.tokens) / m.seconds;
  return m;
}

absl::StatusOr<StepMetrics> Trainer::Evaluate(
    absl::Span<const TrainSequence> batch) {
  const double start = Clock::Real().Seconds();
  ESP_RETURN_IF_ERROR(Check(batch));
  StepMetrics m;
  m.step = step_;
  CountTargets(batch, m);
  Run(Pack(batch, options_.micro_batch_tokens, options_.partial_sums),
      /*learn=*/false, m);
  m.seconds = Clock::Real().Seconds() - start;
  m.tokens_per_second = static_cast<double>(m.tokens) / m.seconds;
  return m;
}

std::vector<Level> RewardLevels(const TrunkConfig& config) {
  std::vector<Level> levels;
  if (!config.reward_head) return levels;
  for (const LevelSet output : config.reward_outputs) {
    levels.push_back(output.first());
  }
  return levels;
}

absl::StatusOr<std::vector<std::vector<StepScores>>> Trainer::Rewards(
    absl::Span<const TrainSequence> batch) {
  ESP_RETURN_IF_ERROR(Check(batch));
  if (!net_.config().reward_head) {
    return absl::FailedPreconditionError(
        "the net has no reward head: set reward_head in its configuration");
  }
  const std::vector<Level> levels = RewardLevels(net_.config());
  const std::vector<LevelSet> outputs(levels.begin(), levels.end());
  const auto rows = static_cast<size_t>(net_.config().reward_rows());
  std::vector<std::vector<StepScores>> out(batch.size());
  const auto score = [&](int begin, int end) {
    StayOnThread();
    at::AutoGradMode mode(false);
    std::unique_ptr<net::Replica> replica = TakeReplica();
    replica->set_grads(nullptr);
    for (int i = begin; i < end; ++i) {
      net::PackedStream stream;
      stream.Add(batch[i].tokens);
      const at::Tensor rewards = replica->Rewards(replica->Hidden(stream));
      const float* from = rewards.data_ptr<float>();
      std::vector<float> heads(rows);
      for (int t = 0; t < stream.size(); ++t) {
        for (float& p : heads) p = 1 / (1 + std::exp(-*from++));
        out[i].push_back(EnsembleScores(outputs, heads));
      }
    }
    GiveBack(std::move(replica));
  };
  executor_.ParallelFor(static_cast<int>(batch.size()), 8, score);
  return out;
}

// File: magic, step, length of the description, description, values, both
// moments, hash of everything before.
absl::Status Trainer::Save(const std::string& path) const {
  const at::Tensor values = trained_.values();
  const size_t bytes = static_cast<size_t>(values.numel()) * sizeof(float);
  const std::string what = trained_.Description();
  std::string out(kMagic);
  const auto put = [&out](const void* data, size_t size) {
    out.append(static_cast<const char*>(data), size);
  };
  out.reserve(kHeader + what.size() + 3 * bytes + sizeof(uint64_t));
  const uint64_t words[2] = {static_cast<uint64_t>(step_), what.size()};
  put(words, sizeof words);
  out += what;
  put(values.data_ptr<float>(), bytes);
  put(moments_.data_ptr<float>(), 2 * bytes);
  const uint64_t hash = StableHash(out);
  put(&hash, sizeof hash);
  return WriteFileAtomic(path, out);
}

absl::Status Trainer::Load(const std::string& path) {
  ESP_ASSIGN_OR_RETURN(const std::string data, ReadFile(path));
  const auto remedy = [&path](std::string what) {
    return absl::DataLossError(absl::StrCat(
        path, ": ", what, "; remove the file to train from the start"));
  };
  if (data.size() < kHeader + sizeof(uint64_t) ||
      data.compare(0, kMagic.size(), kMagic) != 0) {
    return remedy("not a trainer's state (expected ESPTRN2 at its beginning)");
  }
  const size_t hashed = data.size() - sizeof(uint64_t);
  uint64_t hash;
  std::memcpy(&hash, data.data() + hashed, sizeof hash);
  if (hash != StableHash(std::string_view(data).substr(0, hashed))) {
    return remedy("damaged (its hash does not match)");
  }
  uint64_t words[2];
  std::memcpy(words, data.data() + kMagic.size(), sizeof words);
  const std::string what = trained_.Description();
  const std::string found = data.substr(kHeader, words[1]);
  if (found != what) {
    return absl::FailedPreconditionError(absl::StrCat(
        path, ": the state of a training of ", found, "; this one is of ", what,
        ": use the settings with which it was saved"));
  }
  at::Tensor values = trained_.values();
  const size_t bytes = static_cast<size_t>(values.numel()) * sizeof(float);
  const size_t begin = kHeader + what.size();
  if (hashed != begin + 3 * bytes) {
    return remedy(
        absl::StrCat(hashed - begin, " bytes of values, expected ", 3 * bytes));
  }
  step_ = static_cast<int64_t>(words[0]);
  std::memcpy(values.data_ptr<float>(), data.data() + begin, bytes);
  std::memcpy(moments_.data_ptr<float>(), data.data() + begin + bytes,
              2 * bytes);
  trained_.Apply(executor_);
  return absl::OkStatus();
}

}  // namespace espalier
