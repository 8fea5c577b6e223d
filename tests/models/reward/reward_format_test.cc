#include "models/reward/reward_format.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "base/files.h"
#include "models/reward/reward_format.pb.h"
#include "tests/models/testing/random_checkpoint.h"
#include "tests/models/testing/reward_checkpoint.h"

namespace espalier {
namespace {

constexpr char kGood[] = R"(layout: TEXT
tag: " +"
read: AT_TAG
head { weight: "score.weight" }
labels: 2
squash: SOFTMAX
label: 1
range: PROBABILITY
)";

std::string FormatError(const std::string& text) {
  const auto format = ParseRewardFormat(text, "mine.textproto", "mine");
  return format.ok() ? "" : std::string(format.status().message());
}

// kGood with the line that begins with `key` replaced.
std::string With(const std::string& key, const std::string& line) {
  std::string text = kGood;
  const size_t at = text.find(key);
  EXPECT_NE(at, text.npos) << key;
  const size_t end = text.find('\n', at);
  return text.replace(at, end - at, line);
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

TEST(RewardFormatTest, ShippedFormatsAreThePublishedOnes) {
  std::set<std::string> names;
  for (const RewardFormat& format : ShippedRewardFormats()) {
    EXPECT_FALSE(format.summary.empty()) << format.name;
    EXPECT_FALSE(format.source.empty()) << format.name;
    EXPECT_TRUE(names.insert(format.name).second);
  }
  EXPECT_EQ(names.erase("espalier"), 1u);  // no publication
  const std::vector<std::string> written = RewardCheckpointNames();
  EXPECT_EQ(names, std::set<std::string>(written.begin(), written.end()));
}

TEST(RewardFormatTest, UnknownKeyIsRefusedWithItsLine) {
  EXPECT_EQ(FormatError(kGood), "");
  const std::string error = FormatError(std::string(kGood) + "tagg: \"x\"\n");
  EXPECT_TRUE(Has(error, "mine.textproto:9")) << error;
  EXPECT_TRUE(Has(error, "tagg")) << error;
  EXPECT_TRUE(Has(error, "step_prefix")) << error;  // lists what is known
}

TEST(RewardFormatTest, ContradictionsAreRefusedWithTheirLine) {
  struct Case {
    std::string text, line, word;
  };
  for (const Case& c : std::vector<Case>{
           {With("layout", "layout: TEXT\nwindow: 2"), ":2: window",
            "focus_prefix"},
           {With("layout", "layout: CHAT\nfocus_prefix: \"x\""),
            ":2: focus_prefix", "LAST_TOKEN"},
           {With("layout", "layout: FREE"), ":2", "FREE"},
           {With("layout", "layout: IDS\ntemplate: \"chatml\""), ":2: template",
            "CHAT"},
           {With("layout", "layout: TEXT\nsystem: \"x\""), ":2: system",
            "CHAT"},
           {With("layout", "layout: CHAT\ntemplate: \"chatm\""), ":2: template",
            "chatml"},
           {With("layout", "layout: TEXT\nbos: true"), ":2: bos", "IDS"},
           {With("tag", ""), ":3: read", "neither tag"},
           {With("read", "read: LAST_TOKEN"), ":2: tag", "not read"},
           {With("read", "read: BEFORE_TAG"), ":3: read", "CHAT_TURNS"},
           {With("read", ""), ": read", "found none"},
           {With("head", "head { bias: \"b\" }"), ":4: head", "weight"},
           {With("head", ""), ": head", "none of them"},
           {With("head", "head { weight: \"a\" }\nchoice: \" +\""), ":4: head",
            "more than one"},
           {With("labels", ""), ": labels", "1 to"},
           {With("head", "log_ratio: -1"), ":4: log_ratio", "above 0"},
           {With("labels", "log_ratio: 1"), ":4: head", "more than one"},
           {With("head", "log_ratio: 1"), ":5: labels", "a head has them"},
           {With("head", "head { weight: \"a\" mean: true }"), ":4: head",
            "labels: 1"},
           {With("label:", "label: 2"), ":7: label", "0 to 1"},
           {With("squash", "squash: SUM"), ":6: squash", "at least 3"},
           {With("squash", "squash: DIFFERENCE"), ":8: range", "SIGNED"},
           {With("range", "range: REAL"), ":8: range", "PROBABILITY"},
           {With("range", ""), ": range", "found none"},
           {With("tag", "tag_id: 7"), ":2: tag_id", "IDS"},
           {With("layout", "layout: IDS\nprompt: true"), ":2: prompt", "TEXT"},
           {With("label:", "path_label: 2"), ":7: path_label", "0 to 1"},
           {With("label:", "path_label: 1"), ":7: path_label", "SIGMOID"},
       }) {
    const std::string error = FormatError(c.text);
    EXPECT_TRUE(Has(error, "mine.textproto" + c.line)) << error;
    EXPECT_TRUE(Has(error, c.word)) << error;
  }
}

constexpr char kJudged[] = R"(layout: TEXT
prompt: true
read: END
choice: "z"
log_prob: 0.1
log_prob_base: -23
squash: NONE
range: PROBABILITY
)";

TEST(RewardFormatTest, LogProbsThatContradictThemselvesAreRefused) {
  EXPECT_EQ(FormatError(kJudged), "");
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kJudged;
    return text.replace(text.find(from), from.size(), to);
  };
  struct Case {
    std::string text, line, word;
  };
  for (const Case& c : std::vector<Case>{
           {with("prompt: true", ""), ":3: read", "end token"},
           {with("log_prob: 0.1", ""), ": log_prob_base", "needs log_prob"},
           {with("0.1", "-0.1"), ":5: log_prob", "above 0"},
           {with("0.1", "nan"), ":5: log_prob", "above 0"},
           {with("-23", "0"), ":6: log_prob_base", "below 0"},
           {with("-23", "-inf"), ":6: log_prob_base", "below 0"},
           {with("-23", "-1e300"), ":6: log_prob_base", "from -1e+06"},
           {with("0.1", "1e308"), ":5: log_prob", "up to 1000"},
           {with("choice: \"z\"", "choice: \"z\"\nchoice: \"y\""), ":4: choice",
            "one with log_prob"},
           {with("choice: \"z\"", "head { weight: \"a\" }\nlabels: 1"),
            ": log_prob", "no head"},
           {with("NONE", "SIGMOID"), ": log_prob", "squash: NONE"},
           {with("PROBABILITY", "REAL"), ": log_prob", "range: PROBABILITY"},
       }) {
    const std::string error = FormatError(c.text);
    EXPECT_TRUE(Has(error, c.line)) << error;
    EXPECT_TRUE(Has(error, c.word)) << error;
  }
}

