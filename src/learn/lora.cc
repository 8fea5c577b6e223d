#include "src/learn/lora.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/random.h"
#include "base/text.h"

namespace espalier {
namespace {

constexpr std::string_view kTargets[] = {"q",    "k",  "v",   "o",
                                         "gate", "up", "down"};
constexpr std::string_view kWeight = "weight";

bool IsReward(const net::NetParameter& p) {
  return p.name.starts_with("reward_head.");
}

// "model.layers.0.self_attn.q_proj.weight" belongs to target q.
bool IsOneOf(const net::NetParameter& p,
             const std::vector<std::string>& targets) {
  return std::any_of(targets.begin(), targets.end(), [&p](const auto& target) {
    return p.name.ends_with("." + target + "_proj.weight");
  });
}

// The slice of a flat tensor that is the parameter, in its shape.
at::Tensor View(const at::Tensor& flat, const net::NetParameter& p) {
  return flat
      .narrow(0, static_cast<int64_t>(p.offset), static_cast<int64_t>(p.size))
      .view(p.shape);
}

uint64_t HashBytes(const at::Tensor& weights) {
  return StableHash({reinterpret_cast<const char*>(weights.data_ptr<float>()),
                     static_cast<size_t>(weights.numel()) * sizeof(float)});
}

}  // namespace

std::vector<std::string> LoraOptions::Targets() const {
  std::vector<std::string> out;
  for (const std::string_view name : kTargets) {
    if (targets.empty() ||
        std::find(targets.begin(), targets.end(), name) != targets.end()) {
      out.emplace_back(name);
    }
  }
  return out;
}

absl::Status CheckLora(const LoraOptions& options) {
  if (options.rank < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--lora-rank ", options.rank,
                     ": expected 0 (all weights are trained) or more"));
  }
  const double alpha = options.Alpha();
  // Written so that NaN fails.
  if (options.alpha && !(alpha > 0 && std::isfinite(alpha))) {
    return absl::InvalidArgumentError(
        absl::StrCat("--lora-alpha ", alpha, ": expected a number above 0"));
  }
  for (const std::string& target : options.targets) {
    if (std::find(std::begin(kTargets), std::end(kTargets), target) ==
        std::end(kTargets)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--lora-targets: ", UnknownName("layer", target, kTargets)));
    }
  }
  if (options.rank == 0 && (options.alpha || !options.targets.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.alpha ? "--lora-alpha" : "--lora-targets",
                     " needs an adapter: add --lora-rank, e.g. --lora-rank 8"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<LoraAdapter>> LoraAdapter::Create(
    net::LlamaNet& net, const LoraOptions& options, const LoraStart& start) {
  if (absl::Status status = CheckLora(options); !status.ok()) return status;
  // The largest rank that fits all targets, and the target that limits it.
  int64_t most = std::numeric_limits<int64_t>::max();
  const net::NetParameter* least = nullptr;
  const std::vector<std::string> targets = options.Targets();
  for (const net::NetParameter& p : net.parameters()) {
    if (!IsOneOf(p, targets) || std::min(p.shape[0], p.shape[1]) >= most) {
      continue;
    }
    most = std::min(p.shape[0], p.shape[1]);
    least = &p;
  }
  if (options.rank < 1 || options.rank > most) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--lora-rank ", options.rank, ": expected 1 to ", most, ", as ",
        least->name, " is ", least->shape[0], " by ", least->shape[1]));
  }
  std::unique_ptr<LoraAdapter> adapter(new LoraAdapter(net, options));
  adapter->base_hash_ = HashBytes(net.weights());
  adapter->Lay(start);
  return adapter;
}

void LoraAdapter::Add(std::string name, std::vector<int64_t> shape,
                      bool decay) {
  net::NetParameter& p = parameters_.emplace_back();
  p.name = std::move(name);
  p.shape = std::move(shape);
  p.offset = size_;
  p.size = 1;
  for (const int64_t n : p.shape) p.size *= static_cast<size_t>(n);
  p.decay = decay;
  size_ += (p.size + 15) / 16 * 16;
}

