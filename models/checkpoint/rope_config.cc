#include "models/checkpoint/rope_config.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// The object that describes the rotation, with the name of its key.
struct RopeObject {
  const char* key = nullptr;
  const json* value = nullptr;
};

RopeObject FindRope(ConfigReader& in) {
  for (const char* key : {"rope_scaling", "rope_parameters"}) {
    if (const json* found = in.Find(key)) return {key, found};
  }
  return {};
}

// A number above 0, nothing if it is missing or null. An invalid value rejects
// the whole object.
std::optional<double> Number(ConfigReader& in, const RopeObject& rope,
                             const char* name) {
  const auto found = rope.value->find(name);
  if (found == rope.value->end() || found->is_null()) return std::nullopt;
  // What is 0 in fp32 is not above 0.
  if (!found->is_number() || !(found->get<float>() > 0) ||
      !(found->get<double>() < 1e30)) {
    in.Refuse(rope.key, *rope.value,
              absl::StrCat("\"", name, "\" of a number above 0"));
    return std::nullopt;
  }
  return found->get<double>();
}

double Required(ConfigReader& in, const RopeObject& rope, const char* name) {
  const std::optional<double> found = Number(in, rope, name);
  if (!found.has_value()) {
    in.Refuse(rope.key, *rope.value,
              absl::StrCat("\"", name, "\" of a number above 0"));
  }
  return found.value_or(1);
}

// A length in tokens; `fallback` if it is missing.
int Length(ConfigReader& in, const RopeObject& rope, int fallback) {
  constexpr char kName[] = "original_max_position_embeddings";
  const double found = fallback > 0 ? Number(in, rope, kName).value_or(fallback)
                                    : Required(in, rope, kName);
  if (!(found >= 1 && found <= static_cast<double>(kMaxExtent)) ||
      found != std::floor(found)) {
    in.Refuse(
        rope.key, *rope.value,
        absl::StrCat("\"", kName, "\" of whole numbers 1 to ", kMaxExtent));
    return 1;
  }
  return static_cast<int>(found);
}

// yarn's factor on queries and keys: given, or by the paper's formula with
// DeepSeek's two scales if those are given.
double AttentionFactor(ConfigReader& in, const RopeObject& rope,
                       double factor) {
  if (const auto given = Number(in, rope, "attention_factor")) return *given;
  const auto scale = [factor](double mscale) {
    return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
  };
  const double mscale = Number(in, rope, "mscale").value_or(0);
  const double all = Number(in, rope, "mscale_all_dim").value_or(0);
  return mscale > 0 && all > 0 ? scale(mscale) / scale(all) : scale(1);
}

void ReadYarn(ConfigReader& in, const RopeObject& rope, TrunkConfig& config) {
  RopeScaling& out = config.rope;
  const int max_positions = config.context_length;
  out.original_context = Length(in, rope, max_positions);
  out.factor =
      Number(in, rope, "factor")
          .value_or(static_cast<double>(max_positions) / out.original_context);
  out.beta_fast = Number(in, rope, "beta_fast").value_or(32);
  out.beta_slow = Number(in, rope, "beta_slow").value_or(1);
  out.attention_factor = AttentionFactor(in, rope, out.factor);
  const auto truncate = rope.value->find("truncate");
  if (truncate != rope.value->end() && *truncate != true) {
    in.Refuse(rope.key, *rope.value, "\"truncate\": true");
  }
  if (!(config.rope_theta > 1)) {
    in.Refuse("rope_theta", config.rope_theta, "numbers above 1 with yarn");
  }
}

void ReadLlama3(ConfigReader& in, const RopeObject& rope, RopeScaling& out) {
  out.factor = Required(in, rope, "factor");
  out.original_context = Length(in, rope, 0);
  out.low_freq_factor = Required(in, rope, "low_freq_factor");
  out.high_freq_factor = Required(in, rope, "high_freq_factor");
  if (!(out.high_freq_factor > out.low_freq_factor)) {
    in.Refuse(rope.key, *rope.value,
              "\"high_freq_factor\" above \"low_freq_factor\"");
  }
}

// The divisors of one list of longrope.
std::vector<double> Divisors(ConfigReader& in, const RopeObject& rope,
                             const char* name, int pairs) {
  std::vector<double> out;
  const auto found = rope.value->find(name);
  if (found != rope.value->end() && found->is_array() &&
      found->size() == static_cast<size_t>(pairs)) {
    for (const json& divisor : *found) {
      if (divisor.is_number() && divisor.get<double>() > 0 &&
          divisor.get<double>() < 1e30) {
        out.push_back(divisor.get<double>());
      }
    }
  }
  if (out.size() != static_cast<size_t>(pairs)) {
    in.Refuse(rope.key, *rope.value,
              absl::StrCat("\"", name, "\" of ", pairs,
                           " numbers above 0, one per rotary pair"));
  }
  return out;
}

// Ding et al. 2024. Texts up to the original length, where the short divisors
// apply; the attention factor depends on the extended one.
void ReadLongRope(ConfigReader& in, const RopeObject& rope,
                  TrunkConfig& config) {
  RopeScaling& out = config.rope;
  out.kind = RopeKind::kLongRope;
  const int pairs = config.rotary() / 2;
  out.divisors = Divisors(in, rope, "short_factor", pairs);
  Divisors(in, rope, "long_factor", pairs);
  const int extended = config.context_length;
  out.original_context =
      Length(in, rope, in.Extent("original_max_position_embeddings", extended));
  out.factor = static_cast<double>(extended) / out.original_context;
  const auto given = Number(in, rope, "attention_factor");
  out.attention_factor =
      given.has_value() ? *given
      : out.factor <= 1 || out.original_context < 2
          ? 1
          : std::sqrt(1 + std::log(out.factor) / std::log(static_cast<double>(
                                                     out.original_context)));
  config.context_length = std::min(extended, out.original_context);
}

