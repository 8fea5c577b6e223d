#include "src/serve/api_request.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/parse_json.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "base/utf8.h"
#include "nlohmann/json.hpp"
#include "search/algorithm.h"
#include "src/engine/auto_method.h"
#include "src/serve/api_error.h"

namespace espalier {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
constexpr size_t kMostStops = 4;
constexpr size_t kLongestMethod = 256;  // bytes

// The fields of an object; null counts as absent. Remembers the first error.
class Fields {
 public:
  // `where`: before names in messages, as "search.".
  Fields(const Json& object, std::string where)
      : object_(object), where_(std::move(where)) {}

  const Json* Find(const char* name) const {
    const auto it = object_.find(name);
    return it == object_.end() || it->is_null() ? nullptr : &*it;
  }

  template <class T>
  void Whole(const char* name, int64_t least, int64_t most, T& out) {
    const Json* value = Find(name);
    if (value == nullptr) return;
    const std::optional<int64_t> whole = WholeOf(*value);
    if (!whole || *whole < least || *whole > most) {
      return Wrong(name,
                   absl::StrCat("a whole number from ", least, " to ", most));
    }
    out = static_cast<T>(*whole);
  }

  template <class T>
  void Real(const char* name, double least, double most, T& out) {
    const Json* value = Find(name);
    if (value == nullptr) return;
    if (!value->is_number() || !(value->get<double>() >= least) ||
        !(value->get<double>() <= most)) {
      return Wrong(name, absl::StrCat("a number from ", least, " to ", most));
    }
    out = static_cast<T>(value->get<double>());
  }

  void Flag(const char* name, bool& out) {
    const Json* value = Find(name);
    if (value == nullptr) return;
    if (!value->is_boolean()) return Wrong(name, "true or false");
    out = value->get<bool>();
  }

  void Text(const char* name, std::string& out) {
    const Json* value = Find(name);
    if (value == nullptr) return;
    if (!value->is_string()) return Wrong(name, "a string");
    out = value->get<std::string>();
  }

  void Wrong(const char* name, const std::string& expected) {
    const Json* value = Find(name);
    Fail(name, absl::StrCat(where_, name, " is ",
                            value == nullptr ? "missing" : Shown(*value),
                            "; expected ", expected));
  }
  void Fail(const char* name, std::string message) {
    if (error_.ok()) {
      error_ = BadRequest(absl::StrCat(where_, name), std::move(message));
    }
  }
  const absl::Status& error() const { return error_; }

  // A value as messages show it: cut short.
  static std::string Shown(const Json& value) {
    std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true,
                                  Json::error_handler_t::replace);
    if (text.size() > 40) text = text.substr(0, 40) + "...";
    return text;
  }

 private:
  static std::optional<int64_t> WholeOf(const Json& value) {
    constexpr uint64_t kMostSigned = std::numeric_limits<int64_t>::max();
    constexpr double kExact = 9007199254740992;  // 2^53
    if (value.is_number_float()) {               // some clients send 1.0
      const double real = value.get<double>();
      if (!(std::abs(real) <= kExact) || real != std::floor(real)) {
        return std::nullopt;
      }
      return static_cast<int64_t>(real);
    }
    if (!value.is_number_integer() ||
        (value.is_number_unsigned() && value.get<uint64_t>() > kMostSigned)) {
      return std::nullopt;
    }
    return value.get<int64_t>();
  }

  const Json& object_;
  const std::string where_;
  absl::Status error_;
};

// A method and a budget, each only if it was named.
struct Choice {
  std::string method;
  std::optional<BudgetSpec> budget;
};

absl::StatusOr<Choice> SplitChoice(std::string_view text,
                                   std::string_view param) {
  Choice choice;
  const size_t at = text.rfind('@');
  choice.method = std::string(text.substr(0, at));
  if (at == text.npos) return choice;
  absl::StatusOr<BudgetSpec> budget = ParseBudget(text.substr(at + 1));
  if (!budget.ok()) {
    return BadRequest(param, std::string(budget.status().message()));
  }
  choice.budget = *budget;
  return choice;
}

// What a model's name says: the served model, METHOD, METHOD@BUDGET, or either
// after the served model's name and a slash.
absl::StatusOr<Choice> ChoiceOfModel(std::string_view model,
                                     const std::string& served) {
  for (const std::string& name : {served, std::string("espalier")}) {
    if (model == name) return Choice();
    if (model.size() > name.size() + 1 &&
        model.substr(0, name.size()) == name &&
        (model[name.size()] == '/' || model[name.size()] == '@')) {
      model.remove_prefix(name.size() + (model[name.size()] == '/' ? 1 : 0));
      break;
    }
  }
  return SplitChoice(model, "model");
}

