// A chat template as a Jinja program, and behind the first NUL a message.
#include <string>
#include <vector>

#include "base/check.h"
#include "models/prompt/find_template.h"
#include "models/prompt/streamed_text.h"
#include "tests/fuzz/fuzz_target.h"

namespace espalier {
namespace {

// However the bytes are divided, the same text is shown.
void Stream(std::string_view text) {
  const std::vector<std::string> stops = {"Question:", "\n\n"};
  StreamedText whole(stops), pieces(stops);
  std::string at_once = whole.Push(text);
  at_once += whole.Finish(text.size());
  std::string by_bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    by_bytes += pieces.Push(text.substr(i, 1));
  }
  by_bytes += pieces.Finish(text.size());
  ESP_CHECK(at_once == by_bytes);
}

// Spacings may trim a message but keep what is in it; a program may print what
// it likes.
void RenderAll(const ChatTemplate& chat, const std::string& text) {
  for (const bool thinking : {false, true}) {
    const auto prompt = chat.Render({{ChatRole::kSystem, "Be brief."},
                                     {ChatRole::kUser, text},
                                     {ChatRole::kAssistant, "Yes."},
                                     {ChatRole::kUser, "Why?"}},
                                    thinking);
    if (prompt.ok() && chat.source().empty()) {
      ESP_CHECK(prompt->find("Why?") != std::string::npos);
    }
    chat.Render({{ChatRole::kUser, text}}, thinking).status().IgnoreError();
  }
  (void)chat.AnswerEnd();
}

}  // namespace

ESPALIER_FUZZ(chat_template) {
  const auto [jinja, message] = CutAt(bytes, '\0');
  Stream(message);
  const auto known = RecogniseTemplate(jinja, "chat_template.jinja");
  if (known.ok()) RenderAll(*known, std::string(message));
  const auto run = ChatTemplate::Jinja(std::string(jinja), "<s>", "</s>");
  if (run.ok()) RenderAll(*run, std::string(message));
}

}  // namespace espalier