constexpr char kWritten[] = R"(layout: TEXT
choice: "y"
choice: "n"
squash: SOFTMAX
range: PROBABILITY
verdict {
  round { say: "Is it? " }
}
)";

TEST(RewardFormatTest, VerdictsThatContradictThemselvesAreRefused) {
  EXPECT_EQ(FormatError(kWritten), "");
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kWritten;
    return text.replace(text.find(from), from.size(), to);
  };
  struct Case {
    std::string text, word;
  };
  for (const Case& c : std::vector<Case>{
           {with("round { say: \"Is it? \" }", ""), "expected a round"},
           {with("say: \"Is it? \"", "tokens: 3"), "needs a say"},
           {with("\" }", "\" tokens: 3 }"), "expected closes"},
           {with("\" }", "\" }\n closes: \"}\""), "expected closes"},
           {with("\" }", "\" }\n round { say: \"x\" }"), "before the last"},
           {with("\" }", "\" }\n votes: -1"), "found -1"},
           {with("\" }", "\" }\n temperature: -1"), "temperature of 0"},
           {with("\" }", "\" }\n top_p: 2"), "up to 1"},
           {with("SOFTMAX", "DIFFERENCE"), "SIGNED"},
           {with("layout: TEXT", "layout: TEXT\nread: LAST_TOKEN"),
            "leave out"},
           {with("layout: TEXT", "layout: CHAT"), "layout: TEXT"},
           {with("layout: TEXT", "layout: CHAT\ncontrol: \"<s>\""),
            "template writes"},
       }) {
    const std::string error = FormatError(c.text);
    EXPECT_TRUE(Has(error, c.word)) << c.text << error;
  }
}

