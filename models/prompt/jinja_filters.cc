// Filters, tests and methods by Jinja's and Python's documentation.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text.h"
#include "base/utf8.h"
#include "models/prompt/jinja_run.h"

namespace espalier {
namespace {

using Arguments = JinjaArguments;
using Filter = JinjaValue (*)(JinjaRun&, const Arguments&);

constexpr size_t kNamed = SIZE_MAX;  // the place of what has a name only

JinjaValue Undefined() { return JinjaValue::Undefined{}; }

// The argument of this place or name as a text.
std::string TextOf(const Arguments& a, size_t place, std::string_view name,
                   std::string otherwise = "") {
  const JinjaValue* const one = a.Find(place, name);
  return one == nullptr || one->is_none() ? otherwise : one->Text();
}
int64_t IntOf(const Arguments& a, size_t place, std::string_view name,
              int64_t otherwise) {
  const JinjaValue* const one = a.Find(place, name);
  return one != nullptr && one->is_number() ? one->AsInt() : otherwise;
}
bool TruthOf(const Arguments& a, size_t place, std::string_view name,
             bool otherwise) {
  const JinjaValue* const one = a.Find(place, name);
  return one != nullptr ? one->Truth() : otherwise;
}

std::string Strip(std::string_view text, const std::string* set, bool left,
                  bool right) {
  const auto strips = [&](char c) {
    return set != nullptr ? set->find(c) != std::string::npos
                          : std::isspace(static_cast<unsigned char>(c)) != 0;
  };
  while (left && !text.empty() && strips(text.front())) text.remove_prefix(1);
  while (right && !text.empty() && strips(text.back())) text.remove_suffix(1);
  return std::string(text);
}

JinjaValue StripBy(JinjaRun& run, const Arguments& a, bool left, bool right) {
  const JinjaValue* const set = a.Find(1, "chars");
  const std::string chars = set != nullptr ? set->Text() : "";
  return run.Text(Strip(a.values[0].Text(),
                        set != nullptr && !set->is_none() ? &chars : nullptr,
                        left, right));
}

std::string Capitalised(const std::string& text) {
  std::string out = absl::AsciiStrToLower(text);
  if (!out.empty())
    out[0] = absl::ascii_toupper(static_cast<unsigned char>(out[0]));
  return out;
}

std::string Titled(const std::string& text) {
  std::string out = text;
  bool begins = true;
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    c = begins ? absl::ascii_toupper(byte) : absl::ascii_tolower(byte);
    begins = !absl::ascii_isalnum(byte) && byte < 0x80;
  }
  return out;
}

JinjaValue Field(JinjaRun& run, const JinjaValue& value,
                 const std::string& path) {
  JinjaValue at = value;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    int64_t index = 0;
    if (at.is_list() && absl::SimpleAtoi(name, &index)) {
      at = index >= 0 && index < static_cast<int64_t>(at.list().size())
               ? at.list()[static_cast<size_t>(index)]
               : Undefined();
    } else {
      at = at.is_dict() ? JinjaField(run, at, name) : Undefined();
    }
    begin = end + 1;
  }
  return at;
}

// select, reject, selectattr, rejectattr.
JinjaValue Choose(JinjaRun& run, const Arguments& a, bool attribute,
                  bool wanted) {
  JinjaList out;
  const size_t at = attribute ? 2 : 1;
  if (attribute && a.values.size() < 2)
    return run.Fail("expected an attribute");
  if (!a.values[0].Truth()) return out;
  for (const JinjaValue& item : JinjaItems(run, a.values[0])) {
    const JinjaValue value =
        attribute ? Field(run, item, a.values[1].Text()) : item;
    bool holds = value.Truth();
    if (a.values.size() > at) {
      Arguments test;
      test.values.push_back(value);
      test.values.insert(test.values.end(),
                         a.values.begin() + static_cast<ptrdiff_t>(at) + 1,
                         a.values.end());
      holds = ApplyJinjaTest(run, a.values[at].Text(), test);
    }
    if (!run.ok()) return {};
    if (holds == wanted) out.push_back(item);
  }
  return out;
}

