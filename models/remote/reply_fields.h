// Reads fields of a server's JSON without trusting it: what is absent or of
// another type is an error that names the field.
//
//   ESP_ASSIGN_OR_RETURN(const json choices, ListField(reply, "choices"));
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_REMOTE_REPLY_FIELDS_H_
#define ESPALIER_MODELS_REMOTE_REPLY_FIELDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "nlohmann/json_fwd.hpp"

namespace espalier {

// "FIELD: expected WHAT, found NULL, a text, ..." as InvalidArgument.
absl::Status WrongField(std::string_view field, std::string_view expected,
                        const nlohmann::json& found);

// Null where absent.
const nlohmann::json& Field(const nlohmann::json& object,
                            std::string_view name);
absl::StatusOr<const nlohmann::json*> ListField(const nlohmann::json& object,
                                                std::string_view name);
// A token id, from a number or a text "token_id:7".
absl::StatusOr<int32_t> TokenOf(const nlohmann::json& value,
                                std::string_view field);
absl::StatusOr<std::vector<int32_t>> TokensField(const nlohmann::json& object,
                                                 std::string_view name);
// A number of 0 or below; NaN for null, a very low one for -infinity as some
// servers write it.
absl::StatusOr<float> LogprobOf(const nlohmann::json& value,
                                std::string_view field);
// The same where null is an error: of the most likely tokens, which are sorted
// and summed.
absl::StatusOr<float> KnownLogprobOf(const nlohmann::json& value,
                                     std::string_view field);
// 0 where absent or not a count.
int64_t CountField(const nlohmann::json& object, std::string_view name);
// "" where absent or not a text.
std::string TextField(const nlohmann::json& object, std::string_view name);

// Adds the labels of the weights that drew a sample, as `weight_versions` of
// `object` tells: [{"version": "v7", "start": 0, "end": 57}, ...], ranges of
// its tokens. A label is added once; what is absent or of another shape adds
// none.
void ReadWeightVersions(const nlohmann::json& object,
                        std::vector<std::string>& weights);

// What tells one model's weights from another's in an entry of llama-server's
// /v1/models: "1000 parameters, 4000 bytes"; "" if it has no "meta".
std::string ModelSize(const nlohmann::json& entry);

// The text of `body` with a field of token ids more, which are not made json
// values one by one. `body` has at least one field.
std::string WithIds(const nlohmann::json& body, std::string_view name,
                    absl::Span<const int32_t> ids);

// What OpenAI's completions, vLLM's among them, have in common. The tokens of
// the prompt and those of them that were cached, as `usage` tells:
void ReadUsage(const nlohmann::json& reply, int64_t& prompt, int64_t& cached);
// The n `choices` by their `index`; each must be there once.
absl::StatusOr<std::vector<const nlohmann::json*>> ChoicesByIndex(
    const nlohmann::json& reply, int n);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_REPLY_FIELDS_H_