void LoraAdapter::Lay(const LoraStart& start) {
  const std::vector<std::string> targets = options_.Targets();
  std::vector<const net::NetParameter*> matrices, copies;
  for (const net::NetParameter& p : net_.parameters()) {
    if (IsOneOf(p, targets)) matrices.push_back(&p);
    if (start.reward_head && IsReward(p)) copies.push_back(&p);
  }
  for (const net::NetParameter* p : matrices) {
    const std::string place =
        p->name.substr(0, p->name.size() - kWeight.size());
    Add(place + "lora_A.weight", {options_.rank, p->shape[1]}, p->decay);
    Add(place + "lora_B.weight", {p->shape[0], options_.rank}, p->decay);
  }
  for (const net::NetParameter* p : copies) Add(p->name, p->shape, p->decay);
  values_ = at::zeros({static_cast<int64_t>(size_)}, at::kFloat);
  gradient_ = at::zeros({1, static_cast<int64_t>(size_)}, at::kFloat);

  const at::Tensor gradient = gradient_[0];
  auto next = parameters_.begin();
  for (const net::NetParameter* p : matrices) {
    const net::NetParameter& a = *next++;
    const net::NetParameter& b = *next++;
    const at::Tensor weight = View(net_.weights(), *p);
    factors_.push_back({.offset = p->offset,
                        .base = weight.clone(),
                        .weight = weight,
                        .a = View(values_, a),
                        .da = View(gradient, a),
                        .b = View(values_, b),
                        .db = View(gradient, b)});
    RandomStream rng(
        StreamKey(start.seed, StableHash(a.name), 0, Purpose::kTrain));
    const float bound = 1 / std::sqrt(static_cast<float>(a.shape[1]));
    float* to = values_.data_ptr<float>() + a.offset;
    for (size_t i = 0; i < a.size; ++i) {
      to[i] = bound * (2 * rng.Uniform() - 1);
    }
  }
  for (const net::NetParameter* p : copies) {
    const net::NetParameter& copy = *next++;
    const at::Tensor weight = View(net_.weights(), *p);
    copies_.push_back({.offset = p->offset,
                       .weight = weight,
                       .value = View(values_, copy).copy_(weight),
                       .dvalue = View(gradient, copy)});
  }
}

at::Tensor LoraAdapter::Gradient(const at::Tensor& grads, Executor& executor) {
  const auto by_weight = [&grads](size_t offset, const at::Tensor& weight) {
    return grads.narrow(1, static_cast<int64_t>(offset), weight.numel())
        .sum(0)
        .view(weight.sizes());
  };
  const double s = options_.Alpha() / options_.rank;
  executor.ParallelFor(static_cast<int>(factors_.size()), 1,
                       [&](int begin, int end) {
                         at::set_num_threads(1);
                         for (int i = begin; i < end; ++i) {
                           Factors& f = factors_[static_cast<size_t>(i)];
                           const at::Tensor dw = by_weight(f.offset, f.weight);
                           f.db.addmm_(dw, f.a.t(), /*beta=*/0, s);
                           f.da.addmm_(f.b.t(), dw, /*beta=*/0, s);
                         }
                       });
  for (Copy& copy : copies_) {
    copy.dvalue.copy_(by_weight(copy.offset, copy.weight));
  }
  return gradient_;
}

void LoraAdapter::Apply(Executor& executor) {
  const double s = options_.Alpha() / options_.rank;
  executor.ParallelFor(
      static_cast<int>(factors_.size()), 1, [&](int begin, int end) {
        at::set_num_threads(1);
        for (int i = begin; i < end; ++i) {
          Factors& f = factors_[static_cast<size_t>(i)];
          at::addmm_out(f.weight, f.base, f.b, f.a, /*beta=*/1, s);
        }
      });
  for (Copy& copy : copies_) copy.weight.copy_(copy.value);
  RefreshMatrices(net_, executor);
}

std::string LoraAdapter::Description() const {
  return absl::StrCat("a LoRA adapter of rank ", options_.rank, ", alpha ",
                      options_.Alpha(), " on ",
                      absl::StrJoin(options_.Targets(), ","),
                      trains_reward_head() ? " with the reward head" : "",
                      " over the base ", absl::Hex(base_hash_), " (shapes ",
                      absl::Hex(HashShapes(parameters_)), ")");
}

}  // namespace espalier
