#include "models/reward/step_layout.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/checkpoint/trunk_config_json.h"
#include "models/prompt/encode_prompt.h"
#include "models/prompt/find_template.h"

namespace espalier {
namespace {

constexpr char kNumber[] = "{i}";

// A merge over a step's end seldom reaches further back than this many tokens;
// if it does, its whole step is computed again.
constexpr size_t kSeam = 4;

std::string Quote(std::string_view text) {
  constexpr size_t kShown = 40;
  const bool cut = text.size() > kShown;
  return absl::StrCat("\"", absl::CHexEscape(AbslView(text.substr(0, kShown))),
                      cut ? "...\"" : "\"");
}

std::string Stripped(std::string_view text) {
  return std::string(absl::StripAsciiWhitespace(AbslView(text)));
}

// True if `unit` begins as `prefix` does, with any number for {i}.
bool BeginsNumbered(std::string_view unit, std::string_view prefix) {
  const size_t at = prefix.find(kNumber);
  if (at == prefix.npos || !unit.starts_with(prefix.substr(0, at))) {
    return false;
  }
  size_t end = at;
  while (end < unit.size() && std::isdigit(static_cast<uint8_t>(unit[end]))) {
    ++end;
  }
  const std::string rest =
      Stripped(prefix.substr(at + std::char_traits<char>::length(kNumber)));
  return end > at && unit.substr(end).starts_with(rest);
}

size_t CommonPrefix(absl::Span<const int32_t> a, absl::Span<const int32_t> b) {
  const size_t n = std::min(a.size(), b.size());
  size_t i = 0;
  while (i < n && a[i] == b[i]) ++i;
  return i;
}

// Appends positions above 0 and above the last one.
void AddCut(size_t position, std::vector<size_t>& cuts) {
  if (position > (cuts.empty() ? 0 : cuts.back())) cuts.push_back(position);
}

}  // namespace

absl::StatusOr<StepLayout> StepLayout::Create(const RewardFormat& format,
                                              const Tokenizer& tokenizer,
                                              const std::string& folder) {
  StepLayout layout(format, tokenizer);
  if (format.chat()) {
    ESP_ASSIGN_OR_RETURN(layout.chat_,
                         FindTemplate(folder, format.template_name));
  }
  ESP_RETURN_IF_ERROR(layout.ResolveTag());
  ESP_RETURN_IF_ERROR(layout.ResolveChoices());
  ESP_RETURN_IF_ERROR(layout.ResolveEnd(folder));
  ESP_RETURN_IF_ERROR(layout.CheckControl());
  return layout;
}

absl::Status StepLayout::ResolveTag() {
  const bool ids = format_.layout == RewardLayout::kIds;
  control_ = format_.chat() || format_.prompt || !format_.control.empty();
  const bool by_step = format_.unit == RewardUnit::kStep;
  stable_ = by_step && (ids || format_.layout == RewardLayout::kChatTurns);
  if (!format_.has_tag() || format_.read == RewardRead::kBeforeTag) {
    return absl::OkStatus();
  }
  const auto bad = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(
        "reward format ", format_.name, ": the tag ",
        format_.tag.empty() ? absl::StrCat(format_.tag_id) : Quote(format_.tag),
        what,
        "; name the format that this model was trained with by "
        "--reward-format"));
  };
  if (format_.tag_id >= tokenizer_->vocab_size()) {
    return bad(absl::StrCat(": expected a token below ",
                            tokenizer_->vocab_size(), ", found ",
                            format_.tag_id));
  }
  tag_id_ = format_.tag_id;
  if (format_.tag.empty()) return absl::OkStatus();
  int32_t id = tokenizer_->TokenId(format_.tag);
  if (id >= 0 && tokenizer_->TokenBytes(id).empty()) {
    control_ = true;
    stable_ = by_step;
  } else {
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> found,
                         tokenizer_->EncodeContinuation(format_.tag));
    if (found.size() != 1) {
      return bad(absl::StrCat(": expected one token of the reward model's ",
                              "tokenizer, found ", found.size(), " (",
                              absl::StrJoin(found, ", "), ")"));
    }
    id = found[0];
  }
  if (tag_id_ >= 0 && tag_id_ != id) {
    return bad(absl::StrCat(": expected token ", tag_id_, ", found ", id,
                            " in the reward model's tokenizer"));
  }
  tag_id_ = id;
  return absl::OkStatus();
}