// A method's own work, between two requests to a model, grows with its options
// and is bounded by no budget; all searches wait for it.
absl::Status CheckOptions(const std::string& method,
                          const SearchAlgorithm& algorithm,
                          std::string_view param, int64_t most) {
  std::string name;
  OptionMap given;
  ESP_RETURN_IF_ERROR(ParseMethod(method, &name, &given));
  ESP_ASSIGN_OR_RETURN(const auto plain, MakeAlgorithm(name));
  const std::vector<OptionInfo> defaults = plain->options();
  const std::vector<OptionInfo> options = algorithm.options();
  for (size_t i = 0; i < options.size(); ++i) {
    const OptionInfo& option = options[i];
    int64_t value = 0, usual = 0;
    if (option.type != "int" || given.count(option.name) == 0 ||
        !absl::SimpleAtoi(option.value, &value) ||
        !absl::SimpleAtoi(defaults[i].value, &usual) ||
        value <= std::max(most, usual)) {
      continue;
    }
    return BadRequest(param,
                      absl::StrCat("option ", option.name, " is ", value,
                                   "; this server allows up to ",
                                   std::max(most, usual), " (--max-option)"));
  }
  return absl::OkStatus();
}

// What is wrong with a method's text, as an answer to the client.
absl::Status CheckMethod(const std::string& method, std::string_view param,
                         const ApiDefaults& defaults) {
  if (method.empty() || method == "auto") return absl::OkStatus();
  if (method.size() > kLongestMethod) {
    return BadRequest(param,
                      absl::StrCat("a method of ", method.size(),
                                   " bytes; expected up to ", kLongestMethod));
  }
  const auto algorithm = MakeAlgorithm(method);
  const absl::Status& made = algorithm.status();
  if (made.ok()) {
    return CheckOptions(method, **algorithm, param, defaults.max_option);
  }
  if (!absl::IsNotFound(made) || method.starts_with("preset=")) {
    return BadRequest(param, std::string(made.message()));
  }
  const bool as_model = param == "model";
  std::vector<std::string> names = defaults.methods;
  if (as_model) names.push_back(defaults.model);
  const std::string name = method.substr(0, method.find(':'));
  const std::string nearest = NearestName(name, names);
  std::string text = absl::StrCat("unknown ", as_model ? "model " : "method ",
                                  Fields::Shown(name));
  if (!nearest.empty()) {
    absl::StrAppend(&text, ": did you mean \"", nearest, "\"?");
  }
  if (param == "path") {
    return WithApiCode(
        absl::NotFoundError(absl::StrCat(
            text, nearest.empty() ? ":" : "",
            " before /v1/ a path may have METHOD or METHOD@BUDGET, METHOD one "
            "of auto, ",
            absl::StrJoin(names, ", "))),
        "", param);
  }
  if (!as_model) {
    return BadRequest(param,
                      absl::StrCat(text, " (GET /v1/models lists them)"));
  }
  return WithApiCode(
      absl::NotFoundError(absl::StrCat(
          text, nearest.empty() ? ":" : "", " this server has ", defaults.model,
          "; a search method can stand in its place, METHOD or METHOD@BUDGET, "
          "e.g. beam@2000 (GET /v1/models lists them)")),
      "model_not_found", param);
}

void ReadContent(Fields& fields, const Json& message, const std::string& place,
                 std::string& out) {
  const auto it = message.find("content");
  if (it == message.end() || it->is_null()) {
    return fields.Fail("messages",
                       place + ".content is missing; expected a string");
  }
  if (it->is_string()) {
    out = it->get<std::string>();
    return;
  }
  if (!it->is_array()) {
    return fields.Fail("messages",
                       place +
                           ".content: expected a string or a list of text "
                           "parts");
  }
  for (const Json& part : *it) {
    if (!part.is_object() || part.value("type", Json()) != "text" ||
        !part.contains("text") || !part["text"].is_string()) {
      return fields.Fail(
          "messages",
          place +
              ".content: expected parts {\"type\": \"text\", \"text\": "
              "\"...\"}; other kinds are not read here");
    }
    out += part["text"].get<std::string>();
  }
}

