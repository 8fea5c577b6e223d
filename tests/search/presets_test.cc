#include "search/presets.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "search/algorithm.h"
#include "tests/search/tree_world.h"

namespace espalier {
namespace {

std::string Canonical(const std::string& spec) {
  const auto made = MakeAlgorithm(spec);
  if (!made.ok()) return made.status().ToString();
  return CanonicalMethod(**made);
}

std::string ErrorOf(const std::string& spec) {
  return std::string(MakeAlgorithm(spec).status().message());
}

std::string WriteFileOf(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(PresetsTest, EveryFileOfTheFolderIsCompiledIn) {
  std::set<std::string> files, compiled;
  for (const auto& entry :
       std::filesystem::directory_iterator("search/presets")) {
    files.insert(entry.path().stem().string());
  }
  for (const Preset& preset : ListPresets()) compiled.insert(preset.name);
  EXPECT_EQ(files, compiled);
}

TEST(PresetsTest, EachSaysWhatItIsAndItsMethodTakesItsOptions) {
  for (const Preset& preset : ListPresets()) {
    const auto made = MakeAlgorithm("preset=" + preset.name);
    ASSERT_TRUE(made.ok()) << preset.name << ": " << made.status();
    EXPECT_EQ((*made)->name(), preset.method);
    EXPECT_EQ(CanonicalMethod(**made), Canonical(preset.Spec()));
    EXPECT_FALSE(preset.options.empty()) << preset.name;
    EXPECT_FALSE(preset.summary.empty()) << preset.name;
    EXPECT_FALSE(preset.source.empty()) << preset.name;
    EXPECT_TRUE(absl::StartsWith(preset.text, "# ")) << preset.name;
    EXPECT_TRUE(absl::StrContains(preset.text, "\n# Differs: "))
        << preset.name << " does not say what differs from its paper";
  }
}

TEST(PresetsTest, TheirLinesFitAScreen) {
  for (const Preset& preset : ListPresets()) {
    for (const auto line : absl::StrSplit(preset.text, '\n')) {
      EXPECT_LE(line.size(), 80u) << preset.name << ": " << line;
    }
  }
}

TEST(PresetsTest, EachSearchesAScriptedWorldToAnAnswer) {
  const TreeWorld world({.seed = 5, .branching = 3, .depth = 4});
  for (const Preset& preset : ListPresets()) {
    // With graded responses the best leaf is right.
    const auto reply = [&](const Tree& tree, const SearchRequest& request) {
      SearchRequest asked = request;
      if (asked.kind == RequestKind::kGrade) asked.kind = RequestKind::kVerify;
      return world.Reply(tree, asked);
    };
    for (const int64_t tokens : {40, 2000}) {
      const SearchRun run = RunSearch("preset=" + preset.name, world,
                                      {.tokens = tokens,
                                       .simulations = 50,
                                       .check = {.min_value = -1},
                                       .reply = reply});
      EXPECT_TRUE(run.status.ok()) << preset.name << ": " << run.status;
      // Merging states by their last step explores too little of this world to
      // find the one leaf that the verifier accepts.
      if (tokens > 40 && preset.name != "bfs_prover_v2") {
        EXPECT_FALSE(run.answer.empty()) << preset.name;
      }
    }
  }
}

TEST(PresetsTest, OptionsGivenStandInPlaceOfThePresetsOwn) {
  const std::string own = Canonical("preset=rap");
  const std::string other = Canonical("preset=rap:c=3:q=mean");
  EXPECT_TRUE(absl::StrContains(own, ":c=1:")) << own;
  EXPECT_TRUE(absl::StrContains(other, ":c=3:")) << other;
  EXPECT_TRUE(absl::StrContains(other, ":q=mean:")) << other;
  EXPECT_TRUE(absl::StrContains(other, ":temperature=0.8:")) << other;
}

TEST(PresetsTest, UnknownPresetNamesTheNearest) {
  EXPECT_TRUE(absl::StrContains(ErrorOf("preset=rest_mcts_sar"),
                                "did you mean \"rest_mcts_star\"?"));
  EXPECT_EQ(MakeAlgorithm("preset=").status().code(),
            absl::StatusCode::kNotFound);
  // The error names the preset for the method and the other way round.
  EXPECT_TRUE(
      absl::StrContains(ErrorOf("rest_mcts_star"), "preset=rest_mcts_star"));
}

TEST(PresetsTest, CommandLineFileAndCodeMakeTheSameMethod) {
  const std::string path =
      WriteFileOf("search.textproto",
                  "name: \"uct\"\n"
                  "option { key: \"c\" value: \"0.5\" }\n"
                  "option { key: \"widen\" value: \"0\" }\n"
                  "option { key: \"choice\" value: "
                  "\"best\" }\n");
  const std::string line = Canonical("uct:widen=false:choice=best:c=.5");
  const auto file = ReadMethodFile(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(Canonical(*file), line);
  const auto code = MakeAlgorithm(
      "uct", {{"c", "5e-1"}, {"choice", "best"}, {"widen", "false"}});
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(CanonicalMethod(**code), line);
  EXPECT_EQ(MethodHash(CanonicalMethod(**code)), MethodHash(line));
  EXPECT_NE(MethodHash(Canonical("uct")), MethodHash(line));
  EXPECT_EQ(MethodHash(line).size(), 16u);
}

TEST(PresetsTest, OptionsBehindAFilesNameStandInPlaceOfItsOwn) {
  const std::string path = WriteFileOf("on_top.textproto",
                                       "name: \"preset=rap\"\n"
                                       "option { key: \"c\" value: \"2\" }\n");
  const auto spec = ReadMethodFile(path + ":branch=7:c=4");
  ASSERT_TRUE(spec.ok()) << spec.status();
  EXPECT_EQ(Canonical(*spec), Canonical("preset=rap:branch=7:c=4"));
  EXPECT_EQ(Canonical(*ReadMethodFile(path)), Canonical("preset=rap:c=2"));
}

TEST(PresetsTest, WhatNamesNoFileComesBack) {
  for (const char* spec : {"auto", "beam:width=2", "preset=rap"}) {
    EXPECT_EQ(*ReadMethodFile(spec), spec);
  }
}

TEST(PresetsTest, FilesThatNameNoMethodAreRefused) {
  EXPECT_EQ(ReadMethodFile("/no/such.textproto").status().code(),
            absl::StatusCode::kNotFound);
  const std::string nameless = WriteFileOf("nameless.textproto", "# empty\n");
  EXPECT_TRUE(absl::StrContains(ReadMethodFile(nameless).status().message(),
                                "nameless.textproto: no method is named"));
  const std::string twice =
      WriteFileOf("twice.textproto",
                  "name: \"uct\"\noption { key: \"c\" value: \"1\" }\n"
                  "option { key: \"c\" value: \"2\" }\n");
  EXPECT_TRUE(absl::StrContains(ReadMethodFile(twice).status().message(),
                                "option c is given twice"));
}

}  // namespace
}  // namespace espalier