std::string TypeOf(const RopeObject& rope) {
  for (const char* name : {"rope_type", "type"}) {
    const auto found = rope.value->find(name);
    if (found != rope.value->end()) {
      return found->is_string() ? found->get<std::string>() : "";
    }
  }
  // Nested objects: one rotation per kind of layer.
  for (const json& value : *rope.value) {
    if (value.is_object()) return "";
  }
  return "default";
}

void ReadScaling(ConfigReader& in, const RopeObject& rope,
                 TrunkConfig& config) {
  const std::string type = TypeOf(rope);
  RopeScaling& out = config.rope;
  if (type == "default") return;
  if (type == "llama3") {
    out.kind = RopeKind::kLlama3;
    return ReadLlama3(in, rope, out);
  }
  if (type == "linear") {
    // max_position_embeddings is the trained length; it is scaled.
    out.kind = RopeKind::kLinear;
    out.factor = Required(in, rope, "factor");
    out.original_context =
        static_cast<int>(std::min(config.context_length / out.factor, 1e9));
    if (out.original_context < 1) {
      in.Refuse(rope.key, *rope.value,
                absl::StrCat("a \"factor\" of at most the ",
                             config.context_length, " positions"));
    }
    return;
  }
  if (type == "longrope" || ((type == "su" || type == "yarn") &&
                             rope.value->contains("long_factor"))) {
    return ReadLongRope(in, rope, config);
  }
  if (type == "dynamic") {
    out.kind = RopeKind::kDynamic;
    out.factor = Required(in, rope, "factor");
    out.original_context = config.context_length;
    if (config.head_dim <= 2) {
      in.Refuse("head_dim", config.head_dim, "more than 2 with dynamic rope");
    }
  } else if (type == "yarn") {
    out.kind = RopeKind::kYarn;
    ReadYarn(in, rope, config);
  } else {
    return in.Refuse(rope.key, *rope.value,
                     "\"rope_type\" of default, linear, dynamic, llama3, yarn, "
                     "longrope");
  }
  const double reach = std::floor(out.original_context * out.factor + 1e-6);
  if (!(reach >= 1 && reach <= static_cast<double>(kMaxExtent))) {
    return in.Refuse(rope.key, *rope.value,
                     absl::StrCat("a \"factor\" that gives 1 to ", kMaxExtent,
                                  " positions"));
  }
  config.context_length = static_cast<int>(reach);
}

// Gemma 3 may describe its two rotations by kind of layer: {"full_attention":
// {...}, "sliding_attention": {...}}. Sets the latter's base, and leaves the
// former in `rope`.
void TakeKindOfLayer(ConfigReader& in, RopeObject& rope, TrunkConfig& config) {
  const auto full = rope.value->find("full_attention");
  const auto local = rope.value->find("sliding_attention");
  if (full == rope.value->end() || local == rope.value->end()) return;
  if (!full->is_object() || !local->is_object() ||
      TypeOf({rope.key, &*local}) != "default") {
    return in.Refuse(rope.key, *rope.value,
                     "objects for full_attention and sliding_attention, the "
                     "latter of type default");
  }
  config.local_rope_theta = static_cast<float>(
      Number(in, {rope.key, &*local}, "rope_theta").value_or(10000));
  rope.value = &*full;
}

// Sets rotary_dim.
void ReadPart(ConfigReader& in, const RopeObject& rope, double fallback,
              TrunkConfig& config) {
  constexpr char kKey[] = "partial_rotary_factor";
  const double whole = fallback > 0 ? fallback : 1;
  double part = in.Positive(kKey, whole);
  if (rope.value != nullptr) part = Number(in, rope, kKey).value_or(part);
  if (fallback == 0) {
    if (part != 1) in.Refuse(kKey, part, "1");
    return;
  }
  const int rotated = static_cast<int>(config.head_dim * std::min(part, 2.0));
  if (rotated < 2 || rotated > config.head_dim || rotated % 2 != 0) {
    return in.Refuse(kKey, part,
                     absl::StrCat("parts of head_dim ", config.head_dim,
                                  " of an even number of dimensions"));
  }
  config.rotary_dim = rotated == config.head_dim ? 0 : rotated;
}

}  // namespace

void ReadRope(ConfigReader& in, double part, TrunkConfig& config) {
  config.rope_theta =
      static_cast<float>(in.Positive("rope_theta", config.rope_theta));
  RopeObject rope = FindRope(in);
  if (rope.value == nullptr) return ReadPart(in, rope, part, config);
  if (!rope.value->is_object()) {
    return in.Refuse(rope.key, *rope.value, "an object or null");
  }
  if (config.architecture == Architecture::kGemma3) {
    TakeKindOfLayer(in, rope, config);
  }
  const std::optional<double> theta = Number(in, rope, "rope_theta");
  if (theta.has_value()) config.rope_theta = static_cast<float>(*theta);
  ReadPart(in, rope, part, config);
  ReadScaling(in, rope, config);
}

}  // namespace espalier
