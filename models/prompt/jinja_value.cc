#include "models/prompt/jinja_value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace espalier {
namespace {

constexpr int kDeepestValue = 64;

uint64_t Sum(uint64_t a, uint64_t b) {
  uint64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? ~uint64_t{0} : out;
}

// The shortest decimal that gives the number back, as repr() writes it.
std::string FloatText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const double size = std::fabs(value);
  char buffer[400];
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto end = std::to_chars(
      buffer, buffer + sizeof(buffer), value,
      plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer, end.ptr);
  if (plain && text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string JsonString(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

// As repr() quotes a text.
std::string Quoted(const std::string& text) {
  const bool single = text.find('\'') == std::string::npos ||
                      text.find('"') != std::string::npos;
  const char quote = single ? '\'' : '"';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      absl::StrAppendFormat(&out, "\\x%02x", static_cast<unsigned>(c));
    } else {
      if (c == quote || c == '\\') out += '\\';
      out += c;
    }
  }
  out += quote;
  return out;
}

}  // namespace

const JinjaValue* JinjaArguments::Find(size_t place,
                                       std::string_view name) const {
  if (place < values.size()) return &values[place];
  for (const auto& [key, value] : named) {
    if (key == name) return &value;
  }
  return nullptr;
}

JinjaValue::JinjaValue(JinjaList list) {
  const auto box = std::make_shared<ListBox>();
  for (const JinjaValue& item : list) {
    box->weight = Sum(box->weight, item.Weight());
    box->space |= item.holds_namespace();
  }
  box->items = std::move(list);
  value_ = box;
}

JinjaValue::JinjaValue(JinjaFields fields) {
  const auto box = std::make_shared<DictBox>();
  for (const auto& [name, value] : fields) {
    box->weight = Sum(box->weight, Sum(name.size(), value.Weight()));
    box->space |= value.holds_namespace();
  }
  box->fields = std::move(fields);
  value_ = box;
}

JinjaValue JinjaValue::Namespace(JinjaFields fields) {
  const JinjaValue out{JinjaFields()};
  DictBox& box = *std::get<std::shared_ptr<DictBox>>(out.value_);
  box.may_set = true;
  for (const auto& [name, value] : fields) out.Set(name, value);
  box.space = true;
  return out;
}

bool JinjaValue::holds_namespace() const {
  if (is_list()) return std::get<std::shared_ptr<ListBox>>(value_)->space;
  return is_dict() && std::get<std::shared_ptr<DictBox>>(value_)->space;
}

uint64_t JinjaValue::Weight() const {
  if (is_text()) return 1 + text().size();
  if (is_list()) return std::get<std::shared_ptr<ListBox>>(value_)->weight;
  if (is_dict()) return std::get<std::shared_ptr<DictBox>>(value_)->weight;
  return 1;
}

int64_t JinjaValue::AsInt() const {
  if (is_bool()) return std::get<bool>(value_) ? 1 : 0;
  if (is_int()) return std::get<int64_t>(value_);
  const double value = std::get<double>(value_);
  constexpr double kMost = 9e18;
  return std::fabs(value) < kMost ? static_cast<int64_t>(value) : 0;
}

double JinjaValue::AsFloat() const {
  if (is_float()) return std::get<double>(value_);
  return static_cast<double>(AsInt());
}

const JinjaValue* JinjaValue::Get(std::string_view key) const {
  if (!is_dict()) return nullptr;
  for (const auto& [name, value] : fields()) {
    if (name == key) return &value;
  }
  return nullptr;
}

bool JinjaValue::Set(std::string_view key, const JinjaValue& value) const {
  if (!is_dict() || value.holds_namespace()) return false;
  DictBox& box = *std::get<std::shared_ptr<DictBox>>(value_);
  if (!box.may_set) return false;
  box.weight = Sum(box.weight, value.Weight());
  for (auto& [name, old] : box.fields) {
    if (name != key) continue;
    old = value;
    return true;
  }
  box.weight = Sum(box.weight, key.size());
  box.fields.emplace_back(std::string(key), value);
  return true;
}

bool JinjaValue::Truth() const {
  if (is_undefined() || is_none()) return false;
  if (is_number()) return AsFloat() != 0;
  if (is_text()) return !text().empty();
  if (is_list()) return !list().empty();
  if (is_dict()) return !fields().empty();
  return true;
}