TEST(RewardFormatTest, VotesAreNamedWithTheFormat) {
  const RewardFormat eight = *ReadRewardFormat("genprm:votes=8");
  EXPECT_EQ(eight.verdict->votes, 8);
  EXPECT_EQ(eight.name, "genprm");
  // A run with other votes is another run.
  EXPECT_NE(eight.text, ReadRewardFormat("genprm")->text);
  const std::string path = TempFolder() + "/mine.textproto";
  std::ofstream(path) << kWritten;
  EXPECT_EQ(ReadRewardFormat(path + ":votes=3")->verdict->votes, 3);
  const auto error = [](const std::string& name) {
    return std::string(ReadRewardFormat(name).status().message());
  };
  EXPECT_TRUE(Has(error("genprm:votes=0"), "expected 1 to"));
  EXPECT_TRUE(Has(error("genprm:votes=x"), "found \"x\""));
  EXPECT_TRUE(Has(error("trl:votes=2"), "leave out :votes=2"));
  EXPECT_TRUE(Has(error("genprm:votes=2:votes=3"), "votes= is given twice"));
}

TEST(RewardFormatTest, RoundsAreNamedWithTheFormat) {
  // ThinkPRM's program has three phrases.
  const RewardFormat once = *ReadRewardFormat("thinkprm");
  const RewardFormat all = *ReadRewardFormat("thinkprm:rounds=4:votes=2");
  ASSERT_EQ(once.verdict->rounds.size(), 2u);
  ASSERT_EQ(all.verdict->rounds.size(), 5u);
  EXPECT_EQ(all.verdict->votes, 2);
  const char* said[] = {"Let me double check", "Let's verify again",
                        "Did I miss something?"};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(all.verdict->rounds[i + 1].say, said[i]);
    EXPECT_EQ(all.verdict->rounds[i + 1].stops, once.verdict->rounds[0].stops);
    EXPECT_EQ(all.verdict->rounds[i + 1].tokens, 8172);
  }
  EXPECT_EQ(all.verdict->rounds[4].say, once.verdict->rounds[1].say);
  EXPECT_NE(all.text, once.text);
  const auto error = [](const std::string& name) {
    return std::string(ReadRewardFormat(name).status().message());
  };
  EXPECT_TRUE(Has(error("thinkprm:rounds=5"), "expected 1 to 4 rounds"));
  EXPECT_TRUE(Has(error("genprm:rounds=2"), "leave out :rounds=2"));
  EXPECT_TRUE(Has(error("trl:rounds=2"), "leave out :rounds=2"));
}

TEST(RewardFormatTest, FileIsReadByItsNameAndAnUnknownNameSuggests) {
  const std::string path = TempFolder() + "/mine.textproto";
  std::ofstream(path) << kGood;
  const auto mine = ReadRewardFormat(path);
  ASSERT_TRUE(mine.ok()) << mine.status();
  EXPECT_EQ(mine->name, "mine");
  EXPECT_EQ(mine->tag, " +");
  EXPECT_EQ(mine->label, 1);
  EXPECT_TRUE(Has(std::string(ReadRewardFormat("qwen_pmr").status().message()),
                  "did you mean \"qwen_prm\""));
  EXPECT_EQ(ReadRewardFormat("none.textproto").status().code(),
            absl::StatusCode::kNotFound);
}