absl::Status StepLayout::ResolveChoices() {
  const auto bad = [&](const auto& choice, const std::string& found) {
    return absl::InvalidArgumentError(absl::StrCat(
        "reward format ", format_.name, ": choice ", choice,
        ": expected one token of the reward model's tokenizer, found ", found,
        "; name the format that this model was trained with by "
        "--reward-format"));
  };
  for (const int32_t id : format_.choice_ids) {
    if (id < 0 || id >= tokenizer_->vocab_size()) {
      return bad(id, absl::StrCat("ids 0 to ", tokenizer_->vocab_size() - 1,
                                  " in it"));
    }
    choices_.push_back(id);
  }
  for (const std::string& choice : format_.choices) {
    const int32_t named = tokenizer_->TokenId(choice);
    if (named >= 0 && tokenizer_->TokenBytes(named).empty()) {
      choices_.push_back(named);
      continue;
    }
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                         tokenizer_->EncodeContinuation(choice));
    if (ids.size() != 1) {
      return bad(Quote(choice), absl::StrCat(ids.size(), " tokens (",
                                             absl::StrJoin(ids, ", "), ")"));
    }
    choices_.push_back(ids[0]);
  }
  return absl::OkStatus();
}

absl::Status StepLayout::ResolveEnd(const std::string& folder) {
  if (format_.read != RewardRead::kEnd || format_.chat()) {
    return absl::OkStatus();
  }
  // config.json names the token that ends a response, which need not be the one
  // that ends a text.
  const auto config = ReadTrunkConfig(folder);
  if (config.ok()) end_ = config->end_token;
  if (end_ < 0) end_ = tokenizer_->marks().eos;
  if (end_ >= 0) {
    if (std::find(choices_.begin(), choices_.end(), end_) == choices_.end()) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("reward format ", format_.name, ": choice: token ", end_,
                     " ends responses; name another one"));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "reward format ", format_.name,
      ": reads after the end token, and the reward model's tokenizer has none; "
      "name another by --reward-format"));
}

absl::Status StepLayout::CheckControl() const {
  for (const std::string& token : format_.control) {
    const int32_t id = tokenizer_->TokenId(token);
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                         tokenizer_->Encode(token, true));
    if (id >= 0 && ids == std::vector<int32_t>{id}) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "reward format ", format_.name, ": expected the control token ",
        Quote(token),
        " in the reward model's tokenizer, found none; name the "
        "format that this model was trained with by --reward-format"));
  }
  return absl::OkStatus();
}

std::vector<std::string> StepLayout::Units(
    absl::Span<const std::string> steps) const {
  ESP_CHECK(!steps.empty());
  std::vector<std::string> units;
  if (format_.as_written) {
    if (format_.unit == RewardUnit::kStep) return {steps.begin(), steps.end()};
    return {absl::StrJoin(steps, "")};
  }
  if (format_.unit == RewardUnit::kResponse) {
    units.push_back(Stripped(absl::StrJoin(steps, "")));
    return units;
  }
  for (const std::string& step : steps) {
    std::vector<std::string> parts = {step};
    if (format_.tag_in_step == TagInStep::kSplit) {
      parts = absl::StrSplit(step, format_.tag);
    }
    for (const std::string& part : parts) {
      std::string text = Stripped(part);
      if (!text.empty()) units.push_back(std::move(text));
    }
  }
  // A path without any text still has a place to be read at.
  if (units.empty()) units.emplace_back();
  return units;
}

std::string StepLayout::Prefixed(const std::string& unit, size_t index) const {
  const std::string& prefix = format_.step_prefix;
  if (BeginsNumbered(unit, prefix)) return unit;
  return absl::StrReplaceAll(prefix, {{kNumber, absl::StrCat(index + 1)}}) +
         unit;
}

absl::Status StepLayout::CheckText(const std::string& what,
                                   std::string_view text) const {
  const bool reads = format_.read == RewardRead::kAtTag &&
                     format_.tag_in_step == TagInStep::kRefuse;
  if (reads && !format_.tag.empty() && text.find(format_.tag) != text.npos) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", Quote(text), " contains the tag ",
                     Quote(format_.tag), " of the reward format ", format_.name,
                     ", after which the model would take it for several steps; "
                     "let the policy write steps without it"));
  }
  ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> plain,
                       tokenizer_->EncodeContinuation(text));
  if (reads && std::find(plain.begin(), plain.end(), tag_id_) != plain.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " ", Quote(text), " contains the token ", tag_id_,
                     ", the tag of the reward format ", format_.name,
                     "; let the policy write steps without it"));
  }
  if (!control_) return absl::OkStatus();
  ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> spelt,
                       tokenizer_->Encode(text, false));
  ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> parsed,
                       tokenizer_->Encode(text, true));
  if (spelt == parsed) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      what, " ", Quote(text),
      " spells a control token of the reward model's tokenizer, which would "
      "end its part of the text; take it out"));
}

