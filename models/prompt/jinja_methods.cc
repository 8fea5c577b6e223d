// The methods of Python's str, dict and list that templates call.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text.h"
#include "models/prompt/jinja_run.h"

namespace espalier {
namespace {

using Arguments = JinjaArguments;
// The first argument is the value itself.
using Method = JinjaValue (*)(JinjaRun&, const Arguments&);
using Methods = std::map<std::string, Method, std::less<>>;

JinjaValue Filtered(JinjaRun& run, const char* filter, const Arguments& a) {
  return ApplyJinjaFilter(run, filter, a);
}

bool White(char c) {
  return absl::ascii_isspace(static_cast<unsigned char>(c));
}

// The argument as a text; nothing if it is absent or None.
const std::string* GivenText(const Arguments& a, size_t place,
                             std::string_view name) {
  const JinjaValue* const one = a.Find(place, name);
  return one != nullptr && one->is_text() ? &one->text() : nullptr;
}

JinjaValue StripMethod(JinjaRun& run, const Arguments& a, bool left,
                       bool right) {
  std::string_view text = a.values[0].text();
  const std::string* const set = GivenText(a, 1, "chars");
  const auto strips = [&](char c) {
    return set != nullptr ? set->find(c) != std::string::npos : White(c);
  };
  while (left && !text.empty() && strips(text.front())) text.remove_prefix(1);
  while (right && !text.empty() && strips(text.back())) text.remove_suffix(1);
  return run.Text(std::string(text));
}

JinjaValue Split(JinjaRun& run, const Arguments& a, bool from_right) {
  const std::string& text = a.values[0].text();
  const std::string* const by = GivenText(a, 1, "sep");
  const JinjaValue* const limit = a.Find(2, "maxsplit");
  int64_t most = limit != nullptr && limit->is_int() ? limit->AsInt() : -1;
  if (by != nullptr && by->empty()) return run.Fail("split by an empty text");
  JinjaList parts;
  if (by == nullptr) {
    size_t at = 0;
    for (;;) {
      while (at < text.size() && White(text[at])) ++at;
      if (at == text.size()) break;
      size_t end = at;
      while (end < text.size() && !White(text[end])) ++end;
      if (most-- == 0) {
        end = text.size();
        while (White(text[end - 1])) --end;
      }
      parts.emplace_back(text.substr(at, end - at));
      at = end;
      if (!run.Step()) return {};
    }
    return parts;
  }
  std::string_view rest = text;
  while (most-- != 0) {
    const size_t at = from_right ? rest.rfind(*by) : rest.find(*by);
    if (at == rest.npos || !run.Step()) break;
    if (from_right) {
      parts.emplace_back(rest.substr(at + by->size()));
      rest = rest.substr(0, at);
    } else {
      parts.emplace_back(rest.substr(0, at));
      rest.remove_prefix(at + by->size());
    }
  }
  parts.emplace_back(rest);
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

// startswith and endswith, of one text or of several.
JinjaValue Affix(JinjaRun& run, const Arguments& a, bool begin) {
  const std::string_view text = a.values[0].text();
  if (a.values.size() < 2) return run.Fail("expected a text to compare with");
  const auto has = [&](const JinjaValue& one) {
    return one.is_text() &&
           (begin ? text.starts_with(one.text()) : text.ends_with(one.text()));
  };
  if (!a.values[1].is_list()) return has(a.values[1]);
  const JinjaList& all = a.values[1].list();
  return std::any_of(all.begin(), all.end(), has);
}

// Places count characters.
JinjaValue FindIn(const Arguments& a, bool last) {
  const std::string& text = a.values[0].text();
  const std::string* const what = GivenText(a, 1, "sub");
  const size_t at = what == nullptr ? std::string::npos
                    : last          ? text.rfind(*what)
                                    : text.find(*what);
  if (at == std::string::npos) return int64_t{-1};
  return static_cast<int64_t>(
      std::count_if(text.begin(), text.begin() + static_cast<ptrdiff_t>(at),
                    [](char c) { return (c & 0xC0) != 0x80; }));
}

JinjaValue Count(JinjaRun& run, const Arguments& a) {
  const std::string* const what = GivenText(a, 1, "sub");
  if (what == nullptr || what->empty()) return run.Fail("count of no text");
  int64_t count = 0;
  const std::string& text = a.values[0].text();
  for (size_t at = text.find(*what); at != std::string::npos;
       at = text.find(*what, at + what->size())) {
    ++count;
  }
  return count;
}

template <bool (*Holds)(unsigned char)>
JinjaValue All(JinjaRun&, const Arguments& a) {
  const std::string& text = a.values[0].text();
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return Holds(static_cast<unsigned char>(c));
  });
}

JinjaValue SplitLines(JinjaRun& run, const Arguments& a) {
  std::string_view text = a.values[0].text();
  JinjaList lines;
  while (!text.empty() && run.Step()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

JinjaValue RemoveAffix(JinjaRun& run, const Arguments& a, bool begin) {
  std::string_view text = a.values[0].text();
  const std::string* const affix = GivenText(a, 1, begin ? "prefix" : "suffix");
  if (affix != nullptr && begin && text.starts_with(*affix)) {
    text.remove_prefix(affix->size());
  } else if (affix != nullptr && !begin && text.ends_with(*affix)) {
    text.remove_suffix(affix->size());
  }
  return run.Text(std::string(text));
}

JinjaValue JoinMethod(JinjaRun& run, const Arguments& a) {
  if (a.values.size() < 2) return run.Fail("join of nothing");
  Arguments all;
  all.values = {a.values[1], a.values[0]};
  return Filtered(run, "join", all);
}

// "{} and {name}".format(...), without conversions.
JinjaValue Format(JinjaRun& run, const Arguments& a) {
  const std::string& text = a.values[0].text();
  std::string out;
  size_t next = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool twice = i + 1 < text.size() && text[i + 1] == text[i];
    if ((text[i] == '{' || text[i] == '}') && twice) {
      out += text[i++];
    } else if (text[i] == '{') {
      const size_t end = text.find('}', i);
      if (end == std::string::npos) return run.Fail("format: } is missing");
      const std::string name = text.substr(i + 1, end - i - 1);
      const JinjaValue* value = nullptr;
      if (name.empty()) {
        value = a.Find(next++, "");
      } else if (name.size() == 1 &&
                 absl::ascii_isdigit(static_cast<unsigned char>(name[0]))) {
        value = a.Find(static_cast<size_t>(name[0] - '0') + 1, "");
      } else {
        value = a.Find(SIZE_MAX, name);
      }
      if (value == nullptr) {
        return run.Fail(absl::StrCat("format: no value for {", name, "}"));
      }
      out += value->Text();
      if (!run.Grow(value->Weight())) return {};
      i = end;
    } else {
      out += text[i];
    }
  }
  return run.Text(std::move(out));
}

const Methods& TextMethods() {
  static const auto* const kMethods = new Methods{
      {"strip",
       [](JinjaRun& r, const Arguments& a) {
         return StripMethod(r, a, true, true);
       }},
      {"lstrip",
       [](JinjaRun& r, const Arguments& a) {
         return StripMethod(r, a, true, false);
       }},
      {"rstrip",
       [](JinjaRun& r, const Arguments& a) {
         return StripMethod(r, a, false, true);
       }},
      {"split",
       [](JinjaRun& r, const Arguments& a) { return Split(r, a, false); }},
      {"rsplit",
       [](JinjaRun& r, const Arguments& a) { return Split(r, a, true); }},
      {"splitlines", SplitLines},
      {"startswith",
       [](JinjaRun& r, const Arguments& a) { return Affix(r, a, true); }},
      {"endswith",
       [](JinjaRun& r, const Arguments& a) { return Affix(r, a, false); }},
      {"removeprefix",
       [](JinjaRun& r, const Arguments& a) { return RemoveAffix(r, a, true); }},
      {"removesuffix",
       [](JinjaRun& r, const Arguments& a) {
         return RemoveAffix(r, a, false);
       }},
      {"replace", [](JinjaRun& r,
                     const Arguments& a) { return Filtered(r, "replace", a); }},
      {"upper",
       [](JinjaRun& r, const Arguments& a) { return Filtered(r, "upper", a); }},
      {"lower",
       [](JinjaRun& r, const Arguments& a) { return Filtered(r, "lower", a); }},
      {"title",
       [](JinjaRun& r, const Arguments& a) { return Filtered(r, "title", a); }},
      {"capitalize",
       [](JinjaRun& r, const Arguments& a) {
         return Filtered(r, "capitalize", a);
       }},
      {"find", [](JinjaRun&, const Arguments& a) { return FindIn(a, false); }},
      {"rfind", [](JinjaRun&, const Arguments& a) { return FindIn(a, true); }},
      {"index",
       [](JinjaRun& r, const Arguments& a) {
         JinjaValue at = FindIn(a, false);
         return at.AsInt() < 0 ? r.Fail("index: the text is not in it") : at;
       }},
      {"count", Count},
      {"join", JoinMethod},
      {"format", Format},
      {"isdigit", All<absl::ascii_isdigit>},
      {"isnumeric", All<absl::ascii_isdigit>},
      {"isalpha", All<absl::ascii_isalpha>},
      {"isalnum", All<absl::ascii_isalnum>},
      {"isspace", All<absl::ascii_isspace>},
  };
  return *kMethods;
}

const Methods& DictMethods() {
  static const auto* const kMethods = new Methods{
      {"items",
       [](JinjaRun& r, const Arguments& a) { return Filtered(r, "items", a); }},
      {"keys",
       [](JinjaRun& r, const Arguments& a) { return Filtered(r, "list", a); }},
      {"values",
       [](JinjaRun&, const Arguments& a) {
         JinjaList out;
         for (const auto& field : a.values[0].fields())
           out.push_back(field.second);
         return JinjaValue(std::move(out));
       }},
      {"copy",
       [](JinjaRun&, const Arguments& a) {
         return JinjaValue(JinjaFields(a.values[0].fields()));
       }},
      {"get",
       [](JinjaRun& r, const Arguments& a) {
         if (a.values.size() < 2) return r.Fail("get of no key");
         const JinjaValue* const found = a.values[0].Get(a.values[1].Text());
         if (found != nullptr) return *found;
         return a.values.size() > 2 ? a.values[2]
                                    : JinjaValue(JinjaValue::None{});
       }},
  };
  return *kMethods;
}

const Methods& ListMethods() {
  static const auto* const kMethods = new Methods{
      {"count",
       [](JinjaRun& r, const Arguments& a) {
         if (a.values.size() < 2) return r.Fail("count of nothing");
         return JinjaValue(static_cast<int64_t>(std::count_if(
             a.values[0].list().begin(), a.values[0].list().end(),
             [&](const JinjaValue& one) { return one.Equals(a.values[1]); })));
       }},
      {"index",
       [](JinjaRun& r, const Arguments& a) {
         const JinjaList& list = a.values[0].list();
         for (size_t i = 0; a.values.size() > 1 && i < list.size(); ++i) {
           if (list[i].Equals(a.values[1]))
             return JinjaValue(static_cast<int64_t>(i));
         }
         return r.Fail("index: the value is not in the list");
       }},
      {"copy", [](JinjaRun&, const Arguments& a) { return a.values[0]; }},
  };
  return *kMethods;
}

}  // namespace

JinjaValue JinjaMethod(const JinjaValue& value, std::string_view name) {
  static const Methods kNone;
  const Methods& methods = value.is_text()   ? TextMethods()
                           : value.is_dict() ? DictMethods()
                           : value.is_list() ? ListMethods()
                                             : kNone;
  const auto found = methods.find(name);
  if (found == methods.end()) {
    return JinjaValue::Undefined{std::string(name)};
  }
  return JinjaFunction(
      [value, method = found->second](JinjaRun& run, const Arguments& given) {
        Arguments all = given;
        all.values.insert(all.values.begin(), value);
        return method(run, all);
      });
}

}  // namespace espalier