JinjaValue Map(JinjaRun& run, const Arguments& a) {
  JinjaList out;
  if (!a.values[0].Truth()) return out;
  const JinjaValue* const attribute = a.Find(kNamed, "attribute");
  for (const JinjaValue& item : JinjaItems(run, a.values[0])) {
    if (attribute != nullptr) {
      JinjaValue value = Field(run, item, attribute->Text());
      const JinjaValue* const otherwise = a.Find(kNamed, "default");
      if (value.is_undefined() && otherwise != nullptr) value = *otherwise;
      out.push_back(std::move(value));
    } else if (a.values.size() > 1) {
      Arguments filter;
      filter.named = a.named;
      filter.values.push_back(item);
      filter.values.insert(filter.values.end(), a.values.begin() + 2,
                           a.values.end());
      out.push_back(ApplyJinjaFilter(run, a.values[1].Text(), filter));
    } else {
      return run.Fail("map of no filter");
    }
    if (!run.Step()) return {};
  }
  return out;
}

bool Sort(JinjaRun& run, JinjaList& list, const std::string& attribute,
          bool fold, bool reverse) {
  std::vector<std::pair<JinjaValue, JinjaValue>> keyed;
  for (JinjaValue& item : list) {
    JinjaValue key = attribute.empty() ? item : Field(run, item, attribute);
    if (fold && key.is_text()) key = absl::AsciiStrToLower(key.text());
    keyed.emplace_back(std::move(key), item);
  }
  // By insertion: never undefined behaviour, whatever the order is.
  bool ordered = true;
  std::stable_sort(keyed.begin(), keyed.end(), [&](auto& a, auto& b) {
    int order = 0;
    if (!a.first.Compare(b.first, order)) ordered = false;
    return reverse ? order > 0 : order < 0;
  });
  if (!ordered) {
    run.Fail("sort of values without an order");
    return false;
  }
  for (size_t i = 0; i < list.size(); ++i) list[i] = std::move(keyed[i].second);
  return true;
}

JinjaValue SortFilter(JinjaRun& run, const Arguments& a) {
  JinjaList list = JinjaItems(run, a.values[0]);
  if (!Sort(run, list, TextOf(a, 3, "attribute"),
            !TruthOf(a, 2, "case_sensitive", false),
            TruthOf(a, 1, "reverse", false))) {
    return {};
  }
  return list;
}

JinjaValue DictSort(JinjaRun& run, const Arguments& a) {
  JinjaList list;
  for (const auto& [key, value] :
       a.values[0].is_dict() ? a.values[0].fields() : JinjaFields()) {
    list.emplace_back(JinjaList{key, value});
  }
  const bool by_value = TextOf(a, 2, "by", "key") == "value";
  if (!Sort(run, list, by_value ? "1" : "0",
            !TruthOf(a, 1, "case_sensitive", false),
            TruthOf(a, 3, "reverse", false))) {
    return {};
  }
  return list;
}

JinjaValue Unique(JinjaRun& run, const Arguments& a) {
  JinjaList out;
  for (JinjaValue& item : JinjaItems(run, a.values[0])) {
    if (!run.Step(static_cast<int64_t>(out.size()))) return {};
    const bool seen =
        std::any_of(out.begin(), out.end(),
                    [&](const JinjaValue& one) { return one.Equals(item); });
    if (!seen) out.push_back(std::move(item));
  }
  return out;
}

JinjaValue Join(JinjaRun& run, const Arguments& a) {
  std::string out;
  const std::string between = TextOf(a, 1, "d");
  const std::string attribute = TextOf(a, 2, "attribute");
  bool first = true;
  for (const JinjaValue& item : JinjaItems(run, a.values[0])) {
    if (!first) out += between;
    first = false;
    out += (attribute.empty() ? item : Field(run, item, attribute)).Text();
    if (!run.Grow(between.size() + 1)) return {};
  }
  return run.Text(std::move(out));
}

JinjaValue Indent(JinjaRun& run, const Arguments& a) {
  const JinjaValue* const given = a.Find(1, "width");
  const std::string unit =
      given != nullptr && given->is_text()
          ? given->text()
          : std::string(static_cast<size_t>(std::clamp<int64_t>(
                            IntOf(a, 1, "width", 4), 0, 1000)),
                        ' ');
  const bool first = TruthOf(a, 2, "first", false);
  const bool blank = TruthOf(a, 3, "blank", false);
  std::string out;
  const std::string text = a.values[0].Text();
  for (size_t begin = 0, line = 0; begin <= text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (line > 0) out += '\n';
    if ((line > 0 || first) && (blank || end > begin)) out += unit;
    out += text.substr(begin, end - begin);
    if (!run.Grow(unit.size())) return {};
    begin = end + 1;
  }
  return run.Text(std::move(out));
}

