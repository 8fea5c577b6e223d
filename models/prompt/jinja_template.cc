#include "models/prompt/jinja_template.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/prompt/jinja_run.h"
#include "models/prompt/jinja_tree.h"

namespace espalier {
namespace {

using Expression = JinjaExpression;
using Kind = JinjaExpression::Kind;
using Arguments = JinjaArguments;

constexpr int64_t kMostJinjaSteps = 5'000'000;
constexpr size_t kMostJinjaBytes = size_t{64} << 20;
constexpr int kDeepestCalls = 60;  // of macros

enum class Flow { kOn, kBreak, kContinue };

double FloorOf(double a, double b) { return std::floor(a / b); }

class JinjaRenderer {
 public:
  JinjaRenderer(JinjaRun& run, const JinjaFields& variables) : run_(run) {
    scopes_.emplace_back();
    for (const auto& [name, value] : variables) scopes_[0][name] = value;
    AddFunctions();
    scopes_.emplace_back();
  }

  std::string Run(const std::vector<JinjaNode>& nodes) {
    std::string out;
    Print(nodes, out);
    return out;
  }

 private:
  using Scope = std::map<std::string, JinjaValue, std::less<>>;

  JinjaValue* Find(std::string_view name) {
    for (size_t i = scopes_.size(); i-- > 0;) {
      const auto found = scopes_[i].find(name);
      if (found != scopes_[i].end()) return &found->second;
    }
    return nullptr;
  }

  Flow Print(const std::vector<JinjaNode>& nodes, std::string& out) {
    for (const JinjaNode& node : nodes) {
      run_.set_line(node.line);
      if (!run_.Step()) return Flow::kBreak;
      const Flow flow = PrintNode(node, out);
      if (!run_.ok()) return Flow::kBreak;
      if (flow != Flow::kOn) return flow;
    }
    return Flow::kOn;
  }

  Flow PrintNode(const JinjaNode& node, std::string& out) {
    switch (node.kind) {
      case JinjaNode::Kind::kText:
        Append(out, node.name);
        return Flow::kOn;
      case JinjaNode::Kind::kPrint:
        Append(out, Value(*node.value).Text());
        return Flow::kOn;
      case JinjaNode::Kind::kIf:
        return Print(Value(*node.value).Truth() ? node.body : node.otherwise,
                     out);
      case JinjaNode::Kind::kFor:
        Loop(node, out);
        return Flow::kOn;
      case JinjaNode::Kind::kSet:
        Assign(node);
        return Flow::kOn;
      case JinjaNode::Kind::kSetBlock: {
        std::string text;
        scopes_.emplace_back();
        Print(node.body, text);
        scopes_.pop_back();
        JinjaValue value(std::move(text));
        if (node.value != nullptr) {
          // The filters are parsed as those of a name: a scope binds it.
          scopes_.emplace_back()[node.names[0]] = std::move(value);
          value = Value(*node.value);
          scopes_.pop_back();
        }
        scopes_.back()[node.names[0]] = std::move(value);
        return Flow::kOn;
      }
      case JinjaNode::Kind::kMacro:
        scopes_.back()[node.name] = Macro(node);
        return Flow::kOn;
      case JinjaNode::Kind::kBreak:
        return Flow::kBreak;
      case JinjaNode::Kind::kContinue:
        return Flow::kContinue;
      case JinjaNode::Kind::kBody:
        return Print(node.body, out);
    }
    return Flow::kOn;
  }

  void Append(std::string& out, const std::string& text) {
    if (run_.Grow(text.size())) out += text;
  }

  // Binds a loop's or set's names.
  void Bind(const std::vector<std::string>& names, const JinjaValue& value) {
    if (names.size() == 1) {
      scopes_.back()[names[0]] = value;
      return;
    }
    if (!value.is_list() || value.list().size() != names.size()) {
      run_.Fail(absl::StrCat("expected ", names.size(), " values, found ",
                             value.Kind()));
      return;
    }
    for (size_t i = 0; i < names.size(); ++i) {
      scopes_.back()[names[i]] = value.list()[i];
    }
  }

