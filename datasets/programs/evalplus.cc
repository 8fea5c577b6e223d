#include "datasets/programs/evalplus.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/json_text.h"
#include "base/status_macros.h"
#include "datasets/programs/code_columns.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

using nlohmann::json;

// Restores the arguments in a list of MBPP+, by the problem's number.
constexpr char kArguments[] = R"py(
def deep(x):
    return tuple(deep(y) for y in x) if isinstance(x, list) else x

def rows(x):
    return [tuple(row) for row in x]

KINDS = [
    ("2 116 132 143 222 261 273 394 399 421 424 429 470 560 579 596 616 630 "
     "726 740 744 809", lambda *a: [tuple(x) for x in a]),
    ("63 64 70 94 120 237 272 299 400 409 417 438 473 614 780",
     lambda *a: [rows(x) for x in a]),
    ("75 413 444 753", lambda x, y: [rows(x), y]),
    ("106 750", lambda x, y: [x, tuple(y)]),
    ("115", lambda x: [[set(y) if isinstance(y, list) and y else {}
                        for y in x]]),
    ("124", lambda x, y: [float(x), complex(y)]),
    ("250 405 446 617 720 763 808", lambda x, y: [tuple(x), y]),
    ("252", lambda x: [complex(x)]),
    ("259 401 445", lambda *a: [tuple(rows(x)) for x in a]),
    ("278", lambda *a: [tuple(tuple(y) if isinstance(y, list) else y
                              for y in x) for x in a]),
    ("307", lambda x, y, z: [tuple(x), y, z]),
    ("580 615 791", lambda *a: [deep(x) for x in a]),
    ("722", lambda x, *a: [{k: tuple(v) for k, v in x.items()}, *a]),
]

def arguments(task, given):
    name, _, number = task.rpartition("/")
    if name.lower() == "mbpp":
        for numbers, build in KINDS:
            if number in numbers.split():
                return build(*given)
    return given
)py";

// Problems with several right answers, keyed by the function called.
constexpr char kOwnRules[] = R"py(
def polynomial_root(out, right, given, atol):
    return (type(out) in (int, float) and
            abs(sum(c * out ** i for i, c in enumerate(given[0]))) <= atol)

def members(out, right, given, atol):
    return set(out) == set(right) or close(out, right, atol)

def found(out, right, given, atol):
    if not isinstance(right, bool):
        right = right is not None
    return out == right if isinstance(out, bool) else right == (out is not None)

def pyramid(out, right, given, atol):
    base, height = given
    slant = ((base / 2) ** 2 + height ** 2) ** 0.5
    return (out == right or
            abs(out - round(base ** 2 + 2 * base * slant)) <= atol)

def digit_distance(out, right, given, atol):
    a, b = (str(x) for x in given)
    width = max(len(a), len(b))
    pairs = zip(a.zfill(width), b.zfill(width))
    return out == right or out == sum(abs(int(x) - int(y)) for x, y in pairs)

def divisors(number):
    small = [i for i in range(1, int(max(number, 0) ** 0.5) + 1)
             if number % i == 0]
    return set(small) | {number // i for i in small}

# EvalPlus takes whatever is given. The sums may count the numbers themselves or
# not, and the published ones count a root of a square twice.
def equal_sums(out, right, given, atol):
    a, b = map(divisors, given)
    whole = sum(a) == sum(b)
    proper = sum(a - {given[0]}) == sum(b - {given[1]})
    return any(out == x for x in (right, whole, proper))

# EvalPlus takes 0 for every number. 1 has no divisor but itself, and 0 none
# that all agree on; the published sums of both are 1.
def proper_sum(out, right, given, atol):
    return out == right or given[0] <= 1 and out == 0

OWN_RULES = {
    "HumanEval": {"find_zero": polynomial_root},
    "Mbpp": {
        "are_equivalent": equal_sums,
        "sum_div": proper_sum,
        "surface_Area": pyramid,
        "digit_distance_nums": digit_distance,
        **dict.fromkeys(["check_str", "text_match_three", "text_starta_endb"],
                        found),
        **dict.fromkeys(["similar_elements", "find_char_long",
                         "common_in_nested_lists", "extract_singly",
                         "larg_nnum", "intersection_array", "find_dissimilar",
                         "Diff"], members),
    },
}
)py";

constexpr char kCheck[] = R"py(
def floats(x):
    if isinstance(x, (list, tuple)):
        return bool(x) and all(isinstance(y, float) for y in x)
    return isinstance(x, float)

def near(out, right, atol):
    if isinstance(right, (list, tuple)):
        return len(out) == len(right) and all(
            near(x, y, atol) for x, y in zip(out, right))
    return out == right or abs(out - right) <= atol + 1e-7 * abs(right)

def close(out, right, atol):
    if atol == 0 and floats(right):
        atol = 1e-6
    return atol != 0 and type(out) == type(right) and near(out, right, atol)

