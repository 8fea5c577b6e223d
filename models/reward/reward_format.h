// The formats of reward models, as people publish them: how question and steps
// are laid out, where the verdict is read, with what head, and what it means.
//
//   ESP_ASSIGN_OR_RETURN(const RewardFolder folder, ReadRewardFolder(path));
//   ESP_ASSIGN_OR_RETURN(const RewardFormat format, RecogniseFormat(folder));
//   ESP_RETURN_IF_ERROR(CheckTensors(format, folder));
//
// Formats are text files (reward_format.proto). Shipped ones, in
// models/reward/formats, are compiled into the program; a new public format is
// a new file.
//
//   TEXT        question_prefix q question_suffix
//               step_prefix step step_suffix tag  between  step_prefix ...
//   IDS         the same, but the question, each step with its prefix, each
//               suffix, tag and between are encoded one by one
//   CHAT        the chat template's prompt for q, then steps as in TEXT
//   CHAT_TURNS  user: q step, assistant: tag, user: step, assistant: tag, ...
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_REWARD_REWARD_FORMAT_H_
#define ESPALIER_MODELS_REWARD_REWARD_FORMAT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/preset_file.h"
#include "espalier/scores.h"
#include "models/reward/reward_folder.h"

namespace espalier {

enum class RewardLayout : uint8_t { kText, kIds, kChat, kChatTurns };
enum class RewardUnit : uint8_t { kStep, kResponse };
enum class RewardRead : uint8_t { kAtTag, kBeforeTag, kLastToken, kEnd };
enum class TagInStep : uint8_t { kRefuse, kKeep, kSplit };
enum class RewardSquash : uint8_t {
  kNone,
  kSigmoid,
  kSoftmax,     // the probability of `label`
  kDifference,  // p1 - p0
  kSum,         // p1 + p2
};
enum class RewardRange : uint8_t {
  kProbability,  // [0, 1]
  kSigned,       // [-1, 1]
  kReal,
};

// The fields of RewardFormatConfig, checked.
struct RewardFormat {
  struct Layer {
    std::string weight;  // tensor [outputs, inputs]
    std::string bias;    // tensor [outputs]; "": none
    bool bias_optional = false;
    bool mean = false;  // one output, the mean of the tensor's
  };

  // The fields of RewardVerdict.
  struct Verdict {
    struct Round {
      std::string say;
      std::vector<std::string> stops;
      int tokens = 0;
      bool keep_stop = false;
    };
    std::vector<Round> rounds;  // at least one
    std::string closes;
    int votes = 1;
    float temperature = 0;
    float top_p = 1;
    int top_k = 0;
    std::string history_prefix, history_suffix;
    std::vector<std::string> again;

    bool has_history() const { return !history_prefix.empty(); }
  };

  std::string name;  // of the shipped format, or of the file
  std::string text;  // the whole file on one line, without comments
  std::string summary;
  std::string source;
  std::vector<std::string> architectures;
  bool only_by_name = false;

  RewardLayout layout = RewardLayout::kText;
  RewardUnit unit = RewardUnit::kStep;
  std::string template_name = "auto";
  std::optional<std::string> system;
  bool bos = false;
  bool prompt = false;      // the policy's prompt in place of the question
  bool as_written = false;  // steps with the white space around them
  std::string question_prefix, question_suffix;
  std::string step_prefix, step_suffix;
  std::string tag;
  int32_t tag_id = -1;  // -1: not given
  std::string between;
  // If the judged steps stand apart from those before: around both.
  std::string focus_prefix, history_prefix, history_suffix, alone_suffix;
  int window = 1;  // steps that are judged together
  TagInStep tag_in_step = TagInStep::kRefuse;
  RewardRead read = RewardRead::kAtTag;

  std::vector<Layer> head;  // empty: ln p of the choices
  int labels = 0;           // outputs of the head, or choices
  std::vector<std::string> choices;
  std::vector<int32_t> choice_ids;
  RewardSquash squash = RewardSquash::kNone;
  int label = 0;
  int path_label = -1;  // -1: none
  // Of Espalier's own heads: the levels of each output (config.json), in place
  // of label and path_label. An ensemble has `labels` / outputs heads.
  std::vector<LevelSet> outputs = {};
  RewardRange range = RewardRange::kProbability;
  // 0: none. Else the one output is this factor times the sum over the
  // response's tokens of ln p by the model minus ln p by a reference model.
  double log_ratio = 0;
  // 0: none. Else the value is this factor times ln p of the one choice minus
  // log_prob_base, bounded to [0, 1].
  double log_prob = 0;
  double log_prob_base = 0;
  std::vector<std::string> control;  // control tokens that its texts spell
  // Of a head, or of the choices' logits, that a server computes: what it
  // gives. Unset: it is found out.
  std::optional<bool> probabilities = {};
  std::optional<Verdict> verdict;

  bool chat() const {
    return layout == RewardLayout::kChat || layout == RewardLayout::kChatTurns;
  }
  // Reads two models.
  bool compares() const { return log_ratio != 0; }
  // The model writes its verdict.
  bool writes() const { return verdict.has_value(); }
  // The path's score is made from its steps' scores.
  bool path_from_steps() const {
    return unit == RewardUnit::kStep && path_label < 0 && !compares();
  }
  bool has_tag() const { return !tag.empty() || tag_id >= 0; }
};

// `where` names the text in messages, `name` the format. InvalidArgument gives
// `where` and the line of an unknown key, an unknown value or a contradiction.
absl::StatusOr<RewardFormat> ParseRewardFormat(const std::string& text,
                                               const std::string& where,
                                               const std::string& name);

// The shipped format of this name, or the format in the file NAME.textproto.
// NAME:votes=8 takes so many votes of a format that writes its verdicts,
// NAME:rounds=3 lets it think so often before it decides. NAME:outputs=logits
// and NAME:outputs=probabilities say what the server of a head, or one that
// pools the choices' logits, gives.
// NotFound names the closest.
absl::StatusOr<RewardFormat> ReadRewardFormat(const std::string& name);

// The shipped formats in alphabetical order.
const std::vector<RewardFormat>& ShippedRewardFormats();

// The shipped format that the folder's class and tensors identify. NotFound
// says what was looked for.
absl::StatusOr<RewardFormat> RecogniseFormat(const RewardFolder& folder);

// InvalidArgument unless the folder has the format's head, in shape.
absl::Status CheckTensors(const RewardFormat& format,
                          const RewardFolder& folder);

// Generated by the build from the files in models/reward/formats.
absl::Span<const PresetFile> RewardFormatFiles();

}  // namespace espalier

#endif  // ESPALIER_MODELS_REWARD_REWARD_FORMAT_H_