absl::Status StepLayout::CheckTexts(
    std::string_view question, const std::vector<std::string>& units) const {
  // A prompt spells control tokens on purpose.
  if (!format_.prompt) {
    ESP_RETURN_IF_ERROR(CheckText("the question", question));
  }
  for (size_t i = 0; i < units.size(); ++i) {
    ESP_RETURN_IF_ERROR(CheckText(absl::StrCat("step ", i + 1), units[i]));
  }
  return absl::OkStatus();
}

std::string StepLayout::Focused(const std::vector<std::string>& units) const {
  const size_t judged =
      std::min(units.size(), static_cast<size_t>(format_.window));
  const size_t before = units.size() - judged;
  const auto join = [&](size_t begin, size_t end) {
    std::string text;
    for (size_t i = begin; i < end; ++i) {
      absl::StrAppend(&text, i == begin ? "" : format_.between,
                      Prefixed(units[i], i), format_.step_suffix);
    }
    return text;
  };
  if (before == 0) {
    return absl::StrCat(format_.focus_prefix, join(0, judged),
                        format_.alone_suffix);
  }
  return absl::StrCat(format_.history_prefix, join(0, before),
                      format_.history_suffix, format_.focus_prefix,
                      join(before, units.size()));
}

absl::StatusOr<std::string> StepLayout::Body(
    std::string_view question, const std::vector<std::string>& units) const {
  std::string text = absl::StrCat(format_.question_prefix, AbslView(question),
                                  format_.question_suffix);
  const bool turns = format_.layout == RewardLayout::kChatTurns;
  if (format_.chat()) {
    std::vector<ChatMessage> messages;
    if (format_.system)
      messages.push_back({ChatRole::kSystem, *format_.system});
    messages.push_back({ChatRole::kUser, std::move(text)});
    for (size_t i = 0; turns && i < units.size(); ++i) {
      if (i > 0) {
        messages.push_back({ChatRole::kAssistant, format_.tag});
        messages.push_back({ChatRole::kUser, ""});
      }
      messages.back().text +=
          absl::StrCat(Prefixed(units[i], i), format_.step_suffix);
    }
    ESP_ASSIGN_OR_RETURN(text, chat_->Render(messages, /*thinking=*/false));
  }
  if (turns) return text;
  if (format_.writes()) {
    const std::vector<std::string> said(units.size(), "...");
    return VerdictBody(question, units, said);
  }
  if (!format_.focus_prefix.empty()) return text + Focused(units);
  const std::string tag =
      format_.read == RewardRead::kAtTag ? format_.tag : std::string();
  for (size_t i = 0; i < units.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : format_.between, Prefixed(units[i], i),
                    format_.step_suffix, tag);
  }
  if (format_.read == RewardRead::kEnd && chat_) text += chat_->AnswerEnd();
  return text;
}

std::string StepLayout::Numbered(const std::string& text, size_t index) {
  return absl::StrReplaceAll(text, {{kNumber, absl::StrCat(index + 1)},
                                    {"{next}", absl::StrCat(index + 2)}});
}

std::string StepLayout::VerdictBody(std::string_view question,
                                    const std::vector<std::string>& units,
                                    absl::Span<const std::string> said) const {
  const RewardFormat::Verdict& verdict = *format_.verdict;
  std::string text = absl::StrCat(format_.question_prefix, AbslView(question),
                                  format_.question_suffix);
  for (size_t i = 0; i < units.size(); ++i) {
    if (i > 0 && verdict.has_history()) {
      absl::StrAppend(&text, verdict.history_prefix, said[i - 1],
                      verdict.history_suffix);
    } else if (i > 0) {
      text += format_.between;
    }
    absl::StrAppend(&text, Prefixed(units[i], i), format_.step_suffix);
  }
  return text + Numbered(verdict.rounds[0].say, units.size() - 1);
}

absl::StatusOr<std::vector<int32_t>> StepLayout::LayVerdict(
    std::string_view question, absl::Span<const std::string> steps,
    absl::Span<const std::string> said) const {
  const std::vector<std::string> units = Units(steps);
  ESP_RETURN_IF_ERROR(CheckTexts(question, units));
  const bool history = format_.verdict->has_history();
  ESP_CHECK(!history || said.size() + 1 >= units.size());
  return EncodePrompt(*tokenizer_, VerdictBody(question, units, said),
                      control_);
}

absl::StatusOr<LaidOutPath> StepLayout::LayIds(
    std::string_view question, const std::vector<std::string>& units) const {
  LaidOutPath path;
  const auto add = [&](const std::string& text) -> absl::Status {
    if (text.empty()) return absl::OkStatus();
    ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> ids,
                         tokenizer_->Encode(text));
    path.ids.insert(path.ids.end(), ids.begin(), ids.end());
    return absl::OkStatus();
  };
  const int32_t bos = tokenizer_->marks().bos;
  if (format_.bos && bos >= 0) path.ids.push_back(bos);
  ESP_RETURN_IF_ERROR(add(absl::StrCat(
      format_.question_prefix, AbslView(question), format_.question_suffix)));
  for (size_t i = 0; i < units.size(); ++i) {
    if (i > 0) ESP_RETURN_IF_ERROR(add(format_.between));
    ESP_RETURN_IF_ERROR(add(Prefixed(units[i], i)));
    ESP_RETURN_IF_ERROR(add(format_.step_suffix));
    if (tag_id_ >= 0) path.ids.push_back(tag_id_);
  }
  return path;
}

