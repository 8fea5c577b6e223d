#include "models/remote/server_key.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/json_text.h"
#include "nlohmann/json.hpp"

namespace espalier {
namespace {

constexpr char kForAll[] = "ESPALIER_API_KEY";

}  // namespace

std::vector<std::string> KeyVariables(const Endpoint& server) {
  std::string host = absl::AsciiStrToUpper(server.host);
  for (char& c : host) {
    if (!absl::ascii_isupper(static_cast<unsigned char>(c)) &&
        !absl::ascii_isdigit(static_cast<unsigned char>(c))) {
      c = '_';
    }
  }
  const std::string of_host = absl::StrCat(kForAll, "_", host);
  return {absl::StrCat(of_host, "_", server.port), of_host, kForAll};
}

absl::StatusOr<std::string> KeyOf(const Endpoint& server,
                                  const VariableLookup& variables) {
  for (const std::string& name : KeyVariables(server)) {
    const char* const given = variables(name);
    if (given == nullptr) continue;
    const std::string key(absl::StripAsciiWhitespace(given));
    for (const char c : key) {
      if (c > ' ' && c < 0x7f) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          "the key in the environment variable ", name,
          " has a blank, a control character or a letter outside of ASCII; set "
          "it to the key alone"));
    }
    return key;
  }
  return std::string();
}

std::string KeyPlace(const Endpoint& server) {
  const std::vector<std::string> names = KeyVariables(server);
  return absl::StrCat("the first of the environment variables ", names[0], ", ",
                      names[1], " and ", names[2], " that is set");
}

std::string WithoutKey(std::string text, const std::string& key) {
  constexpr size_t kShortest = 8;
  if (key.size() < kShortest) return text;
  std::string in_json = JsonText(nlohmann::json(key));
  in_json = in_json.substr(1, in_json.size() - 2);
  for (const std::string& form : {key, in_json}) {
    if (text.find(form) != std::string::npos) {
      text = absl::StrReplaceAll(text, {{form, "(key)"}});
    }
  }
  return text;
}

absl::Status WithoutKey(const absl::Status& status, const std::string& key) {
  if (status.ok()) return status;
  return {status.code(), WithoutKey(std::string(status.message()), key)};
}

}  // namespace espalier
