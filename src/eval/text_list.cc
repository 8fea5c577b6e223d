#include "src/eval/text_list.h"

#include <cstring>
#include <optional>

#include "base/status_macros.h"

namespace espalier {
namespace {

constexpr size_t kInMemory = 64 << 10;

absl::Status UsePacked(
    std::string_view packed,
    const std::function<absl::Status(std::string_view)>& use) {
  while (!packed.empty()) {
    uint64_t size = 0;
    std::memcpy(&size, packed.data(), sizeof size);
    packed.remove_prefix(sizeof size);
    ESP_RETURN_IF_ERROR(use(packed.substr(0, size)));
    packed.remove_prefix(size);
  }
  return absl::OkStatus();
}

}  // namespace

void TextList::push_back(std::string_view text) {
  const uint64_t size = text.size();
  tail_.append(reinterpret_cast<const char*>(&size), sizeof size);
  tail_.append(text);
  ++size_;
  if (tail_.size() >= kInMemory) Seal();
}

void TextList::Seal() {
  if (scratch_ == nullptr || full_ || tail_.empty()) return;
  const std::optional<int64_t> at = scratch_->Append(tail_);
  if (!at) {
    full_ = true;
    return;
  }
  pieces_.push_back({*at, tail_.size()});
  tail_ = {};
}

absl::Status TextList::ForEach(
    const std::function<absl::Status(std::string_view)>& use) const {
  std::string bytes;
  for (const Piece& piece : pieces_) {
    ESP_RETURN_IF_ERROR(scratch_->Read(piece.at, piece.bytes, bytes));
    ESP_RETURN_IF_ERROR(UsePacked(bytes, use));
  }
  return UsePacked(tail_, use);
}

std::vector<std::string> TextList::First(size_t n) const {
  std::vector<std::string> first;
  if (n == 0) return first;
  const absl::Status enough = absl::OutOfRangeError("enough");
  ForEach([&](std::string_view text) {
    first.emplace_back(text);
    return first.size() < n ? absl::OkStatus() : enough;
  }).IgnoreError();
  return first;
}

}  // namespace espalier