JinjaValue ToJson(JinjaRun& run, const Arguments& a) {
  if (a.values[0].is_undefined()) {
    return run.Fail(absl::StrCat(a.values[0].undefined_name(),
                                 " is undefined and has no JSON"));
  }
  const JinjaValue* const indent = a.Find(1, "indent");
  const bool spaced = indent != nullptr && indent->is_int();
  return run.Text(a.values[0].Json(
      spaced ? static_cast<int>(std::clamp<int64_t>(indent->AsInt(), 0, 100))
             : -1,
      TruthOf(a, kNamed, "sort_keys", false)));
}

JinjaValue ToInt(JinjaRun&, const Arguments& a) {
  const JinjaValue& value = a.values[0];
  if (value.is_number()) return value.AsInt();
  int64_t number = 0;
  double real = 0;
  const std::string text = Strip(value.Text(), nullptr, true, true);
  if (absl::SimpleAtoi(text, &number)) return number;
  if (absl::SimpleAtod(text, &real)) return JinjaValue(real).AsInt();
  return IntOf(a, 1, "default", 0);
}

JinjaValue ToFloat(JinjaRun&, const Arguments& a) {
  const JinjaValue& value = a.values[0];
  double real = 0;
  if (value.is_number()) return value.AsFloat();
  if (absl::SimpleAtod(Strip(value.Text(), nullptr, true, true), &real)) {
    return real;
  }
  return 0.0;
}

JinjaValue Length(JinjaRun& run, const Arguments& a) {
  const JinjaValue& value = a.values[0];
  if (value.is_text()) {
    return static_cast<int64_t>(
        std::count_if(value.text().begin(), value.text().end(),
                      [](char c) { return (c & 0xC0) != 0x80; }));
  }
  if (value.is_list()) return static_cast<int64_t>(value.list().size());
  if (value.is_dict()) return static_cast<int64_t>(value.fields().size());
  if (value.is_undefined()) return int64_t{0};
  return run.Fail(absl::StrCat("length of ", value.Kind()));
}

JinjaValue Replace(JinjaRun& run, const Arguments& a) {
  const std::string text = a.values[0].Text();
  const std::string old = TextOf(a, 1, "old"), by = TextOf(a, 2, "new");
  int64_t left = IntOf(a, 3, "count", -1);
  std::string out;
  size_t at = 0;
  if (old.empty()) return run.Fail("replace of an empty text");
  while (left != 0) {
    const size_t next = text.find(old, at);
    if (next == std::string::npos) break;
    out.append(text, at, next - at);
    if (!run.Grow(by.size())) return {};
    out += by;
    at = next + old.size();
    --left;
  }
  out.append(text, at);
  return run.Text(std::move(out));
}

JinjaValue Reverse(JinjaRun& run, const Arguments& a) {
  JinjaList list = JinjaItems(run, a.values[0]);
  std::reverse(list.begin(), list.end());
  if (!a.values[0].is_text()) return list;
  std::string out;
  for (const JinjaValue& one : list) out += one.text();
  return run.Text(std::move(out));
}

JinjaValue Items(JinjaRun& run, const Arguments& a) {
  JinjaList out;
  if (a.values[0].is_undefined()) return out;
  if (!a.values[0].is_dict()) return run.Fail("items of what is no dict");
  for (const auto& [key, value] : a.values[0].fields()) {
    out.emplace_back(JinjaList{key, value});
  }
  return out;
}

// Sums, or the least or greatest.
JinjaValue Extreme(JinjaRun& run, const Arguments& a, int sign) {
  JinjaValue best;
  for (const JinjaValue& item : JinjaItems(run, a.values[0])) {
    int order = 0;
    if (!best.is_undefined() && !item.Compare(best, order)) {
      return run.Fail("values without an order");
    }
    if (best.is_undefined() || order * sign > 0) best = item;
  }
  return best;
}