def same(out, right, given, atol):
    rule = OWN_RULES.get(TASK.rpartition("/")[0], {}).get(ENTRY)
    if rule is not None:
        return rule(out, right, given, atol)
    return out == right or close(out, right, atol)

def check(program):
    import copy
    import json
    published = {"__name__": "published"}
    exec(compile(PUBLISHED, "<published>", "exec"), published)
    for number, given in enumerate(json.loads(INPUTS), 1):
        given = arguments(TASK, given)
        try:
            right = published[ENTRY](*copy.deepcopy(given))
        except Exception as error:
            raise RuntimeError("the published solution fails on input %d: %r"
                               % (number, error))
        out = program(*copy.deepcopy(given))
        assert same(out, right, given, ATOL), (
            "input %d: expected %s, found %s"
            % (number, repr(right)[:200], repr(out)[:200]))
)py";

// Whether a text can be an integer that does not fit 64 bits.
bool MayBeLongNumber(const std::string& text) {
  std::string_view digits = text;
  if (digits.starts_with("-")) digits.remove_prefix(1);
  int64_t value = 0;
  uint64_t large = 0;
  return digits.size() > 18 &&
         digits.find_first_not_of("0123456789") == std::string_view::npos &&
         !absl::SimpleAtoi(text, &value) && !absl::SimpleAtoi(text, &large);
}

bool HoldsLongNumber(const json& value) {
  if (value.is_string()) return MayBeLongNumber(value.get<std::string>());
  for (const json& inner : value) {
    if (inner.is_string() || inner.is_structured()) {
      if (HoldsLongNumber(inner)) return true;
    }
  }
  return false;
}

// Adds the inputs in `column` to `inputs`.
absl::Status AddInputs(const json& fields, const char* column, bool needed,
                       json& inputs) {
  const auto it = fields.find(column);
  const bool none = it == fields.end() || it->is_null() || it->empty();
  if (none && !needed) return absl::OkStatus();
  if (none || !it->is_array()) {
    return WrongColumn(column, "a list of inputs, each a list of arguments");
  }
  for (const json& input : *it) {
    if (!input.is_array()) {
      return WrongColumn(column, "a list of inputs, each a list of arguments");
    }
    if (HoldsLongNumber(input)) {
      return WrongColumn(column,
                         "whole numbers of at most 64 bits; longer ones cannot "
                         "be distinguished from texts");
    }
    inputs.push_back(input);
  }
  return absl::OkStatus();
}

absl::StatusOr<double> Tolerance(const json& fields) {
  const auto it = fields.find("atol");
  if (it == fields.end() || it->is_null()) return 0.0;
  if (it->is_number()) return it->get<double>();
  double value = 0;
  if (it->is_string() && absl::SimpleAtod(it->get<std::string>(), &value)) {
    return value;
  }
  return WrongColumn("atol", "a number");
}

}  // namespace

absl::StatusOr<CodeProblem> ReadEvalPlus(const json& fields) {
  CodeProblem problem;
  ESP_ASSIGN_OR_RETURN(problem.prompt, TextColumn(fields, "prompt", true));
  ESP_ASSIGN_OR_RETURN(problem.solution,
                       TextColumn(fields, "canonical_solution", true));
  if (absl::StripAsciiWhitespace(problem.solution).empty()) {
    return WrongColumn("canonical_solution",
                       "the published program, whose results are expected, "
                       "found an empty text");
  }
  ESP_ASSIGN_OR_RETURN(const std::string entry,
                       NameColumn(fields, "entry_point"));
  ESP_ASSIGN_OR_RETURN(const std::string task,
                       TextColumn(fields, "task_id", false));
  ESP_ASSIGN_OR_RETURN(const double atol, Tolerance(fields));
  json inputs = json::array();
  ESP_RETURN_IF_ERROR(AddInputs(fields, "base_input", true, inputs));
  const size_t base = inputs.size();
  ESP_RETURN_IF_ERROR(AddInputs(fields, "plus_input", false, inputs));
  problem.plus = inputs.size() > base;
  const bool begins = problem.prompt.find(absl::StrCat("def ", entry, "(")) !=
                      std::string::npos;
  problem.style = begins ? CodeStyle::kHumanEval : CodeStyle::kMbpp;
  if (begins) problem.before = absl::StrCat(problem.prompt, "\n    pass\n");
  problem.names = {entry};
  // A JSON string is also a Python string.
  problem.tests = {
      absl::StrCat("PROGRAM = ", entry, "\nTASK = ", JsonText(task),
                   "\nENTRY = ", JsonText(entry), "\nATOL = ", atol,
                   "\nINPUTS = ", JsonText(JsonText(inputs)),
                   "\nPUBLISHED = ", JsonText(SolutionProgram(problem)), "\n",
                   kArguments, kOwnRules, kCheck, "\ncheck(PROGRAM)\n")};
  return problem;
}

}  // namespace espalier
