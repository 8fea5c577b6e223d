#include "models/tokenizer/text_marks.h"

#include "models/tokenizer/json_fields.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

int32_t Find(const std::vector<AddedToken>& added, const std::string& content) {
  if (content.empty()) return -1;
  for (const AddedToken& token : added) {
    if (token.content == content) return token.id;
  }
  return -1;
}

// The TemplateProcessing in `value`, which may be a Sequence; null if none.
const json& Template(const json& value) {
  static const json null;
  if (TextField(value, "type") == "TemplateProcessing") return value;
  const json& list = JsonField(value, "processors");
  if (list.is_array()) {
    for (const json& item : list) {
      if (TextField(item, "type") == "TemplateProcessing") return item;
    }
  }
  return null;
}

// The token that `item` of a template inserts; -1 if it is the text.
int32_t TemplateToken(const json& item, const std::vector<AddedToken>& added) {
  return Find(added, TextField(JsonField(item, "SpecialToken"), "id"));
}

}  // namespace

TextMarks MarksOf(const json& post_processor, const TokenizerConfig& config,
                  const std::vector<AddedToken>& added) {
  TextMarks marks{.bos = Find(added, config.bos),
                  .eos = Find(added, config.eos),
                  .pad = Find(added, config.pad)};
  const json& single = JsonField(Template(post_processor), "single");
  if (single.is_array() && !single.empty()) {
    const int32_t first = TemplateToken(single.front(), added);
    const int32_t last = TemplateToken(single.back(), added);
    if (first >= 0 && (marks.bos < 0 || marks.bos == first)) {
      marks.bos = first;
      marks.add_bos = true;
    }
    if (last >= 0 && (marks.eos < 0 || marks.eos == last)) {
      marks.eos = last;
      marks.add_eos = true;
    }
  }
  marks.add_bos = marks.bos >= 0 && config.add_bos.value_or(marks.add_bos);
  marks.add_eos = marks.eos >= 0 && config.add_eos.value_or(marks.add_eos);
  return marks;
}

}  // namespace espalier
