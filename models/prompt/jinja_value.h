// The values of chat templates: what Python's would be, as far as templates
// use them.
//
//   JinjaValue message = JinjaDict({{"role", "user"}, {"content", "Hi"}});
//   message.Get("role")->text();  // "user"
//
// Copies of a list or dict share it. Not thread-safe if shared.
#ifndef ESPALIER_MODELS_PROMPT_JINJA_VALUE_H_
#define ESPALIER_MODELS_PROMPT_JINJA_VALUE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace espalier {

class JinjaValue;
using JinjaList = std::vector<JinjaValue>;
using JinjaFields = std::vector<std::pair<std::string, JinjaValue>>;

// The arguments of a call.
struct JinjaArguments {
  std::vector<JinjaValue> values;
  std::vector<std::pair<std::string, JinjaValue>> named;

  // The argument of this place or name; null if not given.
  const JinjaValue* Find(size_t place, std::string_view name) const;
};

class JinjaRun;
using JinjaFunction =
    std::function<JinjaValue(JinjaRun&, const JinjaArguments&)>;

class JinjaValue {
 public:
  struct Undefined {
    std::string name;  // what was looked for
  };
  struct None {};

  JinjaValue() : value_(Undefined{}) {}
  JinjaValue(Undefined undefined) : value_(std::move(undefined)) {}
  JinjaValue(None none) : value_(none) {}
  JinjaValue(bool value) : value_(value) {}
  JinjaValue(int64_t value) : value_(value) {}
  JinjaValue(double value) : value_(value) {}
  JinjaValue(std::string value) : value_(std::move(value)) {}
  JinjaValue(std::string_view value) : value_(std::string(value)) {}
  JinjaValue(const char* value) : value_(std::string(value)) {}
  JinjaValue(JinjaList list);
  JinjaValue(JinjaFields fields);
  // A dict whose fields may be set. No other such dict may be below it, so
  // that none is below itself.
  static JinjaValue Namespace(JinjaFields fields);
  JinjaValue(JinjaFunction function)
      : value_(std::make_shared<JinjaFunction>(std::move(function))) {}

  bool is_undefined() const { return Is<Undefined>(); }
  bool is_none() const { return Is<None>(); }
  bool is_bool() const { return Is<bool>(); }
  bool is_int() const { return Is<int64_t>(); }
  bool is_number() const { return is_bool() || is_int() || Is<double>(); }
  bool is_float() const { return Is<double>(); }
  bool is_text() const { return Is<std::string>(); }
  bool is_list() const { return Is<std::shared_ptr<ListBox>>(); }
  bool is_dict() const { return Is<std::shared_ptr<DictBox>>(); }
  bool is_function() const { return Is<std::shared_ptr<JinjaFunction>>(); }

  // Of the type that the value has.
  const std::string& text() const { return std::get<std::string>(value_); }
  const JinjaList& list() const {
    return std::get<std::shared_ptr<ListBox>>(value_)->items;
  }
  const JinjaFields& fields() const {
    return std::get<std::shared_ptr<DictBox>>(value_)->fields;
  }
  const JinjaFunction& function() const {
    return *std::get<std::shared_ptr<JinjaFunction>>(value_);
  }
  const std::string& undefined_name() const {
    return std::get<Undefined>(value_).name;
  }
  int64_t AsInt() const;   // of a number
  double AsFloat() const;  // of a number

  // A dict's entry; null if there is none.
  const JinjaValue* Get(std::string_view key) const;
  // Of a namespace; false for other values and if `value` holds a namespace.
  bool Set(std::string_view key, const JinjaValue& value) const;
  bool holds_namespace() const;

  // Values below it and bytes of texts, shared ones as often as they are met:
  // what printing or comparing it takes.
  uint64_t Weight() const;

  bool Truth() const;
  // As str() gives it; "" for what is not defined.
  std::string Text() const;
  // As json.dumps(..., ensure_ascii=False, indent=indent) gives it; < 0: none.
  std::string Json(int indent = -1, bool sorted = false) const;
  // "a list", "a text", ... for messages.
  const char* Kind() const;

  // As Python's ==.
  bool Equals(const JinjaValue& other) const;
  // < 0, 0 or > 0 of two numbers, texts or lists; false if they have no order.
  bool Compare(const JinjaValue& other, int& order) const;

 private:
  struct ListBox {
    JinjaList items;
    uint64_t weight = 1;
    bool space = false;  // a namespace is below it
  };
  struct DictBox {
    JinjaFields fields;
    uint64_t weight = 1;
    bool space = false;
    bool may_set = false;
  };

  template <typename T>
  bool Is() const {
    return std::holds_alternative<T>(value_);
  }
  void AppendRepr(std::string& out, int depth) const;
  void AppendJson(std::string& out, int indent, bool sorted, int depth) const;

  std::variant<Undefined, None, bool, int64_t, double, std::string,
               std::shared_ptr<ListBox>, std::shared_ptr<DictBox>,
               std::shared_ptr<JinjaFunction>>
      value_;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_PROMPT_JINJA_VALUE_H_
