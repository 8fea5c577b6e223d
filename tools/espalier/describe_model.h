// What a checkpoint folder or GGUF file is, in a few lines.
//
//   ESP_ASSIGN_OR_RETURN(const std::string text, DescribeModel(folder, ""));
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_TOOLS_ESPALIER_DESCRIBE_MODEL_H_
#define ESPALIER_TOOLS_ESPALIER_DESCRIBE_MODEL_H_

#include <string>

#include "absl/status/statusor.h"

namespace espalier {

// Network, tokenizer, chat template and, as a reward model, the format with an
// example of what it reads. `reward_format`: a name or file; "": as recognised.
// Errors of a folder that is no model, of a format that does not exist, and of
// one that the folder does not fit.
absl::StatusOr<std::string> DescribeModel(const std::string& path,
                                          const std::string& reward_format);

// The shipped reward formats, one per line.
std::string RewardFormatList();

}  // namespace espalier

#endif  // ESPALIER_TOOLS_ESPALIER_DESCRIBE_MODEL_H_