const char* JinjaValue::Kind() const {
  if (is_undefined()) return "nothing";
  if (is_none()) return "none";
  if (is_bool()) return "a truth value";
  if (is_number()) return "a number";
  if (is_text()) return "a text";
  if (is_list()) return "a list";
  if (is_dict()) return "a dict";
  return "a function";
}

std::string JinjaValue::Text() const {
  if (is_undefined()) return "";
  if (is_text()) return text();
  std::string out;
  AppendRepr(out, 0);
  return out;
}

void JinjaValue::AppendRepr(std::string& out, int depth) const {
  if (depth > kDeepestValue) {
    out += "...";
  } else if (is_undefined()) {
    out += "Undefined";
  } else if (is_none()) {
    out += "None";
  } else if (is_bool()) {
    out += Truth() ? "True" : "False";
  } else if (is_int()) {
    absl::StrAppend(&out, AsInt());
  } else if (is_float()) {
    out += FloatText(AsFloat());
  } else if (is_text()) {
    out += Quoted(text());
  } else if (is_list()) {
    out += "[";
    for (const JinjaValue& item : list()) {
      if (&item != list().data()) out += ", ";
      item.AppendRepr(out, depth + 1);
    }
    out += "]";
  } else if (is_dict()) {
    out += "{";
    bool first = true;
    for (const auto& [key, value] : fields()) {
      if (!first) out += ", ";
      first = false;
      absl::StrAppend(&out, Quoted(key), ": ");
      value.AppendRepr(out, depth + 1);
    }
    out += "}";
  } else {
    out += "<function>";
  }
}

std::string JinjaValue::Json(int indent, bool sorted) const {
  std::string out;
  AppendJson(out, indent, sorted, 0);
  return out;
}

void JinjaValue::AppendJson(std::string& out, int indent, bool sorted,
                            int depth) const {
  const auto line = [&](int level) {
    if (indent < 0) return;
    out += "\n";
    out.append(static_cast<size_t>(indent * level), ' ');
  };
  const char* const separator = indent < 0 ? ", " : ",";
  if (depth > kDeepestValue) {
    out += "null";
  } else if (is_text()) {
    out += JsonString(text());
  } else if (is_bool()) {
    out += Truth() ? "true" : "false";
  } else if (is_number()) {
    out += Text();
  } else if (is_list()) {
    out += "[";
    for (size_t i = 0; i < list().size(); ++i) {
      if (i > 0) out += separator;
      line(depth + 1);
      list()[i].AppendJson(out, indent, sorted, depth + 1);
    }
    if (!list().empty()) line(depth);
    out += "]";
  } else if (is_dict()) {
    std::vector<const std::pair<std::string, JinjaValue>*> entries;
    for (const auto& entry : fields()) entries.push_back(&entry);
    if (sorted) {
      std::sort(entries.begin(), entries.end(),
                [](auto* a, auto* b) { return a->first < b->first; });
    }
    out += "{";
    for (size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) out += separator;
      line(depth + 1);
      absl::StrAppend(&out, JsonString(entries[i]->first), ": ");
      entries[i]->second.AppendJson(out, indent, sorted, depth + 1);
    }
    if (!entries.empty()) line(depth);
    out += "}";
  } else {
    out += "null";
  }
}

bool JinjaValue::Equals(const JinjaValue& other) const {
  if (is_number() && other.is_number()) return AsFloat() == other.AsFloat();
  if (value_.index() != other.value_.index()) return false;
  if (is_text()) return text() == other.text();
  if (is_list()) {
    return std::equal(
        list().begin(), list().end(), other.list().begin(), other.list().end(),
        [](const JinjaValue& a, const JinjaValue& b) { return a.Equals(b); });
  }
  if (is_dict()) {
    if (fields().size() != other.fields().size()) return false;
    return std::all_of(fields().begin(), fields().end(), [&](const auto& f) {
      const JinjaValue* const match = other.Get(f.first);
      return match != nullptr && match->Equals(f.second);
    });
  }
  return is_none() || is_undefined();
}

bool JinjaValue::Compare(const JinjaValue& other, int& order) const {
  if (is_number() && other.is_number()) {
    const double a = AsFloat(), b = other.AsFloat();
    order = a < b ? -1 : a > b ? 1 : 0;
    return true;
  }
  if (is_text() && other.is_text()) {
    order = text().compare(other.text());
    return true;
  }
  if (is_list() && other.is_list()) {
    const JinjaList &a = list(), &b = other.list();
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      if (a[i].Equals(b[i])) continue;
      return a[i].Compare(b[i], order);
    }
    order = a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
    return true;
  }
  return false;
}

}  // namespace espalier
