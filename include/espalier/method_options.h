// Options of search methods: declared once, checked, listed.
//
//   struct BeamOptions {
//     int width = 1;
//     void Visit(OptionVisitor& v) {
//       v.Int("width", &width, 1, 1024, "beams kept after each step");
//     }
//   };
//
// The same declaration parses "width=2", prints help and makes the canonical
// string that identifies a configuration. An unknown name or a value out of
// range is an error that says what is allowed.
//
// An optional member rejects values that are each allowed but inconsistent
// together, with one sentence per problem:
//
//     std::vector<std::string> Check() const;
#ifndef ESPALIER_API_METHOD_OPTIONS_H_
#define ESPALIER_API_METHOD_OPTIONS_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace espalier {

class OptionVisitor {
 public:
  virtual ~OptionVisitor() = default;
  virtual void Int(std::string_view name, int* value, int low, int high,
                   std::string_view help) = 0;
  virtual void Real(std::string_view name, float* value, float low, float high,
                    std::string_view help) = 0;
  virtual void Flag(std::string_view name, bool* value,
                    std::string_view help) = 0;
  virtual void Text(std::string_view name, std::string* value,
                    std::string_view help) = 0;
  // `value` is the index of a choice; enums are visited through an int.
  virtual void Choice(std::string_view name, int* value,
                      absl::Span<const std::string_view> choices,
                      std::string_view help) = 0;
};

// As Choice, for an enum class whose values are 0, 1, 2, ...
template <class Enum>
void VisitChoice(OptionVisitor& v, std::string_view name, Enum* value,
                 absl::Span<const std::string_view> choices,
                 std::string_view help) {
  int index = static_cast<int>(*value);
  v.Choice(name, &index, choices, help);
  *value = static_cast<Enum>(index);
}

using OptionMap = std::map<std::string, std::string>;

// Sets options from text.
class OptionParser : public OptionVisitor {
 public:
  explicit OptionParser(const OptionMap& given) : given_(given) {}
  void Int(std::string_view name, int* value, int low, int high,
           std::string_view help) override;
  void Real(std::string_view name, float* value, float low, float high,
            std::string_view help) override;
  void Flag(std::string_view name, bool* value, std::string_view help) override;
  void Text(std::string_view name, std::string* value,
            std::string_view help) override;
  void Choice(std::string_view name, int* value,
              absl::Span<const std::string_view> choices,
              std::string_view help) override;
  // After the visit: OK, or all problems in one message, with `more` (from
  // Check()) after those of single options. `owner` says whose options
  // they are ("method beam").
  absl::Status Finish(std::string_view owner,
                      absl::Span<const std::string> more = {}) const;

 private:
  const std::string* Given(std::string_view name);
  void Bad(std::string_view name, std::string_view expected);

  const OptionMap& given_;
  std::vector<std::string> names_;
  std::vector<std::string> problems_;
};

struct OptionInfo {
  std::string name;
  std::string type;   // "int", "real", "flag", "text", "choice"
  std::string range;  // allowed values: "1..1024", "first|best"; "" for text
  std::string value;  // current value; of a fresh struct: the default
  std::string help;
};

// Reads options back: for --help, documentation and configuration hashes.
class OptionLister : public OptionVisitor {
 public:
  void Int(std::string_view name, int* value, int low, int high,
           std::string_view help) override;
  void Real(std::string_view name, float* value, float low, float high,
            std::string_view help) override;
  void Flag(std::string_view name, bool* value, std::string_view help) override;
  void Text(std::string_view name, std::string* value,
            std::string_view help) override;
  void Choice(std::string_view name, int* value,
              absl::Span<const std::string_view> choices,
              std::string_view help) override;
  const std::vector<OptionInfo>& options() const { return options_; }

 private:
  std::vector<OptionInfo> options_;
};

}  // namespace espalier

#endif  // ESPALIER_API_METHOD_OPTIONS_H_
