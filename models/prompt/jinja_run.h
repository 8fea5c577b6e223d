// One rendering of a template: its limits, its first error, and what filters,
// tests and methods are called with.
#ifndef ESPALIER_MODELS_PROMPT_JINJA_RUN_H_
#define ESPALIER_MODELS_PROMPT_JINJA_RUN_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "models/prompt/jinja_value.h"

namespace espalier {

// After the first error values are undefined, and the caller ends soon.
class JinjaRun {
 public:
  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

  // Keeps the first error, with the line that is computed. Returns undefined.
  JinjaValue Fail(std::string_view what);
  // An error that the template raises itself.
  JinjaValue Raise(std::string_view message);
  // Counts work: so many steps, or bytes of new texts. False at a limit.
  bool Step(int64_t steps = 1);
  bool Grow(size_t bytes);
  // A new text, whose bytes count; a new list or dict, whose weight counts.
  JinjaValue Text(std::string text);
  JinjaValue Made(JinjaValue value);

  JinjaValue Call(const JinjaValue& function, const JinjaArguments& arguments);

  void set_line(int line) { line_ = line; }
  int line() const { return line_; }

 private:
  absl::Status status_;
  int line_ = 1;
  int64_t steps_ = 0;
  size_t bytes_ = 0;
};

// What a loop goes over: the values of a list, keys of a dict, characters of a
// text, nothing of what is undefined. Others are an error.
JinjaList JinjaItems(JinjaRun& run, const JinjaValue& value);
// `arguments` begin with the value that is filtered or tested.
JinjaValue ApplyJinjaFilter(JinjaRun& run, std::string_view name,
                            const JinjaArguments& arguments);
bool ApplyJinjaTest(JinjaRun& run, std::string_view name,
                    const JinjaArguments& arguments);
// value.name as a function that is bound to the value; undefined if values of
// its kind have no such method.
JinjaValue JinjaMethod(const JinjaValue& value, std::string_view name);
// value.name or value[name] of a dict, undefined if it has none.
JinjaValue JinjaField(JinjaRun& run, const JinjaValue& value,
                      std::string_view name);

}  // namespace espalier

#endif  // ESPALIER_MODELS_PROMPT_JINJA_RUN_H_
