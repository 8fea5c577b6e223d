// Which problems of a file are read, and in which order.
#include "datasets/sets/set_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "datasets/sets/problem_set.h"
#include "tests/datasets/data_files.h"

namespace espalier {
namespace {

std::string Numbered(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) {
    absl::StrAppend(&text, "{\"id\": \"p", i, "\", \"question\": \"Q", i,
                    "\", \"answer\": ", i, "}\n");
  }
  return WriteTestFile(absl::StrCat("numbered", n, ".jsonl"), text);
}

std::vector<std::string> Ids(const std::string& path,
                             const SetOptions& options) {
  const auto set = LoadSet(path, options);
  EXPECT_TRUE(set.ok()) << set.status();
  std::vector<std::string> ids;
  if (!set.ok()) return ids;
  for (const GradedProblem& p : set->problems) ids.push_back(p.problem.id);
  return ids;
}

using List = std::vector<std::string>;

TEST(SetReader, LimitAndFirst) {
  const std::string path = Numbered(5);
  EXPECT_EQ(Ids(path, {}), (List{"p0", "p1", "p2", "p3", "p4"}));
  EXPECT_EQ(Ids(path, {.limit = 2, .first = 1}), (List{"p1", "p2"}));
  EXPECT_EQ(Ids(path, {.limit = 9, .first = 4}), (List{"p4"}));
  EXPECT_EQ(Ids(path, {.first = 9}), List{});
  EXPECT_FALSE(LoadSet(path, {.limit = -1}).ok());
}

TEST(SetReader, BeyondTheLimitNothingIsRead) {
  const std::string path =
      WriteTestFile("tail.jsonl", "{\"question\": \"Q\"}\nnot JSON\n");
  const auto set = LoadSet(path, {.limit = 1, .strict = true});
  ASSERT_TRUE(set.ok()) << set.status();
  EXPECT_TRUE(set->notes.empty());
}

TEST(SetReader, ShardsAreDisjointAndTogetherAll) {
  const std::string path = Numbered(11);
  for (const std::optional<uint64_t> shuffle :
       {std::optional<uint64_t>(), std::optional<uint64_t>(3)}) {
    std::vector<std::string> all;
    for (int shard = 0; shard < 3; ++shard) {
      for (std::string& id : Ids(path, {.limit = 10,
                                       .shard = shard,
                                       .shards = 3,
                                       .shuffle = shuffle})) {
        all.push_back(std::move(id));
      }
    }
    std::vector<std::string> whole =
        Ids(path, {.limit = 10, .shuffle = shuffle});
    EXPECT_EQ(all.size(), 10u);
    std::sort(all.begin(), all.end());
    std::sort(whole.begin(), whole.end());
    EXPECT_EQ(all, whole);
  }
  EXPECT_EQ(Ids(path, {.shard = 1, .shards = 5}), (List{"p1", "p6"}));
  EXPECT_FALSE(LoadSet(path, {.shard = 5, .shards = 5}).ok());
}

TEST(SetReader, ShuffleIsSeededAndALimitTakesItsBeginning) {
  const std::string path = Numbered(50);
  const std::vector<std::string> order = Ids(path, {.shuffle = 1});
  EXPECT_EQ(order, Ids(path, {.shuffle = 1}));
  EXPECT_NE(order, Ids(path, {.shuffle = 2}));
  EXPECT_NE(order, Ids(path, {}));
  EXPECT_EQ(std::set<std::string>(order.begin(), order.end()).size(), 50u);
  EXPECT_EQ(Ids(path, {.limit = 7, .shuffle = 1}),
            List(order.begin(), order.begin() + 7));
  EXPECT_EQ(Ids(path, {.limit = 7, .first = 5, .shuffle = 1}),
            List(order.begin() + 5, order.begin() + 12));
}

// Every problem comes first equally often: chi-square over 8 problems, 4000
// seeds; the 99.9 % point of 7 degrees of freedom is 24.3.
TEST(SetReader, ShuffleIsUniform) {
  std::string text;
  for (int i = 0; i < 8; ++i) {
    absl::StrAppend(&text, "{\"id\": ", i, ", \"question\": \"Q\"}\n");
  }
  std::map<std::string, int> first, last;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    const auto reader =
        SetReader::Create(MakeJsonLinesReader(ByteSource::FromText(text, "f")),
                          "f", {.shuffle = seed});
    std::vector<std::string> ids;
    while (true) {
      const auto record = (*reader)->Next();
      ASSERT_TRUE(record.ok());
      if (!*record) break;
      ids.push_back((*record)->id);
    }
    ++first[ids.front()];
    ++last[ids.back()];
  }
  for (const auto& counts : {first, last}) {
    double chi = 0;
    for (const auto& [id, n] : counts) chi += (n - 500.0) * (n - 500.0) / 500;
    EXPECT_EQ(counts.size(), 8u);
    EXPECT_LT(chi, 24.3);
  }
}

TEST(SetReader, IdsChoose) {
  const std::string path = Numbered(9);
  EXPECT_EQ(Ids(path, {.ids = {"p7", "p2"}}), (List{"p2", "p7"}));
  EXPECT_EQ(Ids(path, {.limit = 1, .ids = {"p7", "p2"}}), (List{"p2"}));
  const auto some = LoadSet(path, {.ids = {"p7", "p99"}});
  ASSERT_TRUE(some.ok());
  ASSERT_EQ(some->notes.size(), 1u);
  EXPECT_NE(some->notes[0].find("p99"), std::string::npos);
  EXPECT_FALSE(LoadSet(path, {.ids = {"p7", "p99"}, .strict = true}).ok());
  const auto none = LoadSet(path, {.ids = {"x"}});
  EXPECT_TRUE(absl::IsNotFound(none.status())) << none.status();
}

// A list in one line is what json.dump writes.
TEST(SetReader, RecordsOfOneLineHaveIdsOfTheirOwn) {
  const std::string one = R"({"question": "Q", "answer": 1})";
  for (const char* name : {"line.json", "line.jsonl"}) {
    const std::string path = WriteTestFile(
        name, absl::StrCat("[", one, ",", one, ", 7,", one, "]\n"));
    const std::string id = absl::StrCat(path, ":1");
    EXPECT_EQ(Ids(path, {}),
              (List{id, absl::StrCat(id, "#2"), absl::StrCat(id, "#3")}));
    const std::string third = absl::StrCat(id, "#3");
    EXPECT_EQ(Ids(path, {.ids = {third}}), List{third});
  }
}

TEST(SetReader, GeneratedSetsAreChosenFromAsFiles) {
  const std::string set = "stories:easy";
  const std::vector<std::string> all = Ids(set, {.limit = 6});
  EXPECT_EQ(all[5], "stories:easy/2000/5");
  EXPECT_EQ(Ids(set, {.limit = 6, .shard = 1, .shards = 4}),
            (List{all[1], all[5]}));
  EXPECT_EQ(Ids(set, {.limit = 2, .first = 3}), (List{all[3], all[4]}));
  const auto by_id = LoadSet(set, {.ids = {"stories:easy/2001/7"}});
  ASSERT_TRUE(by_id.ok()) << by_id.status();
  EXPECT_EQ(
      by_id->problems[0].problem.question,
      LoadSet(set, {.limit = 8, .seed = 2001})->problems[7].problem.question);
  EXPECT_FALSE(LoadSet(set, {.ids = {"stories:hard/2001/7"}}).ok());
  EXPECT_FALSE(LoadSet(set, {.shuffle = 1}).ok());
}

}  // namespace
}  // namespace espalier