  void Loop(const JinjaNode& node, std::string& out) {
    JinjaList items = JinjaItems(run_, Value(*node.value));
    scopes_.emplace_back();
    if (node.condition != nullptr) {
      JinjaList kept;
      for (JinjaValue& item : items) {
        Bind(node.names, item);
        if (!run_.ok()) break;
        if (Value(*node.condition).Truth()) kept.push_back(std::move(item));
      }
      items = std::move(kept);
    }
    const auto size = static_cast<int64_t>(items.size());
    for (int64_t i = 0; i < size && run_.Step(); ++i) {
      scopes_.back().clear();
      Bind(node.names, items[static_cast<size_t>(i)]);
      JinjaFields loop = {{"index", i + 1},       {"index0", i},
                          {"revindex", size - i}, {"revindex0", size - i - 1},
                          {"first", i == 0},      {"last", i == size - 1},
                          {"length", size},       {"depth", int64_t{1}}};
      if (i > 0) {
        loop.emplace_back("previtem", items[static_cast<size_t>(i - 1)]);
      }
      if (i + 1 < size) {
        loop.emplace_back("nextitem", items[static_cast<size_t>(i + 1)]);
      }
      loop.emplace_back(
          "cycle", JinjaFunction([i](JinjaRun& run, const Arguments& a) {
            if (a.values.empty()) return run.Fail("cycle of nothing");
            return a.values[static_cast<size_t>(i) % a.values.size()];
          }));
      scopes_.back()["loop"] = JinjaValue(std::move(loop));
      if (Print(node.body, out) == Flow::kBreak) break;
    }
    scopes_.pop_back();
    if (size == 0 && run_.ok()) Print(node.otherwise, out);
  }

  void Assign(const JinjaNode& node) {
    JinjaValue value = Value(*node.value);
    if (node.name.empty()) return Bind(node.names, value);
    const JinjaValue* const space = Find(node.names[0]);
    if (space == nullptr || !space->Set(node.name, value)) {
      run_.Fail(absl::StrCat(node.names[0],
                             " is no namespace that can hold the value"));
    }
  }

  JinjaValue Macro(const JinjaNode& node) {
    return JinjaFunction([this, &node](JinjaRun& run, const Arguments& given) {
      if (given.values.size() > node.names.size()) {
        return run.Fail(absl::StrCat("the macro ", node.name, " takes ",
                                     node.names.size(), " arguments, found ",
                                     given.values.size()));
      }
      if (++calls_ > kDeepestCalls) return run.Fail("macros call too deep");
      // A macro sees what is defined outside of all blocks.
      std::vector<Scope> outer;
      outer.insert(outer.end(), std::make_move_iterator(scopes_.begin() + 2),
                   std::make_move_iterator(scopes_.end()));
      scopes_.resize(2);
      scopes_.emplace_back();
      const size_t required = node.names.size() - node.defaults.size();
      for (size_t i = 0; i < node.names.size() && run.ok(); ++i) {
        const JinjaValue* const one = given.Find(i, node.names[i]);
        JinjaValue value = one != nullptr ? *one
                           : i >= required
                               ? Value(*node.defaults[i - required])
                               : JinjaValue::Undefined{node.names[i]};
        scopes_.back()[node.names[i]] = std::move(value);
      }
      std::string out;
      Print(node.body, out);
      scopes_.resize(2);
      scopes_.insert(scopes_.end(), std::make_move_iterator(outer.begin()),
                     std::make_move_iterator(outer.end()));
      --calls_;
      return run.Text(std::move(out));
    });
  }

  Arguments ArgumentsOf(const Expression& call, bool with_first) {
    Arguments out;
    for (size_t i = with_first ? 0 : 1; i < call.parts.size(); ++i) {
      out.values.push_back(Value(*call.parts[i]));
    }
    for (const auto& [name, part] : call.named) {
      out.named.emplace_back(name, Value(*part));
    }
    return out;
  }

