// A list of short texts in one buffer. Each takes its bytes plus 8, where a
// vector of strings takes 32 and an allocation. Rows of a sweep keep an id and
// an answer for every problem.
//
//   TextList ids = {"gsm8k/1", "gsm8k/2"};
//   ids.push_back("gsm8k/3");
//   ids[2];  // "gsm8k/3", valid until the next push_back
#ifndef ESPALIER_SRC_EVAL_TEXT_LIST_H_
#define ESPALIER_SRC_EVAL_TEXT_LIST_H_

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json_fwd.hpp"

namespace espalier {

class TextList {
 public:
  TextList() = default;
  TextList(std::initializer_list<std::string_view> texts) {
    for (const std::string_view text : texts) push_back(text);
  }

  void push_back(std::string_view text) {
    bytes_.append(text);
    ends_.push_back(bytes_.size());
  }
  size_t size() const { return ends_.size(); }
  bool empty() const { return ends_.empty(); }
  std::string_view operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  bool operator==(const TextList& other) const {
    return bytes_ == other.bytes_ && ends_ == other.ends_;
  }

 private:
  std::string bytes_;
  std::vector<size_t> ends_;  // end of each text in bytes_
};

// An array of strings.
void to_json(nlohmann::json& json, const TextList& texts);

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_TEXT_LIST_H_
