// The syntax tree of a Jinja template.
#ifndef ESPALIER_MODELS_PROMPT_JINJA_TREE_H_
#define ESPALIER_MODELS_PROMPT_JINJA_TREE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "models/prompt/jinja_value.h"

namespace espalier {

struct JinjaExpression;
using JinjaExpressionPtr = std::unique_ptr<JinjaExpression>;

struct JinjaExpression {
  enum class Kind : uint8_t {
    kConstant,  // value
    kName,      // name
    kList,      // parts
    kDict,      // parts: key, value, key, value ...
    kField,     // parts[0] . name
    kItem,      // parts[0] [ parts[1] ]
    kSlice,     // parts[0] [ parts[1] : parts[2] : parts[3] ], null if absent
    kCall,      // parts[0] ( parts[1..], named )
    kFilter,    // parts[0] | name ( parts[1..], named )
    kTest,      // parts[0] is name ( parts[1..] )
    kNot,       // not parts[0]
    kAnd,       // parts[0] and parts[1]
    kOr,        //
    kNegative,  // - parts[0]
    kBinary,    // parts[0] name parts[1]
    kIf,        // parts[1] if parts[0] else parts[2], which may be null
  };

  Kind kind = Kind::kConstant;
  int line = 1;
  int depth = 1;  // of the tree below
  std::string name;
  JinjaValue value;
  std::vector<JinjaExpressionPtr> parts;
  std::vector<std::pair<std::string, JinjaExpressionPtr>> named;
};

struct JinjaNode {
  enum class Kind : uint8_t {
    kText,      // name: the text
    kPrint,     // value
    kIf,        // value, body, otherwise
    kFor,       // names in value, if condition: body; else otherwise
    kSet,       // names = value; or field `name` of names[0]
    kSetBlock,  // names[0] = what body prints
    kMacro,     // name(names, with defaults): body
    kBreak,
    kContinue,
    kBody,  // body, nothing else
  };

  Kind kind = Kind::kText;
  int line = 1;
  std::string name;
  std::vector<std::string> names;
  JinjaExpressionPtr value, condition;
  std::vector<JinjaExpressionPtr> defaults;  // of the last parameters
  std::vector<JinjaNode> body, otherwise;
};

// InvalidArgument, with the line, for what is not Jinja and for tags that chat
// templates do not use, such as include.
absl::StatusOr<std::vector<JinjaNode>> ParseJinja(std::string_view source);

}  // namespace espalier

#endif  // ESPALIER_MODELS_PROMPT_JINJA_TREE_H_
