// Replies of the OpenAI API.
//
//   ApiReply reply(request, /*number=*/7);
//   exchange->Reply(200, "application/json", reply.Whole(result));
//
// or, in a stream, one event after the other:
//
//   exchange->Send(reply.Start());
//   exchange->Send(reply.Reasoning(snapshot));     // any number of times
//   exchange->Send(reply.Rest(result));            // to the end
//
// Events are those of server-sent events, "data: {...}\n\n". Externally
// synchronised.
#ifndef ESPALIER_SRC_SERVE_API_REPLY_H_
#define ESPALIER_SRC_SERVE_API_REPLY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/search_result.h"
#include "nlohmann/json_fwd.hpp"
#include "src/serve/api_request.h"

namespace espalier {

class ApiReply {
 public:
  // `number` tells replies of a server apart. `created`: seconds since 1970.
  ApiReply(const ApiRequest& request, uint64_t number, int64_t created);

  std::string Whole(const SearchResult& result) const;

  // The first event of a chat's stream; "" for a completion's.
  std::string Start() const;
  // The steps of the best path that were not shown yet; "" if there are none.
  // Where the path is another one than before, a line says from which step on.
  // What may turn out to be part of a stop string is held back.
  std::string Reasoning(const std::vector<TreeNode>& steps);
  // The response, how it ended, the usage if it is asked for, and [DONE].
  std::string Rest(const SearchResult& result) const;

 private:
  nlohmann::json Head(bool chunk) const;
  // The response before the request's stop strings.
  std::string_view Response(const SearchResult& result) const;
  const char* FinishReason(const SearchResult& result) const;
  nlohmann::json Search(const SearchResult& result) const;
  std::string Delta(nlohmann::json delta) const;

  const bool chat_, include_usage_, tree_;
  const std::string id_, model_;
  const int64_t created_;
  const uint64_t seed_;
  const std::vector<std::string> ignored_, stops_;
  std::vector<std::string> shown_;
  bool held_back_ = false;  // the end of the last step shown
};

// One event of a stream.
std::string Event(const std::string& data);

// `text` in pieces, one for each of `steps` as far as they spell it, none of
// which ends within a character.
std::vector<std::string_view> PiecesOf(std::string_view text,
                                       const std::vector<TreeNode>& steps);

}  // namespace espalier

#endif  // ESPALIER_SRC_SERVE_API_REPLY_H_