  JinjaValue Value(const Expression& e) {
    if (!run_.Step()) return {};
    switch (e.kind) {
      case Kind::kConstant:
        return e.value;
      case Kind::kName: {
        const JinjaValue* const found = Find(e.name);
        return found != nullptr ? *found : JinjaValue::Undefined{e.name};
      }
      case Kind::kList: {
        JinjaList list;
        for (const auto& part : e.parts) list.push_back(Value(*part));
        return run_.Made(list);
      }
      case Kind::kDict: {
        JinjaFields fields;
        for (size_t i = 0; i + 1 < e.parts.size(); i += 2) {
          std::string key = Value(*e.parts[i]).Text();
          std::erase_if(fields, [&](auto& f) { return f.first == key; });
          fields.emplace_back(std::move(key), Value(*e.parts[i + 1]));
        }
        return run_.Made(std::move(fields));
      }
      case Kind::kField:
        return FieldOf(Value(*e.parts[0]), e);
      case Kind::kItem:
        return ItemOf(Value(*e.parts[0]), Value(*e.parts[1]));
      case Kind::kSlice:
        return SliceOf(e);
      case Kind::kCall: {
        const JinjaValue function = Value(*e.parts[0]);
        run_.set_line(e.line);
        const Arguments arguments = ArgumentsOf(e, false);
        return run_.ok() ? run_.Call(function, arguments) : JinjaValue();
      }
      case Kind::kFilter: {
        const Arguments arguments = ArgumentsOf(e, true);
        run_.set_line(e.line);
        return run_.ok() ? run_.Made(ApplyJinjaFilter(run_, e.name, arguments))
                         : JinjaValue();
      }
      case Kind::kTest: {
        const Arguments arguments = ArgumentsOf(e, true);
        run_.set_line(e.line);
        return run_.ok() && ApplyJinjaTest(run_, e.name, arguments);
      }
      case Kind::kNot:
        return !Value(*e.parts[0]).Truth();
      case Kind::kAnd: {
        JinjaValue left = Value(*e.parts[0]);
        return left.Truth() ? Value(*e.parts[1]) : left;
      }
      case Kind::kOr: {
        JinjaValue left = Value(*e.parts[0]);
        return left.Truth() ? left : Value(*e.parts[1]);
      }
      case Kind::kNegative: {
        const JinjaValue value = Value(*e.parts[0]);
        if (!value.is_number()) {
          return run_.Fail(absl::StrCat("- of ", value.Kind()));
        }
        if (value.is_float()) return -value.AsFloat();
        return static_cast<int64_t>(0 - static_cast<uint64_t>(value.AsInt()));
      }
      case Kind::kBinary: {
        const JinjaValue left = Value(*e.parts[0]);
        const JinjaValue right = Value(*e.parts[1]);
        run_.set_line(e.line);
        // What comparing or copying them takes.
        run_.Step(static_cast<int64_t>(std::min<uint64_t>(
            left.Weight() / 64 + right.Weight() / 64, uint64_t{1} << 40)));
        return run_.ok() ? run_.Made(Binary(e.name, left, right))
                         : JinjaValue();
      }
      case Kind::kIf:
        if (Value(*e.parts[0]).Truth()) return Value(*e.parts[1]);
        return e.parts[2] != nullptr ? Value(*e.parts[2]) : JinjaValue();
    }
    return {};
  }

  JinjaValue FieldOf(const JinjaValue& value, const Expression& e) {
    run_.set_line(e.line);
    if (value.is_undefined()) {
      return run_.Fail(absl::StrCat(
          value.undefined_name().empty() ? "a value" : value.undefined_name(),
          " is undefined and has no ", e.name));
    }
    JinjaValue method = JinjaMethod(value, e.name);
    if (!method.is_undefined()) return method;
    return JinjaField(run_, value, e.name);
  }

  JinjaValue ItemOf(const JinjaValue& value, const JinjaValue& key) {
    if (value.is_undefined()) {
      return run_.Fail(absl::StrCat(
          value.undefined_name().empty() ? "a value" : value.undefined_name(),
          " is undefined and has no ", key.Text()));
    }
    if (value.is_dict()) return JinjaField(run_, value, key.Text());
    if (key.is_int() && (value.is_list() || value.is_text())) {
      const JinjaList items =
          value.is_list() ? JinjaList() : JinjaItems(run_, value);
      const JinjaList& list = value.is_list() ? value.list() : items;
      const auto size = static_cast<int64_t>(list.size());
      const int64_t at = key.AsInt() < 0 ? key.AsInt() + size : key.AsInt();
      if (at >= 0 && at < size) return list[static_cast<size_t>(at)];
    } else if (key.is_text()) {
      return JinjaMethod(value, key.text());
    }
    return JinjaValue::Undefined{key.Text()};
  }

