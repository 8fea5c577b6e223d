#include "models/remote/text_sample.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "models/tokenizer/added_text.h"

namespace espalier {
namespace {

// Spreads the log-probs of `pieces`, which are cut from `text`, over `tokens`.
// Pieces beyond the text belong to the end token, if it is there.
std::vector<float> Spread(const Tokenizer& tokenizer,
                          absl::Span<const int32_t> tokens,
                          std::string_view text,
                          const std::vector<TextPiece>& pieces) {
  std::vector<float> out(tokens.size(), 0);
  std::string joined;
  for (const TextPiece& piece : pieces) joined += piece.text;
  const bool in_order = std::string_view(joined).substr(0, text.size()) ==
                        text.substr(0, std::min(text.size(), joined.size()));
  size_t size = 0;  // bytes of the tokens
  for (const int32_t token : tokens) size += tokenizer.TokenBytes(token).size();
  if (!in_order || size != text.size()) {
    // The cuts are unknown: evenly over all.
    double sum = 0;
    for (const TextPiece& piece : pieces) {
      sum += static_cast<double>(piece.logprob);
    }
    std::fill(out.begin(), out.end(),
              static_cast<float>(sum / static_cast<double>(tokens.size())));
    return out;
  }
  // Both cut the same bytes: each piece gives a token the part of its log-prob
  // that is the part of its bytes there.
  size_t t = 0;
  size_t token_end = tokenizer.TokenBytes(tokens[0]).size();
  size_t begin = 0;
  for (const TextPiece& piece : pieces) {
    const size_t end = begin + piece.text.size();
    if (piece.text.empty() || begin >= text.size()) {
      // Of no bytes here: an end token, or a stop's rest.
      if (begin >= text.size()) out.back() += piece.logprob;
      begin = end;
      continue;
    }
    const size_t last = std::min(end, text.size());
    for (size_t at = begin; at < last;) {
      while (token_end <= at) {
        token_end += tokenizer.TokenBytes(tokens[++t]).size();
      }
      const size_t part = std::min(token_end, last) - at;
      out[t] += part == last - begin
                    ? piece.logprob
                    : piece.logprob * static_cast<float>(part) /
                          static_cast<float>(last - begin);
      at += part;
    }
    begin = end;
  }
  return out;
}

// The stop that `rest` begins, or that begins with it; "": none.
std::string StopAt(const std::vector<std::string>& stops,
                   std::string_view rest) {
  for (const std::string& stop : stops) {
    if (!rest.empty() && (absl::StartsWith(AbslView(rest), stop) ||
                          absl::StartsWith(stop, AbslView(rest)))) {
      return stop;
    }
  }
  return "";
}

}  // namespace

std::string PromptText(const Tokenizer& tokenizer,
                       absl::Span<const int32_t> path) {
  const int32_t bos = tokenizer.marks().bos;
  if (bos >= 0 && !path.empty() && path[0] == bos) path.remove_prefix(1);
  return DecodeWithNames(tokenizer, path);
}

int32_t EndToken(const Tokenizer& tokenizer) {
  if (tokenizer.marks().eos >= 0) return tokenizer.marks().eos;
  for (const char* name : {"<|im_end|>", "<|eot_id|>", "<|end|>",
                           "<|endoftext|>", "<|end_of_text|>", "</s>"}) {
    const int32_t id = tokenizer.TokenId(name);
    if (id >= 0) return id;
  }
  return -1;
}

absl::StatusOr<TextTokens> TokensOfText(const Tokenizer& tokenizer,
                                        absl::Span<const int32_t> path,
                                        const RemoteText& text,
                                        int32_t end_token) {
  TextTokens out;
  const int32_t bos = tokenizer.marks().bos;
  const size_t skipped = bos >= 0 && !path.empty() && path[0] == bos ? 1 : 0;
  const auto known = path.subspan(skipped);
  ESP_ASSIGN_OR_RETURN(const std::vector<int32_t> whole,
                       tokenizer.Encode(PromptText(tokenizer, path) + text.text,
                                        /*parse_special=*/true));
  out.missed = whole.size() < known.size() ||
               !std::equal(known.begin(), known.end(), whole.begin());
  if (out.missed) {
    ESP_ASSIGN_OR_RETURN(out.tokens, tokenizer.EncodeContinuation(text.text));
  } else {
    out.tokens.assign(whole.begin() + static_cast<ptrdiff_t>(known.size()),
                      whole.end());
  }
  if (text.end == TextEnd::kEnd) out.tokens.push_back(end_token);
  if (out.tokens.empty()) return out;
  if (text.pieces.empty()) {
    out.logprobs.assign(out.tokens.size(), 0);
  } else {
    out.logprobs = Spread(tokenizer, out.tokens, text.text, text.pieces);
  }
  return out;
}

bool TellEnd(const std::vector<std::string>& stops, RemoteText& text) {
  if (text.end != TextEnd::kUntold) return true;
  text.end = TextEnd::kEnd;
  if (stops.empty()) return true;
  text.end = TextEnd::kStop;
  for (const std::string& stop : stops) {
    if (absl::EndsWith(text.text, stop)) return true;
  }
  std::string joined;
  for (const TextPiece& piece : text.pieces) joined += piece.text;
  if (joined.size() > text.text.size() && absl::StartsWith(joined, text.text)) {
    text.stop =
        StopAt(stops, std::string_view(joined).substr(text.text.size()));
    if (text.stop.empty()) text.end = TextEnd::kEnd;
    return true;
  }
  text.end = TextEnd::kUntold;
  return false;
}

void TellEnd(const std::vector<std::string>& stops, const RemoteText& next,
             RemoteText& text) {
  const bool ended = next.text.empty() && next.end != TextEnd::kLength;
  text.end = ended ? TextEnd::kEnd : TextEnd::kStop;
  if (!ended) text.stop = StopAt(stops, next.text);
  // What it tells of the token that was missing.
  size_t told = 0;
  for (const TextPiece& piece : text.pieces) told += piece.text.size();
  if (told == text.text.size() && !next.pieces.empty() &&
      (ended || !text.stop.empty())) {
    text.pieces.push_back(next.pieces.front());
  }
}

void RestoreStop(const std::vector<std::string>& stops, RemoteText& text) {
  if (text.stop.empty()) {
    for (const std::string& stop : stops) {
      if (absl::EndsWith(text.text, stop)) return;
    }
    if (!stops.empty()) text.stop = stops.front();
  }
  if (!absl::EndsWith(text.text, text.stop)) text.text += text.stop;
}

}  // namespace espalier