void ReadMessages(Fields& fields, std::vector<ChatMessage>& out) {
  const Json* messages = fields.Find("messages");
  if (messages == nullptr || !messages->is_array() || messages->empty()) {
    return fields.Wrong("messages", "a list of messages");
  }
  for (const Json& message : *messages) {
    const std::string place = absl::StrCat("messages[", out.size(), "]");
    if (!message.is_object() || !message.contains("role") ||
        !message["role"].is_string()) {
      return fields.Fail("messages", place +
                                         ": expected {\"role\", "
                                         "\"content\"}");
    }
    const std::string role = message["role"].get<std::string>();
    const bool system = role == "system" || role == "developer";
    if (!system && role != "user" && role != "assistant") {
      return fields.Fail(
          "messages",
          absl::StrCat(place, ".role is ", Fields::Shown(role),
                       "; expected system, developer, user or assistant"));
    }
    ChatMessage& read = out.emplace_back();
    read.role = system           ? ChatRole::kSystem
                : role == "user" ? ChatRole::kUser
                                 : ChatRole::kAssistant;
    ReadContent(fields, message, place, read.text);
  }
  // A system message, then user and assistant in turn, the user last.
  const size_t first = out[0].role == ChatRole::kSystem ? 1 : 0;
  bool in_turn = (out.size() - first) % 2 == 1;
  for (size_t i = first; i < out.size(); ++i) {
    in_turn &= out[i].role ==
               ((i - first) % 2 == 0 ? ChatRole::kUser : ChatRole::kAssistant);
  }
  if (!in_turn) {
    fields.Fail("messages",
                "the roles of messages: expected a system message if there is "
                "one, then user and assistant in turn, the user last");
  }
}

void ReadStops(Fields& fields, std::vector<std::string>& out) {
  const Json* stop = fields.Find("stop");
  if (stop == nullptr) return;
  if (stop->is_string()) {
    out = {stop->get<std::string>()};
  } else if (stop->is_array()) {
    for (const Json& one : *stop) {
      out.push_back(one.is_string() ? one.get<std::string>() : "");
    }
  } else {
    out = {""};
  }
  if (out.size() > kMostStops ||
      std::find(out.begin(), out.end(), "") != out.end()) {
    fields.Wrong("stop", "a string that is not empty, or up to 4 of them");
  }
}

// Fields that would change what a reply has to be.
void RefuseOthers(Fields& fields) {
  int64_t one = 1;
  const auto only_one = [&](const char* name) {
    fields.Whole(name, 0, kMost, one);
    if (one != 1) fields.Wrong(name, "1: a search gives one answer");
    one = 1;
  };
  only_one("n");
  only_one("best_of");
  const auto refuse = [&](const char* name, const char* why) {
    const Json* value = fields.Find(name);
    if (value == nullptr || *value == false || *value == 0 ||
        (value->is_structured() && value->empty()) || *value == "") {
      return;
    }
    fields.Fail(name, absl::StrCat(name, ": ", why));
  };
  refuse("tools", "tools are not called here");
  refuse("functions", "functions are not called here");
  refuse("logprobs", "log-probs are not given here");
  refuse("top_logprobs", "log-probs are not given here");
  refuse("logit_bias", "logits are not changed here");
  refuse("presence_penalty", "penalties are not applied here; leave it out");
  refuse("frequency_penalty", "penalties are not applied here; leave it out");
  refuse("echo", "the prompt is not repeated here");
  refuse("suffix", "text is not inserted here");
  if (const Json* format = fields.Find("response_format")) {
    if (!format->is_object() || format->value("type", Json()) != "text") {
      fields.Fail("response_format",
                  "response_format: only {\"type\": \"text\"} is given here");
    }
  }
}

