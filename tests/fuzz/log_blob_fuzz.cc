// The log of a search, and one entry of it.
#include <string>

#include "base/check.h"
#include "src/trace/stored_tree.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {

ESPALIER_FUZZ(log_blob) {
  const auto entry = DecodeEntry(bytes);
  if (entry.ok()) {
    const std::string written = EncodeEntry(*entry);
    const auto again = DecodeEntry(written);
    ESP_CHECK_OK(again.status());
    ESP_CHECK(EncodeEntry(*again) == written);
    const std::string twice[] = {written, written};
    const auto log = DecodeLog(EncodeLog(twice));
    ESP_CHECK_OK(log.status());
    ESP_CHECK(log->size() == 2 && EncodeEntry((*log)[1]) == written);
  }
  DecodeLog(bytes).status().IgnoreError();
}

}  // namespace espalier
