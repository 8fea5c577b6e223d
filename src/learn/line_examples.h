// Training examples from JSON lines (train_data.h has their columns), encoded
// by the tokenizer.
//
// Stateless function: thread-safe.
#ifndef ESPALIER_SRC_LEARN_LINE_EXAMPLES_H_
#define ESPALIER_SRC_LEARN_LINE_EXAMPLES_H_

#include <string>

#include "absl/status/status.h"
#include "src/learn/example_collector.h"
#include "src/learn/train_data.h"
#include "src/trace/labels/examples.h"

namespace espalier {

// Adds the examples of the lines in `text`; `path` names it in messages.
// InvalidArgument names file and line; FailedPrecondition for a file without
// lines.
absl::Status AddLines(const std::string& path, const std::string& text,
                      const TrainDataOptions& options, FilterLog& log,
                      ExampleCollector& collector);

}  // namespace espalier

#endif  // ESPALIER_SRC_LEARN_LINE_EXAMPLES_H_