TEST(RewardFormatTest, RecognisesPublishedFolders) {
  const std::set<std::string> named = {
      "pure",      "math_shepherd", "rlhflow",    "rlhflow_orm",  "math_psa",
      "versa_prm", "prorag",        "llemma_prm", "implicit_prm", "genprm",
      "thinkprm",  "hrm",           "hrm_soft",   "hrm_window",   "laser"};
  for (const std::string& name : RewardCheckpointNames()) {
    const auto folder = ReadRewardFolder(WriteRewardCheckpoint(name, 1).folder);
    ASSERT_TRUE(folder.ok()) << folder.status();
    const auto format = RecogniseFormat(*folder);
    if (!named.contains(name)) {
      ASSERT_TRUE(format.ok()) << format.status();
      EXPECT_EQ(format->name, name);
    } else if (format.ok()) {
      // Looks like another one.
      EXPECT_TRUE((name == "pure" && format->name == "trl") ||
                  (name == "prorag" && format->name == "skywork_reward_qwen3"))
          << name << " " << format->name;
    } else {
      EXPECT_EQ(format.status().code(), absl::StatusCode::kNotFound);
    }
    EXPECT_TRUE(CheckTensors(*ReadRewardFormat(name), *folder).ok()) << name;
  }
}

TEST(RewardFormatTest, UnknownFolderSaysWhatWasLookedFor) {
  const RewardCheckpoint model = WriteRewardCheckpoint("math_psa", 1);
  const auto format = RecogniseFormat(*ReadRewardFolder(model.folder));
  ASSERT_FALSE(format.ok());
  const std::string error(format.status().message());
  for (const char* part :
       {model.folder.c_str(), "Qwen2ForCausalLM", "reward_head.weight",
        "qwen_prm: Qwen2ForProcessRewardModel with score.0.weight [h, h], "
        "score.2.weight [2, h]",
        "v_head.summary.weight [1, h]", "--reward-format", "math_psa"}) {
    EXPECT_TRUE(Has(error, part)) << part << ": " << error;
  }
}

TEST(RewardFormatTest, MissingOrMisshapenHeadIsNamed) {
  const RewardCheckpoint rm = WriteRewardCheckpoint("qwen_rm", 1);
  const auto folder = ReadRewardFolder(rm.folder);
  const std::string rows(
      CheckTensors(*ReadRewardFormat("qwen_prm"), *folder).message());
  EXPECT_TRUE(Has(rows, "score.2.weight [2, h], found shape [1, 40]")) << rows;
  const std::string none(
      CheckTensors(*ReadRewardFormat("trl"), *folder).message());
  EXPECT_TRUE(Has(none, "score.weight [2, h], found none")) << none;
  // A class whose head is missing is named, not passed over.
  const RewardCheckpoint trl = WriteRewardCheckpoint("trl", 1);
  std::ofstream(trl.folder + "/config.json")
      << R"({"architectures": ["Qwen2ForProcessRewardModel"]})";
  const auto lost = RecogniseFormat(*ReadRewardFolder(trl.folder));
  EXPECT_TRUE(Has(std::string(lost.status().message()),
                  "qwen_prm needs tensor score.0.weight [h, h], found none"))
      << lost.status();
}

TEST(RewardFormatTest, GuideShowsAFormatAndExplainsEveryKey) {
  const std::string guide = ReadFile("docs/guide/reward-models.md").value();
  const std::string begin = "    layout: CHAT ";
  const size_t at = guide.find(begin);
  ASSERT_NE(at, guide.npos);
  const std::string text = guide.substr(at, guide.find("\n\n", at) - at);
  EXPECT_EQ(FormatError(text), "");
  const auto* descriptor = RewardFormatConfig::descriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const std::string& key = descriptor->field(i)->name();
    EXPECT_TRUE(Has(guide, "`" + key + "`")) << key;
  }
  for (const RewardFormat& format : ShippedRewardFormats()) {
    EXPECT_TRUE(Has(guide, "`" + format.name + "`")) << format.name;
  }
}

}  // namespace
}  // namespace espalier
