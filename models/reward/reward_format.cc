#include "models/reward/reward_format.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/files.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "base/text_proto.h"
#include "models/checkpoint/safetensors.h"
#include "models/prompt/chat_template.h"
#include "models/reward/reward_format.pb.h"

namespace espalier {
namespace {

using google::protobuf::TextFormat;

constexpr int kMostLabels = 64;
constexpr int kMostLayers = 2;
constexpr int kMostVotes = 1024;
// Of log_prob and its base.
constexpr double kMostFactor = 1e3, kLeastLogProb = -1e6;
// What may follow a format's name.
constexpr std::string_view kVotes = ":votes=", kRounds = ":rounds=",
                           kOutputs = ":outputs=";

// The text of a file, for errors that give the line.
struct FormatSource {
  RewardFormatConfig config;
  TextProtoPlaces places;

  absl::Status Error(const char* field, const std::string& message,
                     int index = -1) const {
    return places.Error(field, index, message);
  }
};

absl::Status ReadLayout(const FormatSource& source, RewardFormat& format) {
  const RewardFormatConfig& config = source.config;
  if (config.layout() == RewardFormatConfig::LAYOUT_UNSET) {
    return source.Error("layout",
                        "expected TEXT, IDS, CHAT or CHAT_TURNS, found none");
  }
  format.layout = static_cast<RewardLayout>(config.layout() - 1);
  format.unit = static_cast<RewardUnit>(config.unit());
  if (!format.chat()) {
    if (!config.template_().empty()) {
      return source.Error("template", "only CHAT and CHAT_TURNS have one");
    }
    if (config.has_system()) {
      return source.Error("system", "only CHAT and CHAT_TURNS have one");
    }
  }
  if (!config.template_().empty()) format.template_name = config.template_();
  if (format.template_name != "auto") {
    const auto known = ChatTemplate::Named(format.template_name).status();
    if (!known.ok()) {
      return source.Error("template", std::string(known.message()));
    }
  }
  if (config.has_system()) format.system = config.system();
  format.bos = config.bos();
  if (format.bos && format.layout != RewardLayout::kIds) {
    return source.Error("bos",
                        "only the layout IDS has it; in others the tokenizer "
                        "or the chat template decides");
  }
  format.prompt = config.prompt();
  format.as_written = config.as_written();
  if (format.prompt && format.layout != RewardLayout::kText) {
    return source.Error("prompt", "only the layout TEXT has it");
  }
  format.question_prefix = config.question_prefix();
  format.question_suffix = config.question_suffix();
  format.step_prefix = config.step_prefix();
  format.step_suffix = config.step_suffix();
  format.between = config.between();
  if (!format.between.empty() && format.layout == RewardLayout::kChatTurns) {
    return source.Error("between",
                        "the chat template separates turns; leave it out");
  }
  return absl::OkStatus();
}

absl::Status ReadFocus(const FormatSource& source, RewardFormat& format) {
  const RewardFormatConfig& config = source.config;
  format.focus_prefix = config.focus_prefix();
  format.history_prefix = config.history_prefix();
  format.history_suffix = config.history_suffix();
  format.alone_suffix = config.alone_suffix();
  if (format.focus_prefix.empty()) {
    for (const auto& [key, given] :
         {std::pair("history_prefix", !format.history_prefix.empty()),
          std::pair("history_suffix", !format.history_suffix.empty()),
          std::pair("alone_suffix", !format.alone_suffix.empty()),
          std::pair("window", config.window() != 0)}) {
      if (given) {
        return source.Error(key,
                            "needs focus_prefix, after which the judged "
                            "steps stand apart from those before");
      }
    }
    return absl::OkStatus();
  }
  if (format.layout != RewardLayout::kText ||
      format.read != RewardRead::kLastToken ||
      format.unit != RewardUnit::kStep) {
    return source.Error("focus_prefix",
                        "goes with layout: TEXT, unit: STEP and read: "
                        "LAST_TOKEN");
  }
  if (config.window() == 0) return absl::OkStatus();
  format.window = config.window();
  if (format.window < 1 || format.window > kMaxWindow) {
    return source.Error(
        "window", absl::StrCat("expected 1 to ", kMaxWindow, " steps, found ",
                               format.window));
  }
  return absl::OkStatus();
}

absl::Status ReadTag(const FormatSource& source, RewardFormat& format) {
  const RewardFormatConfig& config = source.config;
  format.tag = config.tag();
  if (config.tag_id() < 0) {
    return source.Error("tag_id", absl::StrCat("expected a token's id, found ",
                                               config.tag_id()));
  }
  if (config.tag_id() > 0) format.tag_id = config.tag_id();
  format.tag_in_step = static_cast<TagInStep>(config.tag_in_step());
  if (config.has_verdict()) {
    if (config.read() != RewardFormatConfig::READ_UNSET || format.has_tag()) {
      return source.Error("read",
                          "a verdict is read where its rounds say; leave out "
                          "read and tag");
    }
    format.read = RewardRead::kLastToken;
    return absl::OkStatus();
  }
  if (config.read() == RewardFormatConfig::READ_UNSET) {
    return source.Error(
        "read", "expected AT_TAG, BEFORE_TAG, LAST_TOKEN or END, found none");
  }
  format.read = static_cast<RewardRead>(config.read() - 1);
  const bool reads_tag = format.read == RewardRead::kAtTag ||
                         format.read == RewardRead::kBeforeTag;
  if (reads_tag != format.has_tag()) {
    return source.Error(
        reads_tag            ? "read"
        : format.tag.empty() ? "tag_id"
                             : "tag",
        reads_tag ? "is at a tag, and neither tag nor tag_id is given"
                  : "is not read; expected read: AT_TAG or BEFORE_TAG");
  }
  const bool turns = format.layout == RewardLayout::kChatTurns;
  if (turns != (format.read == RewardRead::kBeforeTag)) {
    return source.Error("read",
                        "BEFORE_TAG and the layout CHAT_TURNS, in which the "
                        "assistant says the tag, go together");
  }
  if (format.has_tag() && format.tag.empty() &&
      format.layout != RewardLayout::kIds) {
    return source.Error("tag_id",
                        "tells only the layout IDS what stands after a step; "
                        "give the tag's text in tag");
  }
  if (format.tag_in_step == TagInStep::kSplit && format.tag.empty()) {
    return source.Error("tag_in_step", "SPLIT needs the tag's text in tag");
  }
  if (format.tag_in_step != TagInStep::kRefuse && !format.has_tag()) {
    return source.Error("tag_in_step", "there is no tag");
  }
  if (format.read == RewardRead::kEnd && format.layout != RewardLayout::kChat &&
      !format.prompt) {
    return source.Error("read",
                        "END reads after what the chat template closes a "
                        "message with, or after the end token of a response to "
                        "the policy's prompt; expected the layout CHAT, or "
                        "prompt, or LAST_TOKEN");
  }
  return absl::OkStatus();
}

absl::Status ReadComparison(const FormatSource& source, RewardFormat& format) {
  if (!(format.log_ratio > 0) || !std::isfinite(format.log_ratio)) {
    return source.Error(
        "log_ratio",
        absl::StrCat("expected a factor above 0, found ", format.log_ratio));
  }
  if (source.config.labels() != 0) {
    return source.Error("labels", "a head has them, a log_ratio does not");
  }
  if (format.layout == RewardLayout::kIds || format.unit != RewardUnit::kStep ||
      format.read != RewardRead::kLastToken) {
    return source.Error("log_ratio",
                        "sums up to the last token of a step; expected layout: "
                        "TEXT or CHAT, unit: STEP and read: LAST_TOKEN");
  }
  format.labels = 1;
  return absl::OkStatus();
}

absl::Status ReadLogProb(const FormatSource& source, RewardFormat& format) {
  const RewardFormatConfig& config = source.config;
  format.log_prob = config.log_prob();
  format.log_prob_base = config.log_prob_base();
  if (format.log_prob == 0 && format.log_prob_base != 0) {
    return source.Error("log_prob_base", "needs log_prob");
  }
  if (format.log_prob == 0) return absl::OkStatus();
  if (!(format.log_prob > 0) || format.log_prob > kMostFactor) {
    return source.Error("log_prob",
                        absl::StrCat("expected a factor above 0, up to ",
                                     kMostFactor, ", found ", format.log_prob));
  }
  if (!(format.log_prob_base < 0) || format.log_prob_base < kLeastLogProb) {
    return source.Error(
        "log_prob_base",
        absl::StrCat("expected a log-prob below 0, from ", kLeastLogProb,
                     ", found ", format.log_prob_base));
  }
  if (!format.head.empty() || config.has_verdict()) {
    return source.Error("log_prob",
                        "is of a choice's token; expected no head and no "
                        "verdict");
  }
  if (config.squash() != RewardFormatConfig::NONE ||
      config.range() != RewardFormatConfig::PROBABILITY) {
    return source.Error("log_prob",
                        "gives values in [0, 1]; expected squash: NONE and "
                        "range: PROBABILITY");
  }
  return absl::OkStatus();
}

absl::Status ReadFormatHead(const FormatSource& source, RewardFormat& format) {
  const RewardFormatConfig& config = source.config;
  for (const RewardHeadLayer& layer : config.head()) {
    if (layer.weight().empty()) {
      return source.Error("head", "expected a weight, found none",
                          static_cast<int>(format.head.size()));
    }
    format.head.push_back(
        {layer.weight(), layer.bias(), layer.bias_optional(), layer.mean()});
  }
  if (format.head.size() > kMostLayers) {
    return source.Error(
        "head",
        absl::StrCat("expected one or two layers, found ", format.head.size()),
        kMostLayers);
  }
  format.log_ratio = config.log_ratio();
  format.choices.assign(config.choice().begin(), config.choice().end());
  format.choice_ids.assign(config.choice_id().begin(),
                           config.choice_id().end());
  const size_t choices = format.choices.size() + format.choice_ids.size();
  const int given = !format.head.empty() + !format.choices.empty() +
                    !format.choice_ids.empty() + format.compares();
  if (given != 1) {
    return source.Error(
        "head",
        "expected either head tensors, or two tokens as choice or "
        "choice_id, or one with log_prob, or a log_ratio, found " +
            std::string(given == 0 ? "none of them" : "more than one of them"));
  }
  if (format.compares()) return ReadComparison(source, format);
  ESP_RETURN_IF_ERROR(ReadLogProb(source, format));
  if (format.head.empty()) {
    if (config.labels() != 0) {
      return source.Error("labels", "a head has them, choices do not");
    }
    format.labels = config.log_prob() == 0 ? 2 : 1;
    if (choices != static_cast<size_t>(format.labels)) {
      return source.Error(
          format.choices.empty() ? "choice_id" : "choice",
          absl::StrCat("expected ",
                       format.labels == 1 ? "one with log_prob"
                                          : "two, or one with log_prob",
                       ", found ", choices));
    }
    return absl::OkStatus();
  }
  format.labels = config.labels();
  if (format.labels < 1 || format.labels > kMostLabels) {
    return source.Error(
        "labels", absl::StrCat("expected 1 to ", kMostLabels,
                               " outputs of the head, found ", format.labels));
  }
  for (size_t i = 0; i < format.head.size(); ++i) {
    if (!format.head[i].mean) continue;
    if (i + 1 < format.head.size() || format.labels != 1) {
      return source.Error("head",
                          "mean is for the last layer of a head with labels: 1",
                          static_cast<int>(i));
    }
  }
  return absl::OkStatus();
}

// "[2, h]": the shape of the last layer's tensor.
std::string LastShape(const RewardFormat& format) {
  return format.head.back().mean ? "[outputs, h]"
                                 : absl::StrCat("[", format.labels, ", h]");
}

absl::Status ReadValue(const FormatSource& source, RewardFormat& format) {
  const RewardFormatConfig& config = source.config;
  if (config.squash() == RewardFormatConfig::SQUASH_UNSET) {
    return source.Error("squash",
                        "expected NONE, SIGMOID, SOFTMAX, DIFFERENCE or SUM, "
                        "found none");
  }
  format.squash = static_cast<RewardSquash>(config.squash() - 1);
  format.label = config.label();
  if (format.label < 0 || format.label >= format.labels) {
    return source.Error(
        "label", absl::StrCat("expected 0 to ", format.labels - 1,
                              ", an output of the head, found ", format.label));
  }
  if (config.has_path_label()) {
    format.path_label = config.path_label();
    if (format.path_label < 0 || format.path_label >= format.labels) {
      return source.Error(
          "path_label",
          absl::StrCat("expected 0 to ", format.labels - 1,
                       ", an output of the head, found ", format.path_label));
    }
    if (format.path_label != format.label &&
        format.squash != RewardSquash::kNone &&
        format.squash != RewardSquash::kSigmoid) {
      return source.Error("path_label",
                          "expected squash: NONE or SIGMOID, which leave each "
                          "output a value of its own");
    }
  }
  const int needed = format.squash == RewardSquash::kSum          ? 3
                     : format.squash == RewardSquash::kDifference ? 2
                     : format.squash == RewardSquash::kSoftmax    ? 2
                                                                  : 1;
  if (format.labels < needed) {
    return source.Error(
        "squash", absl::StrCat("needs at least ", needed, " outputs, found ",
                               format.labels));
  }
  if (config.range() == RewardFormatConfig::RANGE_UNSET) {
    return source.Error("range",
                        "expected PROBABILITY (0 to 1), SIGNED (-1 to 1) or "
                        "REAL, found none");
  }
  format.range = static_cast<RewardRange>(config.range() - 1);
  const RewardRange made =
      format.squash == RewardSquash::kNone         ? RewardRange::kReal
      : format.squash == RewardSquash::kDifference ? RewardRange::kSigned
                                                   : RewardRange::kProbability;
  // A head may give probabilities itself; no other squash leaves its range.
  if (made != RewardRange::kReal && format.range != made) {
    return source.Error("range", made == RewardRange::kSigned
                                     ? "expected SIGNED for this squash"
                                     : "expected PROBABILITY for this squash");
  }
  return absl::OkStatus();
}

absl::Status ReadVerdict(const FormatSource& source, RewardFormat& format) {
  const RewardFormatConfig& config = source.config;
  format.control.assign(config.control().begin(), config.control().end());
  if (!format.control.empty() && format.layout != RewardLayout::kText) {
    return source.Error("control",
                        "only the layout TEXT has them; in CHAT the template "
                        "writes control tokens");
  }
  if (!config.has_verdict()) return absl::OkStatus();
  const RewardVerdict& given = config.verdict();
  const auto bad = [&](const std::string& message) {
    return source.Error("verdict", message);
  };
  if (format.layout != RewardLayout::kText ||
      format.unit != RewardUnit::kStep || format.as_written) {
    return bad("expected layout: TEXT and unit: STEP, without as_written");
  }
  if (!format.head.empty() || format.compares() ||
      format.squash != RewardSquash::kSoftmax) {
    return bad(
        "is the probability of one of two choices; expected choice or "
        "choice_id, and squash: SOFTMAX");
  }
  RewardFormat::Verdict verdict;
  for (const RewardVerdict::Round& round : given.round()) {
    if (round.tokens() < 0) {
      return bad(absl::StrCat("expected 0 or more tokens of a round, found ",
                              round.tokens()));
    }
    if (round.say().empty()) return bad("each round needs a say");
    verdict.rounds.push_back({round.say(),
                              {round.stop().begin(), round.stop().end()},
                              round.tokens(),
                              round.keep_stop()});
  }
  if (verdict.rounds.empty()) return bad("expected a round, found none");
  verdict.closes = given.closes();
  for (size_t i = 0; i < verdict.rounds.size(); ++i) {
    const bool last = i + 1 == verdict.rounds.size();
    const bool writes = verdict.rounds[i].tokens > 0;
    if (writes == (last && verdict.closes.empty())) {
      return bad(
          last ? "expected closes if the last round writes (tokens above 0), "
                 "and only then"
               : "expected tokens above 0 in every round before the last");
    }
  }
  verdict.again.assign(given.again().begin(), given.again().end());
  for (const std::string& say : verdict.again) {
    if (say.empty()) return bad("expected text in again, found none");
  }
  verdict.votes = given.votes() == 0 ? 1 : given.votes();
  verdict.temperature = given.temperature();
  verdict.top_p = given.top_p() == 0 ? 1 : given.top_p();
  verdict.top_k = given.top_k();
  if (verdict.votes < 1 || verdict.votes > kMostVotes) {
    return bad(absl::StrCat("expected 1 to ", kMostVotes, " votes, found ",
                            verdict.votes));
  }
  if (!(verdict.temperature >= 0) || !(verdict.top_p > 0) ||
      verdict.top_p > 1 || verdict.top_k < 0) {
    return bad(
        "expected a temperature of 0 or more, top_p above 0 up to 1 and top_k "
        "of 0 or more");
  }
  verdict.history_prefix = given.history_prefix();
  verdict.history_suffix = given.history_suffix();
  if (verdict.has_history() && !format.between.empty()) {
    return bad("its history stands between steps; leave out between");
  }
  format.verdict = std::move(verdict);
  return absl::OkStatus();
}

// "score.2.weight [2, h]".
std::string HeadText(const RewardFormat& format) {
  std::string text;
  for (size_t i = 0; i < format.head.size(); ++i) {
    const bool last = i + 1 == format.head.size();
    absl::StrAppend(&text, i == 0 ? "" : ", ", format.head[i].weight, " ",
                    last ? LastShape(format) : std::string("[h, h]"));
  }
  return text;
}

bool HasHead(const RewardFormat& format, const RewardFolder& folder) {
  return !format.head.empty() && CheckTensors(format, folder).ok();
}

bool NamesClass(const RewardFormat& format, const RewardFolder& folder) {
  if (format.architectures.empty()) return !format.head.empty();
  return std::any_of(folder.architectures.begin(), folder.architectures.end(),
                     [&](const std::string& name) {
                       return std::find(format.architectures.begin(),
                                        format.architectures.end(),
                                        name) != format.architectures.end();
                     });
}

// The longest explanation that still says which tensor is at fault.
absl::Status NotRecognised(const RewardFolder& folder) {
  std::string known, named;
  for (const RewardFormat& format : ShippedRewardFormats()) {
    if (format.only_by_name) {
      // Others by name look like one that is recognised.
      if (format.head.empty() || format.head.back().mean) {
        absl::StrAppend(&named, named.empty() ? "" : ", ", format.name);
      }
      continue;
    }
    absl::StrAppend(&known, known.empty() ? "" : "; ", format.name, ": ");
    if (!format.architectures.empty()) {
      absl::StrAppend(&known, absl::StrJoin(format.architectures, " or "),
                      " with ");
    }
    absl::StrAppend(&known, HeadText(format));
  }
  return absl::NotFoundError(absl::StrCat(
      folder.path, ": no reward model is recognised in this folder. Found ",
      folder.architectures.empty()
          ? "no class"
          : "class " + absl::StrJoin(folder.architectures, ", "),
      " in config.json. Looked for reward_head.weight (Espalier's own); ",
      known, ". A model that answers by tokens of its vocabulary is named: ",
      "--reward-format ", named, ", or a file NAME.textproto"));
}

}  // namespace

absl::StatusOr<RewardFormat> ParseRewardFormat(const std::string& text,
                                               const std::string& where,
                                               const std::string& name) {
  FormatSource source;
  ESP_RETURN_IF_ERROR(ParseTextProto(text, where, "tag: \"<extra_0>\"",
                                     source.config, &source.places));
  RewardFormat format;
  format.name = name;
  TextFormat::Printer printer;
  printer.SetSingleLineMode(true);
  printer.PrintToString(source.config, &format.text);
  format.summary = source.config.summary();
  format.source = source.config.source();
  format.architectures.assign(source.config.architecture().begin(),
                              source.config.architecture().end());
  format.only_by_name = source.config.only_by_name();
  ESP_RETURN_IF_ERROR(ReadLayout(source, format));
  ESP_RETURN_IF_ERROR(ReadTag(source, format));
  ESP_RETURN_IF_ERROR(ReadFocus(source, format));
  ESP_RETURN_IF_ERROR(ReadFormatHead(source, format));
  ESP_RETURN_IF_ERROR(ReadValue(source, format));
  ESP_RETURN_IF_ERROR(ReadVerdict(source, format));
  return format;
}

namespace {

// Lets the model think `rounds` times in place of once.
void SetRounds(int rounds, RewardFormat::Verdict& verdict) {
  std::vector<RewardFormat::Verdict::Round> more;
  for (int r = 1; r < rounds; ++r) {
    more.push_back(verdict.rounds[0]);
    more.back().say = verdict.again[static_cast<size_t>(r) - 1];
  }
  verdict.rounds.insert(verdict.rounds.begin() + 1, more.begin(), more.end());
}

// The format of `name`, which ends in `setting` and a number from `at` on.
absl::StatusOr<RewardFormat> ReadWithSetting(const std::string& name, size_t at,
                                             std::string_view setting) {
  const auto bad = [&](absl::string_view message) {
    return absl::InvalidArgumentError(
        absl::StrCat("reward format ", name, ": ", message));
  };
  if (name.find(setting) != at) {
    return bad(absl::StrCat(AbslView(setting.substr(1)), " is given twice"));
  }
  ESP_ASSIGN_OR_RETURN(RewardFormat format,
                       ReadRewardFormat(name.substr(0, at)));
  const std::string text = name.substr(at + setting.size());
  if (setting == kOutputs) {
    const bool tokens = format.squash == RewardSquash::kSoftmax &&
                        !format.writes() && !format.compares();
    if ((format.head.empty() && !tokens) || !format.outputs.empty()) {
      return bad(absl::StrCat(format.name,
                              " reads no head that a server computes; leave "
                              "out ",
                              name.substr(at)));
    }
    if (text != "logits" && text != "probabilities") {
      return bad(
          absl::StrCat("expected outputs=logits or "
                       "outputs=probabilities, found \"",
                       text, "\""));
    }
    format.probabilities = text == "probabilities";
    absl::StrAppend(&format.text, name.substr(at));
    return format;
  }
  if (!format.writes()) {
    return bad(absl::StrCat(format.name,
                            " reads a verdict that is always the same; leave "
                            "out ",
                            name.substr(at)));
  }
  const bool votes = setting == kVotes;
  const size_t again = format.verdict->again.size();
  if (!votes && again == 0) {
    return bad(absl::StrCat(format.name, " does not think again; leave out ",
                            name.substr(at)));
  }
  const int most = votes ? kMostVotes : static_cast<int>(again) + 1;
  int number = 0;
  if (!absl::SimpleAtoi(text, &number) || number < 1 || number > most) {
    return bad(absl::StrCat("expected 1 to ", most,
                            votes ? " votes" : " rounds", ", found \"", text,
                            "\""));
  }
  if (votes) {
    format.verdict->votes = number;
  } else {
    SetRounds(number, *format.verdict);
  }
  absl::StrAppend(&format.text, name.substr(at));
  return format;
}

}  // namespace

absl::StatusOr<RewardFormat> ReadRewardFormat(const std::string& name) {
  const size_t at = name.rfind(':');
  for (const std::string_view setting : {kVotes, kRounds, kOutputs}) {
    if (at != name.npos && name.compare(at, setting.size(), setting) == 0) {
      return ReadWithSetting(name, at, setting);
    }
  }
  std::vector<std::string> names;
  for (const RewardFormat& format : ShippedRewardFormats()) {
    if (format.name == name) return format;
    names.push_back(format.name);
  }
  if (!absl::EndsWith(name, ".textproto")) {
    return absl::NotFoundError(UnknownName("reward format", name, names) +
                               "; a file of one's own is named NAME.textproto");
  }
  ESP_ASSIGN_OR_RETURN(const std::string text, ReadFile(name));
  return ParseRewardFormat(text, name,
                           std::filesystem::path(name).stem().string());
}

const std::vector<RewardFormat>& ShippedRewardFormats() {
  static const auto& formats = *new std::vector<RewardFormat>([] {
    std::vector<RewardFormat> out;
    for (const PresetFile& file : RewardFormatFiles()) {
      const std::string name(file.name);
      auto format = ParseRewardFormat(std::string(file.text),
                                      "reward format " + name, name);
      ESP_CHECK_OK(format.status());
      out.push_back(*std::move(format));
    }
    return out;
  }());
  return formats;
}

absl::StatusOr<RewardFormat> RecogniseFormat(const RewardFolder& folder) {
  std::vector<const RewardFormat*> fits;
  absl::Status misshapen;
  for (const RewardFormat& format : ShippedRewardFormats()) {
    if (format.only_by_name || !NamesClass(format, folder)) continue;
    if (HasHead(format, folder)) {
      fits.push_back(&format);
    } else if (!format.architectures.empty()) {
      misshapen.Update(CheckTensors(format, folder));
    }
  }
  if (fits.size() == 1) return *fits[0];
  if (fits.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(folder.path, ": fits the reward formats ", fits[0]->name,
                     " and ", fits[1]->name, "; name one by --reward-format"));
  }
  if (!misshapen.ok()) return misshapen;
  return NotRecognised(folder);
}