// The field `search`.
absl::Status ReadSearch(const Json& object, ApiRequest& request,
                        Choice& choice) {
  static constexpr const char* kNames[] = {"method",
                                           "budget",
                                           "max_model_calls",
                                           "max_simulations",
                                           "max_nodes",
                                           "max_seconds",
                                           "max_verdict_tokens",
                                           "response_tokens",
                                           "top_k",
                                           "min_p",
                                           "tree"};
  if (!object.is_object()) {
    return BadRequest("search",
                      absl::StrCat("search is ", Fields::Shown(object),
                                   "; expected an object"));
  }
  for (const auto& [name, value] : object.items()) {
    if (std::find(std::begin(kNames), std::end(kNames), name) ==
        std::end(kNames)) {
      return BadRequest(
          "search", absl::StrCat("search has no field ", Fields::Shown(name),
                                 "; it has ", absl::StrJoin(kNames, ", ")));
    }
  }
  Fields fields(object, "search.");
  SearchOptions& search = request.search;
  std::string method;
  fields.Text("method", method);
  ESP_ASSIGN_OR_RETURN(choice, SplitChoice(method, "search.method"));
  if (const Json* budget = fields.Find("budget")) {
    const std::string text =
        budget->is_string() ? budget->get<std::string>() : budget->dump();
    absl::StatusOr<BudgetSpec> parsed = ParseBudget(text);
    if (parsed.ok()) {
      choice.budget = *parsed;
    } else {
      fields.Wrong("budget", "tokens, as 2000, or \"4x\"");
    }
  }
  fields.Whole("max_model_calls", 0, kMost, search.max_model_calls);
  fields.Whole("max_simulations", 0, kMost, search.max_simulations);
  fields.Whole("max_nodes", 0, kMost, search.max_nodes);
  fields.Real("max_seconds", 0, 1e9, search.max_seconds);
  fields.Whole("max_verdict_tokens", 0, kMost, search.max_verdict_tokens);
  fields.Whole("response_tokens", 0, kMost, search.response_tokens);
  fields.Whole("top_k", 0, kMost, search.top_k);
  fields.Real("min_p", 0, 1, search.min_p);
  fields.Flag("tree", request.tree);
  return fields.error();
}

// Gives the method the request's temperature if it has such an option and does
// not set it itself.
absl::Status ApplyTemperature(Fields& fields, ApiRequest& request) {
  if (fields.Find("temperature") == nullptr) return absl::OkStatus();
  double temperature = 0;
  fields.Real("temperature", 0, 2, temperature);
  ESP_RETURN_IF_ERROR(fields.error());
  std::string& method = request.search.method;
  std::string name;
  OptionMap options;
  ESP_RETURN_IF_ERROR(ResolveMethod(method, &name, &options));
  ESP_ASSIGN_OR_RETURN(const auto algorithm, MakeAlgorithm(method));
  const std::vector<OptionInfo> known = algorithm->options();
  const bool has = std::any_of(
      known.begin(), known.end(),
      [](const OptionInfo& option) { return option.name == "temperature"; });
  if (has && options.count("temperature") == 0) {
    const std::string heated =
        absl::StrCat(method, ":temperature=", temperature);
    const absl::Status made = MakeAlgorithm(heated).status();
    if (!made.ok()) {
      return BadRequest("temperature", std::string(made.message()));
    }
    method = heated;
    return absl::OkStatus();
  }
  request.ignored.push_back("temperature");
  return absl::OkStatus();
}

// `param`: the field that the budget came from.
absl::Status ApplyBudget(const BudgetSpec& budget, std::string_view param,
                         const ApiDefaults& defaults, ApiRequest& request) {
  SearchOptions& search = request.search;
  search.max_tokens = budget.tokens;
  if (budget.factor > 0) {
    if (search.max_response_tokens == 0) {
      return BadRequest(
          "max_tokens",
          absl::StrCat("the budget ", BudgetText(budget), " is ", budget.factor,
                       " times max_tokens, which this request lacks; add "
                       "max_tokens, or give the budget in tokens"));
    }
    search.max_tokens = static_cast<int64_t>(std::ceil(
        budget.factor * static_cast<double>(search.max_response_tokens)));
  }
  if (search.max_tokens <= defaults.max_budget) return absl::OkStatus();
  return BadRequest(param,
                    absl::StrCat("a budget of ", search.max_tokens,
                                 " tokens; this server allows up to ",
                                 defaults.max_budget, " (--max-budget)"));
}

absl::StatusOr<Json> ReadBody(std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == body.npos) {
    return BadRequest("", "the body is empty; expected a JSON object");
  }
  if (const auto at = FirstInvalidUtf8(body)) {
    return BadRequest(
        "", absl::StrCat("byte ", *at + 1, " of the body is not UTF-8"));
  }
  Json object;
  const JsonOutcome outcome = ReadJson(body, JsonLimits(), object);
  if (outcome.fault != JsonFault::kNone) {
    return BadRequest("", absl::StrReplaceAll(outcome.what.substr(0, 200),
                                              {{"the record", "the body"}}));
  }
  if (!object.is_object()) {
    return BadRequest("", absl::StrCat("the body is ", Fields::Shown(object),
                                       "; expected a JSON object"));
  }
  return object;
}

}  // namespace

