// Typed keys of a JSON configuration, keeping the first error.
//
//   ESP_ASSIGN_OR_RETURN(const nlohmann::json parsed,
//                        ParseJsonObject(text, file));
//   ConfigReader in(parsed, file);
//   config.layers = in.Extent("num_hidden_layers", 32);
//   if (in.Flag("mlp_bias", false)) in.Refuse("mlp_bias", true, "false");
//   if (!in.status().ok()) return in.status();
//
// Errors name the file, the key, what was found and what is supported. A
// missing key takes the fallback; null does too where stated.
//
// Thread-compatible.
#ifndef ESPALIER_MODELS_CHECKPOINT_CONFIG_READER_H_
#define ESPALIER_MODELS_CHECKPOINT_CONFIG_READER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// Larger extents are corrupt files, not models; products of two still fit 64
// bits.
inline constexpr int64_t kMaxExtent = int64_t{1} << 24;

// `file` names the origin in errors. Rejects excessive nesting. The first key
// that occurs twice in one object goes to `twice`, if given.
absl::StatusOr<nlohmann::json> ParseJsonObject(std::string_view text,
                                               const std::string& file,
                                               std::string* twice = nullptr);

// A short, printable form of an unexpected value.
std::string FoundText(const nlohmann::json& value);

class ConfigReader {
 public:
  // `config` and `file` must outlive the reader.
  ConfigReader(const nlohmann::json& config, const std::string& file)
      : config_(config), file_(file) {}

  const absl::Status& status() const { return status_; }
  void Refuse(const std::string& key, const nlohmann::json& found,
              const std::string& supported);

  bool Has(const char* key) const;
  // Null counts as absent.
  const nlohmann::json* Find(const char* key) const;
  // 1 to kMaxExtent.
  int Extent(const char* key, int fallback);
  int ExtentOrNull(const char* key, int fallback);
  // Above 0; null takes the fallback.
  double Positive(const char* key, double fallback);
  bool Flag(const char* key, bool fallback);

 private:
  const nlohmann::json& config_;
  const std::string& file_;
  absl::Status status_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_CONFIG_READER_H_
