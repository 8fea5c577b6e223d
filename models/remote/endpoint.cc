#include "models/remote/endpoint.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "base/text.h"

namespace espalier {
namespace {

constexpr absl::string_view kHttp = "http://";
constexpr absl::string_view kHttps = "https://";

absl::Status Refuse(absl::string_view url, absl::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat("server \"", url, "\": ", why,
                   "; expected http://HOST[:PORT][/PATH] or https://..."));
}

// Sets `host` and `port` from "host", "host:80" or "[::1]:80".
absl::Status ParseAuthority(absl::string_view url, absl::string_view text,
                            Endpoint& endpoint) {
  absl::string_view port;
  bool has_port = false;
  if (absl::ConsumePrefix(&text, "[")) {
    const size_t end = text.find(']');
    if (end == absl::string_view::npos) {
      return Refuse(url, "an address begins with [ and has no ]");
    }
    endpoint.host = std::string(text.substr(0, end));
    port = text.substr(end + 1);
    has_port = absl::ConsumePrefix(&port, ":");
    if (!has_port && !port.empty()) {
      return Refuse(url, "something follows the ] of an address");
    }
  } else {
    const size_t colon = text.find(':');
    endpoint.host = std::string(text.substr(0, colon));
    has_port = colon != absl::string_view::npos;
    if (has_port) port = text.substr(colon + 1);
  }
  if (endpoint.host.empty()) return Refuse(url, "no host is named");
  for (const char c : endpoint.host) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) {
      return Refuse(url, "the host has a blank or a control character");
    }
  }
  endpoint.port = endpoint.https ? 443 : 80;
  if (!has_port) return absl::OkStatus();
  if (!absl::SimpleAtoi(port, &endpoint.port) || endpoint.port < 1 ||
      endpoint.port > 65535) {
    return Refuse(url, "the port is not a number from 1 to 65535");
  }
  return absl::OkStatus();
}

absl::StatusOr<Endpoint> ParseEndpoint(absl::string_view url) {
  Endpoint endpoint;
  absl::string_view rest = url;
  endpoint.https = absl::StartsWithIgnoreCase(url, kHttps);
  if (!endpoint.https && !absl::StartsWithIgnoreCase(url, kHttp)) {
    return Refuse(url, "no URL");
  }
  rest.remove_prefix(endpoint.https ? kHttps.size() : kHttp.size());
  const size_t slash = rest.find('/');
  const absl::string_view authority = rest.substr(0, slash);
  if (absl::StrContains(authority, "@")) {
    return absl::InvalidArgumentError(
        "a server's URL has a user name or a password, which would be recorded "
        "with the run; leave it out and put the key into the environment "
        "variable ESPALIER_API_KEY");
  }
  if (absl::StrContains(rest, "?")) {
    return absl::InvalidArgumentError(
        "a server's URL has a query (?...), where keys stand that would be "
        "recorded with the run; leave it out and put the key into the "
        "environment variable ESPALIER_API_KEY");
  }
  ESP_RETURN_IF_ERROR(ParseAuthority(url, authority, endpoint));
  if (slash != absl::string_view::npos) {
    absl::string_view path = rest.substr(slash);
    while (absl::ConsumeSuffix(&path, "/")) {
    }
    absl::ConsumeSuffix(&path, "/v1");
    endpoint.path = std::string(path);
  }
  for (const char c : endpoint.path) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) {
      return Refuse(url, "the path has a blank or a control character");
    }
  }
  return endpoint;
}

}  // namespace

std::string Endpoint::Url() const {
  const bool address6 = host.find(':') != std::string::npos;
  return absl::StrCat(https ? kHttps : kHttp, address6 ? "[" : "", host,
                      address6 ? "]" : "", ":", port, path);
}

bool IsRemoteModel(std::string_view text) {
  return absl::StartsWithIgnoreCase(AbslView(text), kHttp) ||
         absl::StartsWithIgnoreCase(AbslView(text), kHttps);
}

absl::StatusOr<RemoteModel> ParseRemoteModel(std::string_view text) {
  RemoteModel model;
  const size_t mark = text.find('#');
  if (mark != std::string_view::npos) {
    model.name = std::string(text.substr(mark + 1));
    if (model.name.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", AbslView(text),
                       "\": no name follows the #; expected URL#NAME, "
                       "or the URL alone where the server offers one model"));
    }
  }
  if (model.name.find(",http") != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", AbslView(text),
                     "\": the servers of one model are given as URL,URL#NAME, "
                     "with the model's name after the last"));
  }
  const std::string_view urls = text.substr(0, mark);
  for (const absl::string_view url : absl::StrSplit(AbslView(urls), ',')) {
    ESP_ASSIGN_OR_RETURN(model.servers.emplace_back(), ParseEndpoint(url));
  }
  return model;
}

}  // namespace espalier