absl::Status CheckTensors(const RewardFormat& format,
                          const RewardFolder& folder) {
  const auto bad = [&](const std::string& tensor, const std::string& expected,
                       const std::string& found) {
    return absl::InvalidArgumentError(
        absl::StrCat(folder.path, ": the reward format ", format.name,
                     " needs tensor ", tensor, " ", expected, ", found ", found,
                     "; take a folder that holds it, or another format by "
                     "--reward-format"));
  };
  const auto shape_text = [](const std::vector<int64_t>& shape) {
    return "shape " + ShapeText(shape);
  };
  for (size_t i = 0; i < format.head.size(); ++i) {
    const RewardFormat::Layer& layer = format.head[i];
    const bool last = i + 1 == format.head.size();
    const std::string expected =
        last ? LastShape(format) : std::string("[h, h]");
    const std::vector<int64_t>* weight = folder.Shape(layer.weight);
    if (weight == nullptr) return bad(layer.weight, expected, "none");
    if (weight->size() != 2 || (*weight)[0] == 0 ||
        (last && !layer.mean && (*weight)[0] != format.labels) ||
        (!last && folder.Shape(format.head[i + 1].weight) != nullptr &&
         folder.Shape(format.head[i + 1].weight)->back() != (*weight)[0])) {
      return bad(layer.weight, expected, shape_text(*weight));
    }
    if (layer.bias.empty()) continue;
    const std::vector<int64_t>* bias = folder.Shape(layer.bias);
    const std::string rows = absl::StrCat("[", (*weight)[0], "]");
    if (bias == nullptr) {
      if (layer.bias_optional) continue;
      return bad(layer.bias, rows, "none");
    }
    if (*bias != std::vector<int64_t>{(*weight)[0]}) {
      return bad(layer.bias, rows, shape_text(*bias));
    }
  }
  return absl::OkStatus();
}

}  // namespace espalier
