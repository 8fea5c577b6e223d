// The names of models that live behind servers.
//
//   ParseRemoteModel("http://a:8000,http://b:8000/proxy#qwen3").value();
//   // two servers that offer the model "qwen3"
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_REMOTE_ENDPOINT_H_
#define ESPALIER_MODELS_REMOTE_ENDPOINT_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace espalier {

struct Endpoint {
  bool https = false;
  std::string host;  // an IPv6 address without its brackets
  int port = 0;
  std::string
      path;  // before the API's own, such as "/proxy"; no "/" at the end
  // Sent as a bearer token; "": none. Not read from a URL, nor part of one:
  // KeyOf (server_key.h).
  std::string key = {};

  std::string Url() const;  // "http://a:8000/proxy"
  bool operator==(const Endpoint&) const = default;
};

struct RemoteModel {
  std::vector<Endpoint> servers;  // at least one; they offer the same model
  std::string name;               // "": the only one that the server offers

  bool operator==(const RemoteModel&) const = default;
};

// True for what ParseRemoteModel is for: a text with "http://" or "https://" at
// its beginning.
bool IsRemoteModel(std::string_view text);

// InvalidArgument for what is not URL[,URL...][#NAME], for user names and
// passwords in a URL (they would be recorded with the run), and for queries. A
// "/v1" at the end of a URL's path is left out: it belongs to the API.
absl::StatusOr<RemoteModel> ParseRemoteModel(std::string_view text);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_ENDPOINT_H_