absl::StatusOr<BudgetSpec> ParseBudget(std::string_view text) {
  BudgetSpec budget;
  const bool factor = text.ends_with('x');
  const std::string_view number =
      text.substr(0, text.size() - (factor ? 1 : 0));
  const bool read = factor ? absl::SimpleAtod(AbslView(number), &budget.factor)
                           : absl::SimpleAtoi(AbslView(number), &budget.tokens);
  if (!read || number.find_first_not_of("0123456789.") != number.npos ||
      (factor ? !(budget.factor > 0 && budget.factor <= 1e6)
              : budget.tokens < 1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the budget is \"", AbslView(text.substr(0, 40)),
        "\"; expected tokens, as 2000, or a multiple of max_tokens, as 4x"));
  }
  return budget;
}

std::string BudgetText(const BudgetSpec& budget) {
  if (budget.factor > 0) return absl::StrCat(budget.factor, "x");
  return absl::StrCat(budget.tokens);
}

absl::Status CheckPathMethod(const std::string& path_method,
                             const ApiDefaults& defaults) {
  ESP_ASSIGN_OR_RETURN(const Choice named, SplitChoice(path_method, "path"));
  return CheckMethod(named.method, "path", defaults);
}

absl::StatusOr<ApiRequest> ReadApiRequest(ApiKind kind,
                                          const std::string& path_method,
                                          std::string_view body,
                                          const ApiDefaults& defaults) {
  ESP_ASSIGN_OR_RETURN(const Json object, ReadBody(body));
  ApiRequest request{.kind = kind, .search = defaults.search};
  SearchOptions& search = request.search;
  Fields fields(object, "");
  fields.Text("model", request.model);
  if (kind == ApiKind::kChat) {
    ReadMessages(fields, request.messages);
  } else {
    fields.Text("prompt", request.prompt);
    if (request.prompt.empty()) fields.Wrong("prompt", "one string");
  }
  fields.Whole("max_tokens", 1, kMost, search.max_response_tokens);
  fields.Whole("max_completion_tokens", 1, kMost, search.max_response_tokens);
  fields.Real("top_p", 1e-6, 1, search.top_p);
  int64_t seed = static_cast<int64_t>(search.seed);
  fields.Whole("seed", std::numeric_limits<int64_t>::min(),
               std::numeric_limits<int64_t>::max(), seed);
  search.seed = static_cast<uint64_t>(seed);
  ReadStops(fields, request.stops);
  fields.Flag("stream", request.stream);
  if (const Json* options = fields.Find("stream_options")) {
    if (!options->is_object()) {
      fields.Wrong("stream_options", "an object");
    } else {
      Fields inner(*options, "stream_options.");
      inner.Flag("include_usage", request.include_usage);
      ESP_RETURN_IF_ERROR(inner.error());
    }
  }
  RefuseOthers(fields);
  ESP_RETURN_IF_ERROR(fields.error());

  // From the least to the most specific.
  Choice choice{.method = search.method, .budget = defaults.budget};
  std::string_view budget_from = "model";
  const auto prefer = [&](Choice named, std::string_view param) {
    const absl::Status error = CheckMethod(named.method, param, defaults);
    if (!error.ok()) return error;
    if (!named.method.empty()) choice.method = std::move(named.method);
    if (named.budget) {
      choice.budget = named.budget;
      budget_from = param == "search.method" ? "search.budget" : param;
    }
    return absl::OkStatus();
  };
  if (!request.model.empty()) {
    ESP_ASSIGN_OR_RETURN(Choice named,
                         ChoiceOfModel(request.model, defaults.model));
    ESP_RETURN_IF_ERROR(prefer(std::move(named), "model"));
  } else {
    request.model = defaults.model;
  }
  if (const Json* options = fields.Find("search")) {
    Choice named;
    ESP_RETURN_IF_ERROR(ReadSearch(*options, request, named));
    ESP_RETURN_IF_ERROR(prefer(std::move(named), "search.method"));
  }
  if (!path_method.empty()) {
    ESP_ASSIGN_OR_RETURN(Choice named, SplitChoice(path_method, "path"));
    ESP_RETURN_IF_ERROR(prefer(std::move(named), "path"));
  }
  ESP_RETURN_IF_ERROR(
      ApplyBudget(*choice.budget, budget_from, defaults, request));
  search.method = choice.method == "auto"
                      ? AutoMethod(search.max_tokens, defaults.has_reward)
                      : choice.method;
  ESP_RETURN_IF_ERROR(ApplyTemperature(fields, request));
  search.keep_tree = request.tree;
  return request;
}

}  // namespace espalier
