#include "base/text_proto.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/io/tokenizer.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/check.h"

namespace espalier {
namespace {

// Keeps the first error. protobuf counts lines and columns from 0.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column,
                const std::string& message) override {
    if (!text.empty()) return;
    // Without the full stop: the sentence goes on.
    text = absl::StrCat(line + 1, ":", column + 1, ": ",
                        absl::StripSuffix(message, "."));
  }
  std::string text;
};

}  // namespace

absl::Status TextProtoPlaces::Error(const char* field, int index,
                                    const std::string& message) const {
  const auto* descriptor = descriptor_->FindFieldByName(field);
  ESP_CHECK(descriptor != nullptr);
  if (descriptor->is_repeated() && index < 0) index = 0;
  const int line = tree_.GetLocation(descriptor, index).line;
  return absl::InvalidArgumentError(
      line < 0
          ? absl::StrCat(where_, ": ", field, ": ", message)
          : absl::StrCat(where_, ":", line + 1, ": ", field, ": ", message));
}

absl::Status ParseTextProto(const std::string& text, const std::string& where,
                            const std::string& example,
                            google::protobuf::Message& message,
                            TextProtoPlaces* places) {
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  const auto* descriptor = message.GetDescriptor();
  if (places != nullptr) {
    places->where_ = where;
    places->descriptor_ = descriptor;
    parser.WriteLocationsTo(&places->tree_);
  }
  if (parser.ParseFromString(text, &message)) return absl::OkStatus();
  std::string fields;
  for (int i = 0; i < descriptor->field_count(); ++i) {
    absl::StrAppend(&fields, i == 0 ? "" : ", ", descriptor->field(i)->name());
  }
  return absl::InvalidArgumentError(absl::StrCat(where, ":", error.text,
                                                 "; expected lines like  ",
                                                 example, "  of ", fields));
}

}  // namespace espalier
