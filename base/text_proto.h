// Files in protobuf's text form, with the place of every error.
//
//   PromptConfig config;
//   TextProtoPlaces places;
//   ESP_RETURN_IF_ERROR(ParseTextProto(text, "my.textproto", "tag: \"x\"",
//                                      config, &places));
//   if (config.tag().empty()) return places.Error("tag", -1, "is empty");
//
// Thread-compatible.
#ifndef ESPALIER_BASE_TEXT_PROTO_H_
#define ESPALIER_BASE_TEXT_PROTO_H_

#include <google/protobuf/message.h>
#include <google/protobuf/text_format.h>

#include <string>

#include "absl/status/status.h"

namespace espalier {

// Where the fields of a parsed text are.
class TextProtoPlaces {
 public:
  // InvalidArgument with file, line and `field`; `index` of a repeated field,
  // else -1. Requires a field of the parsed message.
  absl::Status Error(const char* field, int index,
                     const std::string& message) const;

 private:
  friend absl::Status ParseTextProto(const std::string&, const std::string&,
                                     const std::string&,
                                     google::protobuf::Message&,
                                     TextProtoPlaces*);
  std::string where_;
  const google::protobuf::Descriptor* descriptor_ = nullptr;
  google::protobuf::TextFormat::ParseInfoTree tree_;
};

// `where` names the text in errors. InvalidArgument gives line and column of
// the first error, the line that `example` shows and the known fields.
absl::Status ParseTextProto(const std::string& text, const std::string& where,
                            const std::string& example,
                            google::protobuf::Message& message,
                            TextProtoPlaces* places = nullptr);

}  // namespace espalier

#endif  // ESPALIER_BASE_TEXT_PROTO_H_