// The tag's token stands once after each step and nowhere else.
absl::Status StepLayout::CheckTags(absl::Span<const int32_t> ids,
                                   size_t units) const {
  const bool at_end = units == 0 || ids.back() == tag_id_;
  if (format_.tag_in_step != TagInStep::kRefuse && at_end) {
    return absl::OkStatus();
  }
  const auto found =
      static_cast<size_t>(std::count(ids.begin(), ids.end(), tag_id_));
  if (found == units && at_end) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "reward format ", format_.name, ": expected the tag ", Quote(format_.tag),
      " (token ", tag_id_, ") once after each of ", units, " steps, found it ",
      found,
      " times: the tokenizer merges it with the text next to it; name the "
      "format that this model was trained with by --reward-format"));
}

absl::StatusOr<LaidOutPath> StepLayout::LayText(
    std::string_view question, const std::vector<std::string>& units) const {
  ESP_ASSIGN_OR_RETURN(const std::string text, Body(question, units));
  LaidOutPath path;
  ESP_ASSIGN_OR_RETURN(path.ids, EncodePrompt(*tokenizer_, text, control_));
  if (end_ >= 0 && !units.empty()) path.ids.push_back(end_);
  return path;
}

absl::StatusOr<LaidOutPath> StepLayout::LayUnits(
    std::string_view question, const std::vector<std::string>& units) const {
  return format_.layout == RewardLayout::kIds ? LayIds(question, units)
                                              : LayText(question, units);
}

absl::StatusOr<LaidOutPath> StepLayout::Lay(
    std::string_view question, absl::Span<const std::string> steps) const {
  std::vector<std::string> units = Units(steps);
  ESP_RETURN_IF_ERROR(CheckTexts(question, units));
  ESP_ASSIGN_OR_RETURN(LaidOutPath path, LayUnits(question, units));
  if (format_.read == RewardRead::kAtTag) {
    ESP_RETURN_IF_ERROR(CheckTags(path.ids, units.size()));
  }
  if (!stable_) {
    size_t body = path.ids.size();
    const bool apart = !format_.focus_prefix.empty();
    if (format_.read == RewardRead::kEnd ||
        format_.unit == RewardUnit::kResponse || apart) {
      // What follows the steps, or the judged steps themselves, do not stand
      // there in a longer path.
      if (apart) {
        units.emplace_back("x");
      } else {
        units.back() += "\nx";
      }
      ESP_ASSIGN_OR_RETURN(const LaidOutPath longer, LayUnits(question, units));
      body = CommonPrefix(path.ids, longer.ids);
    }
    AddCut(body > kSeam ? body - kSeam : 0, path.cuts);
    AddCut(body, path.cuts);
  }
  AddCut(path.ids.size(), path.cuts);
  return path;
}

absl::StatusOr<std::vector<int32_t>> StepLayout::Stem(
    std::string_view question) const {
  ESP_RETURN_IF_ERROR(CheckTexts(question, {}));
  // Texts that differ from where the first step begins, or, if judged steps
  // stand apart, from where the steps before them do.
  const bool apart = !format_.focus_prefix.empty();
  const std::vector<std::string> steps(
      apart ? static_cast<size_t>(format_.window) + 1 : 1, "x");
  ESP_ASSIGN_OR_RETURN(const LaidOutPath one, LayUnits(question, {"1"}));
  ESP_ASSIGN_OR_RETURN(const LaidOutPath other, LayUnits(question, steps));
  const size_t common = CommonPrefix(one.ids, other.ids);
  return std::vector<int32_t>(
      one.ids.begin(), one.ids.begin() + static_cast<std::ptrdiff_t>(common));
}

absl::StatusOr<std::vector<int32_t>> StepLayout::Before(
    std::string_view question) const {
  ESP_RETURN_IF_ERROR(CheckTexts(question, {}));
  ESP_ASSIGN_OR_RETURN(LaidOutPath none, LayUnits(question, {}));
  return std::move(none.ids);
}

absl::StatusOr<std::string> StepLayout::Text(
    std::string_view question, absl::Span<const std::string> steps) const {
  const std::vector<std::string> units = Units(steps);
  ESP_RETURN_IF_ERROR(CheckTexts(question, units));
  return Body(question, units);
}

}  // namespace espalier
