#include "datasets/answers/words/unicode_math.h"

#include <array>
#include <cstdint>
#include <unordered_map>

namespace espalier {
namespace {

// The meaning of a non-ASCII character. A blank ends a command.
const std::unordered_map<uint32_t, std::string_view>& Signs() {
  static const auto* const kSigns =
      new std::unordered_map<uint32_t, std::string_view>{
          {0xa0, " "},
          {0xad, ""},
          {0xd7, "\\times "},
          {0xf7, "\\div "},
          {0xb7, "\\cdot "},
          {0x2219, "\\cdot "},
          {0x22c5, "\\cdot "},
          {0x2022, " "},
          {0xb1, "\\pm "},
          {0x2213, "\\mp "},
          {0x2212, "-"},
          {0x2010, "-"},
          {0x2011, "-"},
          {0x2012, "-"},
          {0x2013, "-"},
          {0x2014, "-"},
          {0xfe63, "-"},
          {0xff0d, "-"},
          {0x221a, "\\sqrt "},
          {0x221b, "\\cbrt "},
          {0x3c0, "\\pi "},
          {0x221e, "\\infty "},
          {0x2264, "\\le "},
          {0x2265, "\\ge "},
          {0x2a7d, "\\le "},
          {0x2a7e, "\\ge "},
          {0x2260, "\\ne "},
          {0x2248, "\\approx "},
          {0x2245, "\\approx "},
          {0x2261, "\\equiv "},
          {0x222a, "\\cup "},
          {0x2229, "\\cap "},
          {0x2208, "\\in "},
          {0x2209, "\\notin "},
          {0x2216, "\\setminus "},
          {0x2205, "\\emptyset "},
          {0xd8, "\\emptyset "},
          {0x2190, "\\leftarrow "},
          {0x2192, "\\to "},
          {0x21d2, "\\implies "},
          {0xb0, "^\\circ "},
          {0xba, "^\\circ "},
          {0x2218, "\\circ "},
          {0x2032, "'"},
          {0x2033, "''"},
          {0x2019, "'"},
          {0x2018, "'"},
          {0x201c, "\""},
          {0x201d, "\""},
          {0xbc, "\\frac{1}{4}"},
          {0xbd, "\\frac{1}{2}"},
          {0xbe, "\\frac{3}{4}"},
          {0x2153, "\\frac{1}{3}"},
          {0x2154, "\\frac{2}{3}"},
          {0x2155, "\\frac{1}{5}"},
          {0x2156, "\\frac{2}{5}"},
          {0x2157, "\\frac{3}{5}"},
          {0x2158, "\\frac{4}{5}"},
          {0x2159, "\\frac{1}{6}"},
          {0x215a, "\\frac{5}{6}"},
          {0x215b, "\\frac{1}{8}"},
          {0x215c, "\\frac{3}{8}"},
          {0x215d, "\\frac{5}{8}"},
          {0x215e, "\\frac{7}{8}"},
          {0x2044, "/"},
          {0x2215, "/"},
          {0x211d, "\\mathbb{R}"},
          {0x2124, "\\mathbb{Z}"},
          {0x211a, "\\mathbb{Q}"},
          {0x2115, "\\mathbb{N}"},
          {0x2102, "\\mathbb{C}"},
          {0x2026, "..."},
          {0x22ef, "..."},
          {0x27e8, "\\langle "},
          {0x27e9, "\\rangle "},
          {0x2329, "\\langle "},
          {0x232a, "\\rangle "},
          {0x230a, "\\lfloor "},
          {0x230b, "\\rfloor "},
          {0x2308, "\\lceil "},
          {0x2309, "\\rceil "},
          {0x2211, "\\sum "},
          {0x220f, "\\prod "},
          {0x222b, "\\int "},
          {0x20ac, "\\euro "},
          {0xa3, "\\pounds "},
          {0xa5, "\\yen "},
          {0x20b9, "\\rupee "},
          {0xa2, "\\cents "},
          {0x2220, "\\angle "},
          {0x25b3, "\\triangle "},
          {0x2225, "\\parallel "},
          {0x22a5, "\\perp "},
          {0x6216, " or "},
          {0x548c, " and "},
          {0x4e14, " and "},
          {0x3001, ","},
          {0xff0c, ","},
          {0x3002, "."},
          {0xff1b, ";"},
          {0xff1a, ":"},
          {0x2236, ":"},
          {0x2223, "|"},
          {0x2227, " and "},
          {0x2228, " or "},
          {0x1d452, "e"},
          {0x2147, "e"},
          {0x2148, "i"},
          {0xfeff, ""},
          {0x200b, ""},
          {0x200c, ""},
          {0x200d, ""},
          {0x2061, ""},
          {0x2062, "*"},
          {0x2063, ","},
          {0x2009, " "},
          {0x202f, " "},
          {0x2002, " "},
          {0x2003, " "},
          {0x2005, " "},
          {0x2006, " "},
          {0x2007, " "},
          {0x2008, " "},
          {0x200a, " "},
          {0x3000, " "},
          {0x200e, ""},
          {0x200f, ""},
          {0x2060, ""}};
  return *kSigns;
}

std::string_view GreekName(uint32_t c) {
  static constexpr std::array<std::string_view, 25> kLower = {
      "alpha",   "beta", "gamma", "delta",  "epsilon", "zeta", "eta",
      "theta",   "iota", "kappa", "lambda", "mu",      "nu",   "xi",
      "omicron", "pi",   "rho",   "sigma",  "sigma",   "tau",  "upsilon",
      "phi",     "chi",  "psi",   "omega"};
  static constexpr std::array<std::string_view, 25> kUpper = {
      "Alpha",   "Beta", "Gamma", "Delta",  "Epsilon", "Zeta", "Eta",
      "Theta",   "Iota", "Kappa", "Lambda", "Mu",      "Nu",   "Xi",
      "Omicron", "Pi",   "Rho",   "",       "Sigma",   "Tau",  "Upsilon",
      "Phi",     "Chi",  "Psi",   "Omega"};
  if (c >= 0x3b1 && c <= 0x3c9) return kLower[c - 0x3b1];
  if (c >= 0x391 && c <= 0x3a9) return kUpper[c - 0x391];
  if (c == 0xb5) return "mu";
  if (c == 0x3d5) return "phi";
  if (c == 0x3f5) return "epsilon";
  return "";
}

// The digit, sign or letter that a superscript or subscript character shows.
char Superscript(uint32_t c) {
  switch (c) {
    case 0xb2:
      return '2';
    case 0xb3:
      return '3';
    case 0xb9:
      return '1';
    case 0x2070:
      return '0';
    case 0x207a:
      return '+';
    case 0x207b:
      return '-';
    case 0x207d:
      return '(';
    case 0x207e:
      return ')';
    case 0x207f:
      return 'n';
    case 0x2071:
      return 'i';
    case 0x2e3:
      return 'x';
    default:
      break;
  }
  if (c >= 0x2074 && c <= 0x2079) return static_cast<char>('0' + c - 0x2070);
  return 0;
}

char Subscript(uint32_t c) {
  if (c >= 0x2080 && c <= 0x2089) return static_cast<char>('0' + c - 0x2080);
  if (c == 0x208a) return '+';
  if (c == 0x208b) return '-';
  if (c == 0x2090) return 'a';
  if (c == 0x2099) return 'n';
  if (c == 0x2093) return 'x';
  return 0;
}

// Decodes the character at text[at] and advances; 0xfffd for a bad byte.
uint32_t Decode(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : 0;
  };
  const uint8_t first = byte(at);
  int more = 0;
  uint32_t c = 0xfffd;
  if (first < 0x80) {
    c = first;
  } else if (first >= 0xc2 && first < 0xe0) {
    more = 1;
    c = first & 0x1f;
  } else if (first >= 0xe0 && first < 0xf0) {
    more = 2;
    c = first & 0x0f;
  } else if (first >= 0xf0 && first < 0xf5) {
    more = 3;
    c = first & 0x07;
  }
  for (int i = 1; i <= more; ++i) {
    const uint8_t next = byte(at + i);
    if ((next & 0xc0) != 0x80) {
      ++at;
      return 0xfffd;
    }
    c = (c << 6) | (next & 0x3f);
  }
  at += more + 1;
  return c;
}

// Mathematical letters and full-width characters as ASCII, 0 for others.
char PlainAscii(uint32_t c) {
  if (c >= 0xff01 && c <= 0xff5e) return static_cast<char>(c - 0xfee0);
  if (c >= 0x1d400 && c < 0x1d6a4) {
    const uint32_t at = (c - 0x1d400) % 52;
    return static_cast<char>(at < 26 ? 'A' + at : 'a' + at - 26);
  }
  if (c >= 0x1d7ce && c <= 0x1d7ff) {
    return static_cast<char>('0' + (c - 0x1d7ce) % 10);
  }
  return 0;
}

}  // namespace

std::string AsciiMath(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  for (size_t at = 0; at < text.size();) {
    if (static_cast<uint8_t>(text[at]) < 0x80) {
      out += text[at++];
      continue;
    }
    const size_t start = at;
    const uint32_t c = Decode(text, at);
    if (const auto found = Signs().find(c); found != Signs().end()) {
      out += found->second;
      continue;
    }
    if (const char plain = PlainAscii(c)) {
      out += plain;
      continue;
    }
    if (Superscript(c) != 0 || Subscript(c) != 0) {
      const bool above = Superscript(c) != 0;
      out += above ? "^{" : "_{";
      size_t next = at;
      for (uint32_t d = c;;) {
        out += above ? Superscript(d) : Subscript(d);
        at = next;
        if (at >= text.size()) break;
        d = Decode(text, next);
        if ((above ? Superscript(d) : Subscript(d)) == 0) break;
      }
      out += "}";
      continue;
    }
    if (const std::string_view greek = GreekName(c); !greek.empty()) {
      out += '\\';
      out += greek;
      out += ' ';
      continue;
    }
    if (c == 0xfffd) {
      out += '?';
    } else {
      out += text.substr(start, at - start);
    }
  }
  return out;
}

}  // namespace espalier