  // As Python's value[begin:end:step].
  JinjaValue SliceOf(const Expression& e) {
    const JinjaValue value = Value(*e.parts[0]);
    if (!value.is_list() && !value.is_text()) {
      return run_.Fail(absl::StrCat("a slice of ", value.Kind()));
    }
    const JinjaList items = JinjaItems(run_, value);
    const auto size = static_cast<int64_t>(items.size());
    const auto bound = [&](size_t part, int64_t otherwise) {
      if (e.parts[part] == nullptr) return otherwise;
      const JinjaValue number = Value(*e.parts[part]);
      if (number.is_none()) return otherwise;
      if (!number.is_int()) {
        run_.Fail(absl::StrCat("a slice by ", number.Kind()));
        return otherwise;
      }
      return number.AsInt();
    };
    const int64_t step = bound(3, 1);
    if (step == 0) return run_.Fail("a slice by steps of 0");
    const auto place = [&](int64_t at) {
      if (at < 0) at += size;
      return step > 0 ? std::clamp<int64_t>(at, 0, size)
                      : std::clamp<int64_t>(at, -1, size - 1);
    };
    const int64_t begin =
        e.parts[1] == nullptr ? (step > 0 ? 0 : size - 1) : place(bound(1, 0));
    const int64_t end =
        e.parts[2] == nullptr ? (step > 0 ? size : -1) : place(bound(2, size));
    JinjaList out;
    for (int64_t at = begin; step > 0 ? at < end : at > end;) {
      out.push_back(items[static_cast<size_t>(at)]);
      if (step > size || step < -size) break;
      at += step;
    }
    if (value.is_list()) return out;
    std::string text;
    for (const JinjaValue& one : out) text += one.text();
    return run_.Text(std::move(text));
  }

  JinjaValue Binary(const std::string& name, const JinjaValue& a,
                    const JinjaValue& b) {
    if (name == "==") return a.Equals(b);
    if (name == "!=") return !a.Equals(b);
    if (name == "in") return Contains(b, a);
    if (name == "not in") return !Contains(b, a).Truth();
    if (name == "~") {
      std::string text = a.Text();
      return run_.Text(text += b.Text());
    }
    if (name[0] == '<' || name[0] == '>') {
      int order = 0;
      if (!a.Compare(b, order)) return Refuse(name, a, b);
      if (name == "<") return order < 0;
      if (name == ">") return order > 0;
      return name == "<=" ? order <= 0 : order >= 0;
    }
    if (a.is_number() && b.is_number()) return Arithmetic(name, a, b);
    if (name == "+" && a.is_text() && b.is_text()) {
      return run_.Text(a.text() + b.text());
    }
    if (name == "+" && a.is_list() && b.is_list()) {
      JinjaList list = a.list();
      list.insert(list.end(), b.list().begin(), b.list().end());
      return run_.Step(static_cast<int64_t>(list.size())) ? JinjaValue(list)
                                                          : JinjaValue();
    }
    if (name == "*" && (a.is_text() || a.is_list()) && b.is_int()) {
      return Repeat(a, b.AsInt());
    }
    if (name == "*" && (b.is_text() || b.is_list()) && a.is_int()) {
      return Repeat(b, a.AsInt());
    }
    return Refuse(name, a, b);
  }

  JinjaValue Refuse(const std::string& name, const JinjaValue& a,
                    const JinjaValue& b) {
    return run_.Fail(absl::StrCat(name, " of ", a.Kind(), " and ", b.Kind()));
  }

  JinjaValue Repeat(const JinjaValue& value, int64_t times) {
    times = std::max<int64_t>(times, 0);
    if (times > (int64_t{1} << 30)) return run_.Fail("too long a text");
    if (value.is_text()) {
      if (!run_.Grow(value.text().size() * static_cast<size_t>(times))) {
        return {};
      }
      std::string text;
      if (value.text().empty()) return text;
      for (int64_t i = 0; i < times; ++i) text += value.text();
      return text;
    }
    JinjaList list;
    for (int64_t i = 0; i < times && !value.list().empty(); ++i) {
      if (!run_.Step(static_cast<int64_t>(value.list().size()))) return {};
      list.insert(list.end(), value.list().begin(), value.list().end());
    }
    return list;
  }

