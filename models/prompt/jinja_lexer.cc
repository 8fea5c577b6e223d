#include "models/prompt/jinja_lexer.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text.h"
#include "base/utf8.h"

namespace espalier {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }
bool IsJinjaSpace(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}
bool BeginsName(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Longest first.
constexpr std::string_view kJinjaOperators[] = {
    "//", "**", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "<",
    ">",  "=",  "|",  ".",  ",",  ":",  "(", ")", "[", "]", "{", "}"};

class JinjaLexer {
 public:
  explicit JinjaLexer(std::string_view source) : source_(source) {}

  absl::StatusOr<std::vector<JinjaToken>> Run() {
    while (status_.ok() && at_ < source_.size()) Outside();
    if (!status_.ok()) return status_;
    Add(JinjaTokenKind::kEnd, "");
    return std::move(tokens_);
  }

 private:
  void Add(JinjaTokenKind kind, std::string text) {
    tokens_.push_back({kind, std::move(text), line_});
  }
  void Fail(std::string_view what) {
    status_.Update(absl::InvalidArgumentError(
        absl::StrCat("line ", line_, ": ", AbslView(what))));
  }
  void Skip(size_t count) {
    line_ += static_cast<int>(std::count(
        source_.begin() + static_cast<ptrdiff_t>(at_),
        source_.begin() + static_cast<ptrdiff_t>(at_ + count), '\n'));
    at_ += count;
  }
  bool At(std::string_view text) const {
    return source_.substr(at_).starts_with(text);
  }

  // A text up to the next tag, and that tag.
  void Outside() {
    size_t open = at_;
    for (;; ++open) {
      open = source_.find('{', open);
      if (open == source_.npos || open + 1 == source_.size()) {
        open = source_.size();
        break;
      }
      const char next = source_[open + 1];
      if (next == '{' || next == '%' || next == '#') break;
    }
    std::string_view text = source_.substr(at_, open - at_);
    if (open == source_.size()) {
      AddText(text);
      at_ = open;
      return;
    }
    const char kind = source_[open + 1];
    const char sign = open + 2 < source_.size() ? source_[open + 2] : ' ';
    if (sign == '-') {
      while (!text.empty() && IsJinjaSpace(text.back())) text.remove_suffix(1);
    } else if (sign != '+' && kind != '{') {
      // Blanks before a block on a line of its own.
      size_t begin = text.size();
      while (begin > 0 && IsBlank(text[begin - 1])) --begin;
      const bool own = begin > 0 ? text[begin - 1] == '\n' : line_start_;
      if (own) text = text.substr(0, begin);
    }
    AddText(text);
    Skip(open - at_);
    Skip(2 + (sign == '-' || sign == '+' ? 1 : 0));
    if (kind == '#') {
      Comment();
    } else {
      Tag(kind == '%');
    }
  }

  void AddText(std::string_view text) {
    if (!text.empty()) Add(JinjaTokenKind::kText, std::string(text));
  }

  // Past the end of a tag: white space that it takes with it.
  void AfterTag(bool strip, bool keep, bool block) {
    const size_t begin = at_;
    if (strip) {
      size_t end = at_;
      while (end < source_.size() && IsJinjaSpace(source_[end])) ++end;
      Skip(end - at_);
    } else if (block && !keep && At("\n")) {
      Skip(1);
    }
    line_start_ = at_ > begin && source_[at_ - 1] == '\n';
  }

  void Comment() {
    const size_t end = source_.find("#}", at_);
    if (end == source_.npos) return Fail("a comment {# does not end");
    const char sign = end > at_ ? source_[end - 1] : ' ';
    Skip(end + 2 - at_);
    AfterTag(sign == '-', sign == '+', true);
  }

  void Tag(bool block) {
    const size_t first = tokens_.size();
    Add(block ? JinjaTokenKind::kBlock : JinjaTokenKind::kPrint, "");
    std::string brackets;  // that are open
    const std::string_view close = block ? "%}" : "}}";
    while (status_.ok()) {
      while (at_ < source_.size() && IsJinjaSpace(source_[at_])) Skip(1);
      if (at_ == source_.size()) return Fail("a tag does not end");
      if (brackets.empty()) {
        const bool sign =
            (At("-") || At("+")) && source_.substr(at_ + 1).starts_with(close);
        if (sign || At(close)) {
          const char c = source_[at_];
          Skip(close.size() + (sign ? 1 : 0));
          Add(block ? JinjaTokenKind::kBlockEnd : JinjaTokenKind::kPrintEnd,
              "");
          AfterTag(sign && c == '-', sign && c == '+', block);
          if (block && tokens_.size() == first + 3 &&
              tokens_[first + 1].text == "raw") {
            tokens_.resize(first);
            Raw();
          }
          return;
        }
      }
      Inside(brackets);
    }
  }

  // The text up to {% endraw %}.
  void Raw() {
    for (size_t end = at_;; ++end) {
      end = source_.find("{%", end);
      if (end == source_.npos) return Fail("{% raw %} does not end");
      size_t name = end + 2;
      const bool strip = name < source_.size() && source_[name] == '-';
      if (strip) ++name;
      while (name < source_.size() && IsJinjaSpace(source_[name])) ++name;
      if (!source_.substr(name).starts_with("endraw")) continue;
      std::string_view text = source_.substr(at_, end - at_);
      while (strip && !text.empty() && IsJinjaSpace(text.back())) {
        text.remove_suffix(1);
      }
      AddText(text);
      const size_t close = source_.find("%}", name);
      if (close == source_.npos) return Fail("a tag does not end");
      Skip(close + 2 - at_);
      AfterTag(source_[close - 1] == '-', false, true);
      return;
    }
  }

  void Inside(std::string& brackets) {
    const char c = source_[at_];
    if (c == '"' || c == '\'') return String(c);
    if (BeginsName(c)) {
      size_t end = at_;
      while (end < source_.size() &&
             (BeginsName(source_[end]) || IsDigit(source_[end]))) {
        ++end;
      }
      Add(JinjaTokenKind::kName, std::string(source_.substr(at_, end - at_)));
      return Skip(end - at_);
    }
    if (IsDigit(c)) return Number();
    for (const std::string_view one : kJinjaOperators) {
      if (!At(one)) continue;
      const size_t open = std::string_view("([{").find(one);
      const size_t shut = std::string_view(")]}").find(one);
      if (open != std::string_view::npos) brackets += ")]}"[open];
      if (shut != std::string_view::npos) {
        if (brackets.empty() || brackets.back() != one[0]) {
          return Fail(absl::StrCat("an unexpected ", AbslView(one)));
        }
        brackets.pop_back();
      }
      Add(JinjaTokenKind::kOperator, std::string(one));
      return Skip(one.size());
    }
    Fail(absl::StrCat("an unexpected character ",
                      AbslView(source_.substr(at_, 1))));
  }

  void Number() {
    size_t end = at_;
    bool whole = true;
    while (end < source_.size() &&
           (IsDigit(source_[end]) || source_[end] == '_'))
      ++end;
    if (end + 1 < source_.size() && source_[end] == '.' &&
        IsDigit(source_[end + 1])) {
      whole = false;
      ++end;
      while (end < source_.size() && IsDigit(source_[end])) ++end;
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      size_t digits = end + 1;
      if (digits < source_.size() &&
          (source_[digits] == '-' || source_[digits] == '+')) {
        ++digits;
      }
      if (digits < source_.size() && IsDigit(source_[digits])) {
        whole = false;
        end = digits;
        while (end < source_.size() && IsDigit(source_[end])) ++end;
      }
    }
    std::string text(source_.substr(at_, end - at_));
    std::erase(text, '_');
    Add(whole ? JinjaTokenKind::kInt : JinjaTokenKind::kFloat, text);
    Skip(end - at_);
  }

  void String(char quote) {
    std::string out;
    size_t i = at_ + 1;
    for (; i < source_.size() && source_[i] != quote; ++i) {
      if (source_[i] != '\\' || i + 1 == source_.size()) {
        out += source_[i];
        continue;
      }
      ++i;
      constexpr std::string_view kLetters = "ntrbfva0",
                                 kBytes = "\n\t\r\b\f\v\a";
      const size_t letter = kLetters.find(source_[i]);
      const size_t digits = source_[i] == 'x'   ? 2
                            : source_[i] == 'u' ? 4
                            : source_[i] == 'U' ? 8
                                                : 0;
      if (letter < kBytes.size()) {
        out += kBytes[letter];
      } else if (letter != kLetters.npos) {
        out += '\0';
      } else if (digits > 0) {
        uint32_t code = 0;
        for (size_t d = 1; d <= digits; ++d) {
          if (i + d >= source_.size() ||
              std::isxdigit(static_cast<unsigned char>(source_[i + d])) == 0) {
            return Fail("a string has a broken escape");
          }
          const char c = source_[i + d];
          code = code << 4 | static_cast<uint32_t>(
                                 IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
        }
        if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
          return Fail("a string has an escape that is no character");
        }
        AppendUtf8(code, out);
        i += digits;
      } else if (source_[i] == '\\' || source_[i] == '\'' ||
                 source_[i] == '"') {
        out += source_[i];
      } else if (source_[i] != '\n') {
        out += '\\';
        out += source_[i];
      }
    }
    if (i >= source_.size()) return Fail("a string does not end");
    Add(JinjaTokenKind::kString, std::move(out));
    Skip(i + 1 - at_);
  }

  std::string_view source_;
  size_t at_ = 0;
  int line_ = 1;
  bool line_start_ = true;  // what comes next begins a line
  std::vector<JinjaToken> tokens_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::vector<JinjaToken>> LexJinja(std::string_view source) {
  std::string text(source);
  absl::StrReplaceAll({{"\r\n", "\n"}, {"\r", "\n"}}, &text);
  if (text.ends_with('\n')) text.pop_back();
  return JinjaLexer(text).Run();
}

}  // namespace espalier
