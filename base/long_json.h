// A JSON value with arrays that are too long for memory: they are made while
// the text is written.
//
//   LongJson report;
//   report.json["ids"] = report.Array([&](const LongJson::Put& put) {
//     return ids.ForEach([&](std::string_view id) { return put(id); });
//   });
//   ESP_RETURN_IF_ERROR(report.Write(sink));
//
// Thread-compatible.
#ifndef ESPALIER_BASE_LONG_JSON_H_
#define ESPALIER_BASE_LONG_JSON_H_

#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "base/write_pieces.h"
#include "nlohmann/json.hpp"

namespace espalier {

class LongJson {
 public:
  using Put = std::function<absl::Status(const nlohmann::json& element)>;
  // Puts the elements of an array. Called whenever the value is written; what
  // it refers to outlives this.
  using Elements = std::function<absl::Status(const Put& put)>;

  nlohmann::json json;

  // Stands for an array, anywhere in `json`.
  nlohmann::json Array(Elements elements);

  // The text, as JsonText(json, 1) would give it.
  absl::Status Write(const PieceSink& put) const;
  // All in memory; null after an error.
  nlohmann::json Whole() const;

 private:
  std::vector<Elements> arrays_;
};

}  // namespace espalier

#endif  // ESPALIER_BASE_LONG_JSON_H_