  JinjaValue Contains(const JinjaValue& all, const JinjaValue& one) {
    if (all.is_text()) {
      if (!one.is_text()) return Refuse("in", one, all);
      return all.text().find(one.text()) != std::string::npos;
    }
    if (all.is_dict()) return one.is_text() && all.Get(one.text()) != nullptr;
    if (all.is_list()) {
      return std::any_of(
          all.list().begin(), all.list().end(),
          [&](const JinjaValue& item) { return item.Equals(one); });
    }
    if (all.is_undefined()) return false;
    return Refuse("in", one, all);
  }

  JinjaValue Arithmetic(const std::string& name, const JinjaValue& a,
                        const JinjaValue& b) {
    const bool whole = !a.is_float() && !b.is_float();
    if ((name == "/" || name == "//" || name == "%") && b.AsFloat() == 0) {
      return run_.Fail("a division by 0");
    }
    if (name == "/") return a.AsFloat() / b.AsFloat();
    if (!whole) {
      const double x = a.AsFloat(), y = b.AsFloat();
      if (name == "+") return x + y;
      if (name == "-") return x - y;
      if (name == "*") return x * y;
      if (name == "//") return FloorOf(x, y);
      if (name == "%") return x - y * FloorOf(x, y);
      return std::pow(x, y);
    }
    const int64_t x = a.AsInt(), y = b.AsInt();
    int64_t out = 0;
    bool fits = true;
    if (name == "+") {
      fits = !__builtin_add_overflow(x, y, &out);
    } else if (name == "-") {
      fits = !__builtin_sub_overflow(x, y, &out);
    } else if (name == "*") {
      fits = !__builtin_mul_overflow(x, y, &out);
    } else if (name == "**") {
      const double power =
          std::pow(static_cast<double>(x), static_cast<double>(y));
      if (y < 0) return power;
      fits = std::fabs(power) < 9e15;
      if (fits) out = static_cast<int64_t>(power);
    } else if (y == -1) {
      fits = name == "%" || !__builtin_sub_overflow(int64_t{0}, x, &out);
    } else {
      const int64_t rest = x % y;
      const bool down = rest != 0 && (rest < 0) != (y < 0);
      out = name == "%" ? rest + (down ? y : 0) : x / y - (down ? 1 : 0);
    }
    return fits ? JinjaValue(out) : run_.Fail("too large a number");
  }

  void AddFunctions() {
    const auto add = [&](const char* name, JinjaFunction function) {
      if (!scopes_[0].contains(name)) {
        scopes_[0][name] = JinjaValue(std::move(function));
      }
    };
    add("namespace", [](JinjaRun&, const Arguments& given) {
      JinjaFields fields;
      if (!given.values.empty() && given.values[0].is_dict()) {
        for (const auto& field : given.values[0].fields()) {
          fields.push_back(field);
        }
      }
      for (const auto& field : given.named) fields.push_back(field);
      return JinjaValue::Namespace(std::move(fields));
    });
    add("dict", [](JinjaRun&, const Arguments& given) {
      return JinjaValue(JinjaFields(given.named.begin(), given.named.end()));
    });
    add("range", [](JinjaRun& run, const Arguments& given) {
      int64_t bounds[3] = {0, 0, 1};
      const size_t n = given.values.size();
      for (size_t i = 0; i < n && i < 3; ++i) {
        if (!given.values[i].is_int()) return run.Fail("a range of no numbers");
        bounds[n == 1 ? 1 : i] = given.values[i].AsInt();
      }
      if (n == 0 || n > 3 || bounds[2] == 0) return run.Fail("a wrong range");
      JinjaList list;
      for (int64_t at = bounds[0];
           bounds[2] > 0 ? at < bounds[1] : at > bounds[1];) {
        if (!run.Step()) break;
        list.emplace_back(at);
        if (__builtin_add_overflow(at, bounds[2], &at)) break;
      }
      return JinjaValue(std::move(list));
    });
    add("raise_exception", [](JinjaRun& run, const Arguments& given) {
      return run.Raise(given.values.empty() ? "" : given.values[0].Text());
    });
    add("strftime_now", [](JinjaRun& run, const Arguments& given) {
      return given.values.empty() || !given.values[0].is_text()
                 ? run.Fail("strftime_now without a format")
                 : run.Text(DateText(given.values[0].text()));
    });
  }

