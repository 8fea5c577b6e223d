#include "src/eval/text_list.h"

#include "nlohmann/json.hpp"

namespace espalier {

void to_json(nlohmann::json& json, const TextList& texts) {
  json = nlohmann::json::array();
  for (size_t i = 0; i < texts.size(); ++i) json.push_back(texts[i]);
}

}  // namespace espalier
