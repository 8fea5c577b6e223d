// What a server says of an error.
#ifndef ESPALIER_MODELS_REMOTE_SERVER_MESSAGE_H_
#define ESPALIER_MODELS_REMOTE_SERVER_MESSAGE_H_

#include <string>

namespace espalier {

// What a server says of an error, in one line: {"error": {"message": ...}},
// {"message": ...}, {"detail": ...} or the text itself; cut short, without
// control characters and bytes that are not UTF-8, and with "(key)" for `key`,
// which some servers repeat.
std::string ServerMessage(const std::string& body, const std::string& key);

}  // namespace espalier

#endif  // ESPALIER_MODELS_REMOTE_SERVER_MESSAGE_H_