  // As strftime of Friday, July 26, 2024, 0:00.
  static std::string DateText(std::string_view format) {
    static constexpr std::pair<char, const char*> kParts[] = {
        {'Y', "2024"}, {'y', "24"},  {'m', "07"}, {'d', "26"}, {'B', "July"},
        {'b', "Jul"},  {'H', "00"},  {'M', "00"}, {'S', "00"}, {'A', "Friday"},
        {'a', "Fri"},  {'j', "208"}, {'p', "AM"}, {'I', "12"}, {'%', "%"}};
    std::string out;
    for (size_t i = 0; i < format.size(); ++i) {
      const auto* part = std::end(kParts);
      if (format[i] == '%' && i + 1 < format.size()) {
        part = std::find_if(std::begin(kParts), std::end(kParts),
                            [&](auto& p) { return p.first == format[i + 1]; });
      }
      if (part == std::end(kParts)) {
        out += format[i];
      } else {
        out += part->second;
        ++i;
      }
    }
    return out;
  }

  JinjaRun& run_;
  // The variables given, the template's own, then those of open blocks.
  std::vector<Scope> scopes_;
  int calls_ = 0;
};

}  // namespace

JinjaValue JinjaRun::Fail(std::string_view what) {
  if (ok()) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat("line ", line_, ": ", AbslView(what)));
  }
  return {};
}

JinjaValue JinjaRun::Raise(std::string_view message) {
  if (ok()) {
    status_ = absl::InvalidArgumentError(
        absl::StrCat("the template refuses the messages: ", AbslView(message)));
  }
  return {};
}

bool JinjaRun::Step(int64_t steps) {
  steps_ += steps;
  if (ok() && steps_ > kMostJinjaSteps) {
    status_ = absl::ResourceExhaustedError(
        absl::StrCat("line ", line_, ": the template takes too many steps"));
  }
  return ok();
}

bool JinjaRun::Grow(size_t bytes) {
  bytes_ += bytes;
  if (ok() && bytes_ > kMostJinjaBytes) {
    status_ = absl::ResourceExhaustedError(
        absl::StrCat("line ", line_, ": the template's texts are too long"));
  }
  return ok();
}

JinjaValue JinjaRun::Made(JinjaValue value) {
  if (value.is_list() || value.is_dict()) {
    if (!Grow(std::min<uint64_t>(value.Weight(), kMostJinjaBytes + 1)))
      return {};
  }
  return value;
}

JinjaValue JinjaRun::Text(std::string text) {
  if (!Grow(text.size())) return {};
  return text;
}

JinjaValue JinjaRun::Call(const JinjaValue& function,
                          const JinjaArguments& arguments) {
  if (function.is_undefined()) {
    return Fail(absl::StrCat(function.undefined_name(),
                             " is undefined and cannot be called"));
  }
  if (!function.is_function()) {
    return Fail(absl::StrCat(function.Kind(), " cannot be called"));
  }
  // The function may be set to something else while it runs.
  const JinjaValue held = function;
  return Made(held.function()(*this, arguments));
}

absl::StatusOr<JinjaTemplate> JinjaTemplate::Parse(std::string_view source) {
  JinjaTemplate out;
  ESP_ASSIGN_OR_RETURN(std::vector<JinjaNode> nodes, ParseJinja(source));
  out.nodes_ = std::make_shared<const std::vector<JinjaNode>>(std::move(nodes));
  return out;
}

absl::StatusOr<std::string> JinjaTemplate::Render(
    const JinjaFields& variables) const {
  JinjaRun run;
  std::string text = JinjaRenderer(run, variables).Run(*nodes_);
  if (!run.ok()) return run.status();
  return text;
}

}  // namespace espalier