JinjaValue Round(JinjaRun& run, const Arguments& a) {
  if (!a.values[0].is_number()) return run.Fail("round of no number");
  const double scale =
      std::pow(10.0, static_cast<double>(IntOf(a, 1, "precision", 0)));
  const double value = a.values[0].AsFloat() * scale;
  const std::string method = TextOf(a, 2, "method", "common");
  const double out = method == "ceil"    ? std::ceil(value)
                     : method == "floor" ? std::floor(value)
                                         : std::nearbyint(value);
  return out / scale;
}

JinjaValue Escape(JinjaRun& run, const Arguments& a) {
  return run.Text(absl::StrReplaceAll(a.values[0].Text(), {{"&", "&amp;"},
                                                           {"<", "&lt;"},
                                                           {">", "&gt;"},
                                                           {"\"", "&#34;"},
                                                           {"'", "&#39;"}}));
}

const std::map<std::string, Filter, std::less<>>& Filters() {
  static const auto* const kFilters = new std::map<std::string, Filter,
                                                   std::less<>>{
      {"trim", [](JinjaRun& r,
                  const Arguments& a) { return StripBy(r, a, true, true); }},
      {"length", Length},
      {"count", Length},
      {"tojson", ToJson},
      {"join", Join},
      {"upper",
       [](JinjaRun& r, const Arguments& a) {
         return r.Text(absl::AsciiStrToUpper(a.values[0].Text()));
       }},
      {"lower",
       [](JinjaRun& r, const Arguments& a) {
         return r.Text(absl::AsciiStrToLower(a.values[0].Text()));
       }},
      {"capitalize",
       [](JinjaRun& r, const Arguments& a) {
         return r.Text(Capitalised(a.values[0].Text()));
       }},
      {"title",
       [](JinjaRun& r, const Arguments& a) {
         return r.Text(Titled(a.values[0].Text()));
       }},
      {"replace", Replace},
      {"string", [](JinjaRun& r,
                    const Arguments& a) { return r.Text(a.values[0].Text()); }},
      {"safe", [](JinjaRun&, const Arguments& a) { return a.values[0]; }},
      {"escape", Escape},
      {"e", Escape},
      {"int", ToInt},
      {"float", ToFloat},
      {"first",
       [](JinjaRun& r, const Arguments& a) {
         const JinjaList l = JinjaItems(r, a.values[0]);
         return l.empty() ? Undefined() : l.front();
       }},
      {"last",
       [](JinjaRun& r, const Arguments& a) {
         const JinjaList l = JinjaItems(r, a.values[0]);
         return l.empty() ? Undefined() : l.back();
       }},
      {"list",
       [](JinjaRun& r, const Arguments& a) {
         return JinjaValue(JinjaItems(r, a.values[0]));
       }},
      {"items", Items},
      {"dictsort", DictSort},
      {"sort", SortFilter},
      {"unique", Unique},
      {"reverse", Reverse},
      {"map", Map},
      {"select", [](JinjaRun& r,
                    const Arguments& a) { return Choose(r, a, false, true); }},
      {"reject", [](JinjaRun& r,
                    const Arguments& a) { return Choose(r, a, false, false); }},
      {"selectattr",
       [](JinjaRun& r, const Arguments& a) {
         return Choose(r, a, true, true);
       }},
      {"rejectattr",
       [](JinjaRun& r, const Arguments& a) {
         return Choose(r, a, true, false);
       }},
      {"indent", Indent},
      {"min",
       [](JinjaRun& r, const Arguments& a) { return Extreme(r, a, -1); }},
      {"max", [](JinjaRun& r, const Arguments& a) { return Extreme(r, a, 1); }},
      {"round", Round},
      {"abs",
       [](JinjaRun& r, const Arguments& a) {
         const JinjaValue& v = a.values[0];
         if (!v.is_number()) return r.Fail("abs of no number");
         return v.is_float()
                    ? JinjaValue(std::fabs(v.AsFloat()))
                    : JinjaValue(v.AsInt() < 0 && v.AsInt() != INT64_MIN
                                     ? -v.AsInt()
                                     : v.AsInt());
       }},
      {"default",
       [](JinjaRun&, const Arguments& a) {
         const bool falsy =
             TruthOf(a, 2, "boolean", false) && !a.values[0].Truth();
         if (!a.values[0].is_undefined() && !falsy) return a.values[0];
         const JinjaValue* const other = a.Find(1, "default_value");
         return other != nullptr ? *other : JinjaValue("");
       }},
  };
  return *kFilters;
}

