// A list of texts that are written once and read in order. With a scratch file
// it keeps at most 64 KiB of them in memory (or one longer text), and nothing
// after Seal. Rows of a sweep keep an id and an answer for every problem.
//
//   TextList ids(scratch);
//   ids.push_back("gsm8k/1");
//   ids.Seal();
//   ESP_RETURN_IF_ERROR(ids.ForEach([](std::string_view id) { ... }));
//
// Texts that the file does not take stay in memory. Thread-compatible, but
// lists of one scratch file are externally synchronised.
#ifndef ESPALIER_SRC_EVAL_TEXT_LIST_H_
#define ESPALIER_SRC_EVAL_TEXT_LIST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "src/eval/scratch_file.h"

namespace espalier {

class TextList {
 public:
  explicit TextList(std::shared_ptr<ScratchFile> scratch = nullptr)
      : scratch_(std::move(scratch)) {}
  TextList(std::initializer_list<std::string_view> texts) {
    for (const std::string_view text : texts) push_back(text);
  }

  void push_back(std::string_view text);
  // Moves what is still in memory to the scratch file.
  void Seal();
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const std::shared_ptr<ScratchFile>& scratch() const { return scratch_; }

  // All texts in order. Ends with the first error of `use`.
  absl::Status ForEach(
      const std::function<absl::Status(std::string_view text)>& use) const;
  // The first n texts; fewer if the file cannot be read.
  std::vector<std::string> First(size_t n) const;

 private:
  struct Piece {  // of the scratch file
    int64_t at = 0;
    size_t bytes = 0;
  };

  std::shared_ptr<ScratchFile> scratch_;  // null: all stays in memory
  bool full_ = false;                     // the file takes no more
  std::vector<Piece> pieces_;
  // After the pieces. Like them whole texts, each after its size in 8 bytes.
  std::string tail_;
  size_t size_ = 0;
};

}  // namespace espalier

#endif  // ESPALIER_SRC_EVAL_TEXT_LIST_H_
