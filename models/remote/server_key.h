// The key that a server is told: its host's own, or that of all servers.
//
//   // ESPALIER_API_KEY_GPU1_8000, ESPALIER_API_KEY_GPU1 or ESPALIER_API_KEY,
//   // whichever is set first.
//   ESP_ASSIGN_OR_RETURN(server.key, KeyOf(server, variables));
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_REMOTE_SERVER_KEY_H_
#define ESPALIER_MODELS_REMOTE_SERVER_KEY_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/remote/endpoint.h"

namespace espalier {

// The value of an environment variable; null if it is not set.
using VariableLookup = std::function<const char*(const std::string& name)>;

// The variables that may hold the server's key, the most specific first:
// ESPALIER_API_KEY_HOST_PORT, ESPALIER_API_KEY_HOST, ESPALIER_API_KEY. HOST is
// in capitals, with _ for every character that is neither A-Z nor 0-9.
std::vector<std::string> KeyVariables(const Endpoint& server);

// The value of the first of KeyVariables that is set, without the blanks around
// it; "" if none is. One that is set to "" keeps the others' from the server.
// InvalidArgument, without the key, for one that no header can hold.
absl::StatusOr<std::string> KeyOf(const Endpoint& server,
                                  const VariableLookup& variables);

// Where the key comes from, for messages: "the first of the environment
// variables ... that is set".
std::string KeyPlace(const Endpoint& server);

// The text, or the status with its message, with "(key)" for the key, also as
// JSON writes it: servers repeat what they were sent. Keys of fewer than 8
// characters stay, since they may be part of any text.
std::string WithoutKey(std::string text, const std::string& key);
absl::Status WithoutKey(const absl::Status& status, const std::string& key);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_SERVER_KEY_H_