bool Divides(const Arguments& a) {
  return a.values[0].is_number() && a.values.size() > 1 &&
         a.values[1].is_number() && a.values[1].AsInt() != 0 &&
         a.values[1].AsInt() != -1 &&
         a.values[0].AsInt() % a.values[1].AsInt() == 0;
}

// < 0, 0, > 0 as the test's value and argument compare; false: not at all.
bool Ordered(JinjaRun& run, const Arguments& a, int& order) {
  if (a.values.size() > 1 && a.values[0].Compare(a.values[1], order))
    return true;
  run.Fail("a comparison of values without an order");
  return false;
}

}  // namespace

JinjaList JinjaItems(JinjaRun& run, const JinjaValue& value) {
  if (value.is_list()) return value.list();
  JinjaList items;
  if (value.is_dict()) {
    for (const auto& field : value.fields()) items.emplace_back(field.first);
  } else if (value.is_text()) {
    for (std::string_view rest = value.text(); !rest.empty() && run.Step();) {
      const size_t size = NextUtf8Boundary(rest, 1);
      items.emplace_back(rest.substr(0, size));
      rest.remove_prefix(size);
    }
  } else if (!value.is_undefined()) {
    run.Fail(absl::StrCat("expected a list, found ", value.Kind()));
  }
  return items;
}

JinjaValue ApplyJinjaFilter(JinjaRun& run, std::string_view name,
                            const JinjaArguments& arguments) {
  if (name == "d") name = "default";
  const auto found = Filters().find(name);
  if (found == Filters().end()) {
    return run.Fail(absl::StrCat("no filter named ", AbslView(name)));
  }
  return found->second(run, arguments);
}

bool ApplyJinjaTest(JinjaRun& run, std::string_view name,
                    const JinjaArguments& a) {
  const JinjaValue& v = a.values[0];
  const bool two = a.values.size() > 1;
  int order = 0;
  if (name == "defined") return !v.is_undefined();
  if (name == "undefined") return v.is_undefined();
  if (name == "none") return v.is_none();
  if (name == "string") return v.is_text();
  if (name == "mapping") return v.is_dict();
  if (name == "iterable")
    return !v.is_none() && !v.is_number() && !v.is_function();
  if (name == "sequence") return v.is_text() || v.is_list() || v.is_dict();
  if (name == "number") return v.is_number();
  if (name == "integer") return v.is_int();
  if (name == "float") return v.is_float();
  if (name == "boolean") return v.is_bool();
  if (name == "true") return v.is_bool() && v.Truth();
  if (name == "false") return v.is_bool() && !v.Truth();
  if (name == "callable") return v.is_function();
  if (name == "odd") return v.is_number() && v.AsInt() % 2 != 0;
  if (name == "even") return v.is_number() && v.AsInt() % 2 == 0;
  if (name == "divisibleby") return Divides(a);
  if (name == "lower") return v.Text() == absl::AsciiStrToLower(v.Text());
  if (name == "upper") return v.Text() == absl::AsciiStrToUpper(v.Text());
  if (name == "equalto" || name == "eq" || name == "==" || name == "sameas") {
    return two && v.Equals(a.values[1]);
  }
  if (name == "ne" || name == "!=") return two && !v.Equals(a.values[1]);
  if (name == "lt" || name == "lessthan" || name == "<") {
    return Ordered(run, a, order) && order < 0;
  }
  if (name == "gt" || name == "greaterthan" || name == ">") {
    return Ordered(run, a, order) && order > 0;
  }
  if (name == "le" || name == "<=") return Ordered(run, a, order) && order <= 0;
  if (name == "ge" || name == ">=") return Ordered(run, a, order) && order >= 0;
  if (name == "in") {
    if (!two) return false;
    if (a.values[1].is_text() && v.is_text()) {
      return a.values[1].text().find(v.text()) != std::string::npos;
    }
    const JinjaList list = JinjaItems(run, a.values[1]);
    return std::any_of(list.begin(), list.end(),
                       [&](const JinjaValue& one) { return one.Equals(v); });
  }
  run.Fail(absl::StrCat("no test named ", AbslView(name)));
  return false;
}

JinjaValue JinjaField(JinjaRun&, const JinjaValue& value,
                      std::string_view name) {
  const JinjaValue* const found = value.Get(name);
  return found != nullptr ? *found : JinjaValue::Undefined{std::string(name)};
}

}  // namespace espalier
