#include "src/trace/run_db.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "src/trace/schema.h"
#include "src/trace/tree_nodes.h"

namespace espalier {
namespace {

namespace fs = std::filesystem;

class RunDbTest : public testing::Test {
 protected:
  RunDbTest() {
    std::string name = (fs::temp_directory_path() / "run_db_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~RunDbTest() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const {
    return (folder_ / name).string();
  }
  std::unique_ptr<RunDb> Create(const std::string& name) const {
    auto db = RunDb::Open(Path(name), Sqlite::kCreate);
    EXPECT_TRUE(db.ok()) << db.status();
    return *std::move(db);
  }
  static int64_t Count(RunDb& db, const std::string& table) {
    auto s = db.sqlite().Prepare("SELECT count(*) FROM " + table);
    EXPECT_TRUE(s.ok() && s->Step().value());
    return s->Int(0);
  }

  fs::path folder_;
};

const GradedProblem kProblem{{"set/1", "set", "What is 6 times 7?"},
                             {"42", {}}};

// Adds a run with one problem and one search of two steps; returns the search's
// id.
int64_t Fill(RunDb& db) {
  const int64_t run =
      db.AddRun({.kind = "generate", .config = "{}", .method = "greedy"})
          .value();
  const int64_t problem = db.AddProblem(kProblem, "set", "qa").value();
  const SearchRow search = db.BeginSearch(run, problem, 7).value();
  Tree tree;
  const std::vector<int32_t> first = {1, 2}, last = {3};
  const NodeId a = tree.Add(kRoot, {.text = "6*7=42\n", .tokens = first});
  const NodeId b = tree.Add(a, {.kind = NodeKind::kAnswer,
                                .text = "= 42",
                                .tokens = last,
                                .terminal = true});
  tree.step(b).answer = tree.InternAnswer("42");
  tree.SetScores(b, {.step = 0.5f,
                     .path = 0.25f,
                     .outcome = 0.75f,
                     .windows = {StepScores::kNone, 0.125f, 1}});
  const StoredTree stored = ToStored(
      tree,
      {{NodeVerdict::kNotAsked, NodeVerdict::kNotAsked, NodeVerdict::kCorrect}},
      {});
  SearchResult result{.answer = "42",
                      .stage = AnswerStage::kTree,
                      .tokens = 3,
                      .verdict_tokens = 11,
                      .nodes = 3};
  EXPECT_TRUE(db.FinishSearch(search.search_id,
                              Finished(result, true, stored, {}).value())
                  .ok());
  EXPECT_TRUE(db.AddSolution(problem, run, {"6*7=42\n= 42", -0.5, 3}).ok());
  EXPECT_TRUE(db.Commit().ok());
  return search.search_id;
}

TEST_F(RunDbTest, WhatIsWrittenIsReadByAnotherConnection) {
  const auto db = Create("run.db");
  const int64_t search = Fill(*db);
  const auto reader = RunDb::Open(Path("run.db"), Sqlite::kRead);
  ASSERT_TRUE(reader.ok()) << reader.status();
  const auto runs = (*reader)->Runs().value();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].info.method, "greedy");
  EXPECT_EQ(runs[0].finished_at, "");
  const auto searches = (*reader)->Searches(runs[0].run_id).value();
  ASSERT_EQ(searches.size(), 1u);
  EXPECT_EQ(searches[0].state, SearchState::kDone);
  EXPECT_EQ(searches[0].seed, 7u);
  EXPECT_EQ(searches[0].correct, true);
  EXPECT_EQ(Count(**reader, "searches WHERE stage = 'tree'"), 1);
  EXPECT_EQ(Count(**reader, "searches WHERE verdict_tokens = 11"), 1);
  const StoredTree tree = (*reader)->LoadTree(search).value();
  EXPECT_EQ(tree.Response(2), "6*7=42\n= 42");
  EXPECT_EQ(tree.nodes[2].verdict, NodeVerdict::kCorrect);
  const auto best = (*reader)->BestSolution(searches[0].problem_id).value();
  ASSERT_TRUE(best.has_value());
  EXPECT_EQ(best->response, "6*7=42\n= 42");
}

TEST_F(RunDbTest, AFailedSearchCanBeReopened) {
  const auto db = Create("run.db");
  const int64_t run = db->AddRun({.kind = "generate", .config = "{}"}).value();
  const int64_t problem = db->AddProblem(kProblem, "set", "qa").value();
  SearchResult result;
  result.status = absl::UnavailableError("gone");
  const std::string entry = EncodeEntry({.number = 3, .fingerprint = 9});
  for (const bool pruned : {false, true}) {
    const int64_t search =
        db->BeginSearch(run, problem, pruned ? 1 : 2)->search_id;
    ASSERT_TRUE(db->AddResponse(search, 3, entry).ok());
    ASSERT_TRUE(
        db->FinishSearch(search, Finished(result, std::nullopt,
                                          ToStored(Tree(), {{}}, {}), {{entry}})
                                     .value())
            .ok());
    ASSERT_EQ(Count(*db, "responses"), 0);
    ASSERT_EQ(Count(*db, "searches WHERE state='failed' AND error='gone'"), 1);
    if (pruned) {
      ASSERT_TRUE(db->sqlite().Execute("UPDATE trees SET log=NULL").ok());
    }
    ASSERT_TRUE(db->ReopenSearch(search).ok());
    EXPECT_EQ(Count(*db, "trees"), 0);
    EXPECT_EQ(Count(*db, "searches WHERE state='failed'"), 0);
    EXPECT_EQ(db->BeginSearch(run, problem, pruned ? 1 : 2)->state,
              SearchState::kRunning);
    const auto kept = db->Responses(search).value();
    EXPECT_EQ(kept, pruned ? std::vector<std::string>()
                           : std::vector<std::string>({entry}));
    ASSERT_TRUE(db->sqlite().Execute("DELETE FROM responses").ok());
  }
}

TEST_F(RunDbTest, NothingUncommittedIsSeen) {
  const auto db = Create("run.db");
  ASSERT_TRUE(db->AddRun({.kind = "generate", .config = "{}"}).ok());
  const auto reader = RunDb::Open(Path("run.db"), Sqlite::kRead);
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(Count(**reader, "runs"), 0);
  ASSERT_TRUE(db->Commit().ok());
  EXPECT_EQ(Count(**reader, "runs"), 1);
}

// SQLite writes beyond the end of such a file, but nothing reads that again.
TEST_F(RunDbTest, AFileThatIsCutShortWhileWrittenIsTold) {
  const auto db = Create("run.db");
  Fill(*db);
  ASSERT_TRUE(db->sqlite().Execute("PRAGMA wal_checkpoint(TRUNCATE)").ok());
  ASSERT_TRUE(db->AddRun({.kind = "generate", .config = "{}"}).ok());
  ASSERT_TRUE(db->Commit().ok());
  ASSERT_GT(fs::file_size(Path("run.db")), 100u);
  fs::resize_file(Path("run.db"), 100);
  absl::Status status =
      db->AddRun({.kind = "generate", .config = "{}"}).status();
  if (status.ok()) status = db->Commit();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
  EXPECT_NE(status.message().find("cut short"), std::string::npos) << status;
}

// Compaction legitimately makes the file smaller.
TEST_F(RunDbTest, ACompactedFileIsNotTakenForOneCutShort) {
  const auto db = Create("run.db");
  for (int i = 0; i < 50; ++i) Fill(*db);
  ASSERT_TRUE(db->Compact().ok());
  ASSERT_TRUE(db->AddRun({.kind = "generate", .config = "{}"}).ok());
  ASSERT_TRUE(db->Commit().ok());
  const auto before = fs::file_size(Path("run.db"));
  for (int run = 1; run <= 50; ++run) ASSERT_TRUE(db->DropRun(run).ok());
  ASSERT_TRUE(db->Compact().ok());
  ASSERT_LT(fs::file_size(Path("run.db")), before);
  ASSERT_TRUE(db->AddRun({.kind = "generate", .config = "{}"}).ok());
  EXPECT_TRUE(db->Commit().ok());
}

TEST_F(RunDbTest, ASecondWriterIsRefusedAndHarmsNothing) {
  const auto db = Create("run.db");
  Fill(*db);
  const auto second = RunDb::Open(Path("run.db"), Sqlite::kWrite);
  ASSERT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(second.status().message().find("another program is recording"),
            std::string::npos);
  // The refused one did not break the first one's locks.
  ASSERT_TRUE(db->AddRun({.kind = "generate", .config = "{}"}).ok());
  ASSERT_TRUE(db->Commit().ok());
}

TEST_F(RunDbTest, AWriterMayComeBackOnceTheFirstIsGone) {
  { Fill(*Create("run.db")); }
  const auto again = RunDb::Open(Path("run.db"), Sqlite::kWrite);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Count(**again, "searches"), 1);
}

TEST_F(RunDbTest, OtherFilesAreRefusedAsWhatTheyAre) {
  std::ofstream(Path("text")) << "hello, this is no database at all, but long "
                                 "enough to have a header";
  for (const Sqlite::Mode mode : {Sqlite::kRead, Sqlite::kWrite}) {
    const auto text = RunDb::Open(Path("text"), mode);
    EXPECT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(text.status().message().find("not a run database"),
              std::string::npos);
    EXPECT_EQ(RunDb::Open(Path("none"), mode).status().code(),
              absl::StatusCode::kNotFound);
    EXPECT_FALSE(RunDb::Open(folder_.string(), mode).ok());
  }
  EXPECT_FALSE(fs::exists(Path("none")));
  {
    auto foreign = Sqlite::Open(Path("foreign.db"), Sqlite::kCreate);
    ASSERT_TRUE(foreign->Execute("CREATE TABLE bookmarks(url)").ok());
  }
  for (const Sqlite::Mode mode : {Sqlite::kRead, Sqlite::kWrite}) {
    const auto opened = RunDb::Open(Path("foreign.db"), mode);
    EXPECT_NE(opened.status().message().find("another program's"),
              std::string::npos);
  }
}

TEST_F(RunDbTest, ANewerDatabaseIsRefusedUntouched) {
  { Create("run.db"); }
  {
    auto db = Sqlite::Open(Path("run.db"), Sqlite::kWrite);
    ASSERT_TRUE(db->Execute("PRAGMA user_version=99").ok());
  }
  for (const Sqlite::Mode mode : {Sqlite::kRead, Sqlite::kWrite}) {
    const auto opened = RunDb::Open(Path("run.db"), mode);
    EXPECT_EQ(opened.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(opened.status().message().find("newer Espalier"),
              std::string::npos);
  }
}

// A file of the first version is upgraded, with its content.
TEST_F(RunDbTest, AnOlderDatabaseIsUpgradedWithItsContent) {
  {
    auto db = Sqlite::Open(Path("old.db"), Sqlite::kCreate);
    ASSERT_TRUE(db->Execute("PRAGMA application_id=0x45737061").ok());
    ASSERT_TRUE(Migrate(*db, SchemaSteps().subspan(0, 1)).ok());
    ASSERT_TRUE(db->Execute("INSERT INTO problems(name, set_name, task, "
                            "question) VALUES ('p', 's', 'qa', 'q')")
                    .ok());
  }
  const auto old = RunDb::Open(Path("old.db"), Sqlite::kRead);
  EXPECT_EQ(old.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(old.status().message().find("db upgrade"), std::string::npos);
  { ASSERT_TRUE(RunDb::Open(Path("old.db"), Sqlite::kWrite).ok()); }
  const auto now = RunDb::Open(Path("old.db"), Sqlite::kRead);
  ASSERT_TRUE(now.ok()) << now.status();
  EXPECT_EQ(Count(**now, "problems"), 1);
  EXPECT_EQ(Count(**now, "accuracy"), 0);
}

// The second version has everything that is read: such a file is read
// unchanged, even in a read-only folder, and gets the new column when written.
TEST_F(RunDbTest, ADatabaseOfTheSecondVersionIsReadAsItIs) {
  {
    auto db = Sqlite::Open(Path("old.db"), Sqlite::kCreate);
    ASSERT_TRUE(db->Execute("PRAGMA application_id=0x45737061").ok());
    ASSERT_TRUE(Migrate(*db, SchemaSteps().subspan(0, 2)).ok());
  }
  const std::string stage =
      "pragma_table_info('searches') WHERE name = 'stage'";
  {
    const auto old = RunDb::Open(Path("old.db"), Sqlite::kRead);
    ASSERT_TRUE(old.ok()) << old.status();
    EXPECT_EQ(Count(**old, stage), 0);
  }
  const auto now = RunDb::Open(Path("old.db"), Sqlite::kWrite);
  ASSERT_TRUE(now.ok()) << now.status();
  EXPECT_EQ(Count(**now, stage), 1);
}

TEST_F(RunDbTest, AMigrationThatFailsLeavesTheOldVersion) {
  auto db = Sqlite::Open(Path("run.db"), Sqlite::kCreate);
  const char* const steps[] = {"CREATE TABLE a(x);", "CREATE TABLE b(x);",
                               "INSERT INTO no_such_table VALUES (1);"};
  ASSERT_TRUE(Migrate(*db, absl::MakeConstSpan(steps, 1)).ok());
  EXPECT_FALSE(Migrate(*db, steps).ok());
  EXPECT_TRUE(db->Prepare("SELECT * FROM a").ok());
  EXPECT_FALSE(db->Prepare("SELECT * FROM b").ok());
  ASSERT_TRUE(Migrate(*db, absl::MakeConstSpan(steps, 2)).ok());
  EXPECT_TRUE(db->Prepare("SELECT * FROM b").ok());
}

TEST_F(RunDbTest, AnEmptyFileIsWhatAKilledProgramLeaves) {
  std::ofstream(Path("run.db")).flush();
  // It is not another program's file: resuming starts it.
  const absl::Status none = RunDb::Open(Path("run.db"), Sqlite::kRead).status();
  EXPECT_EQ(none.code(), absl::StatusCode::kNotFound) << none;
  EXPECT_NE(none.message().find("an empty run database"), std::string::npos);
  const auto db = RunDb::Open(Path("run.db"), Sqlite::kWrite);
  ASSERT_TRUE(db.ok()) << db.status();
  Fill(**db);
}

TEST_F(RunDbTest, AFullDiskIsAClearErrorAndKeepsWhatWasCommitted) {
  {
    const auto db = Create("run.db");
    Fill(*db);
    // The database may not grow any more, as on a full disk.
    ASSERT_TRUE(db->sqlite().Execute("PRAGMA max_page_count=1").ok());
    absl::Status status;
    const std::string text(20000, 'x');
    for (int i = 0; i < 100 && status.ok(); ++i) {
      status = db->AddResponse(1, static_cast<uint64_t>(i), text);
      if (status.ok()) status = db->Commit();
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_NE(status.message().find("--resume"), std::string::npos);
  }
  const auto again = RunDb::Open(Path("run.db"), Sqlite::kWrite);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Count(**again, "searches"), 1);
}

TEST_F(RunDbTest, AFileThatMayNotBeWrittenIsNamed) {
  { Fill(*Create("run.db")); }
  fs::permissions(Path("run.db"), fs::perms::owner_read |
                                      fs::perms::group_read |
                                      fs::perms::others_read);
  fs::permissions(folder_, fs::perms::all);
  // Root may write anything, so the child becomes nobody.
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(3);
    const auto db = RunDb::Open(Path("run.db"), Sqlite::kWrite);
    _exit(db.status().code() == absl::StatusCode::kPermissionDenied ? 0 : 4);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(RunDbTest, AnotherQuestionByAKnownNameIsRefused) {
  const auto db = Create("run.db");
  Fill(*db);
  GradedProblem other = kProblem;
  EXPECT_TRUE(db->AddProblem(other, "set", "qa").ok());
  other.problem.question = "What is 6 times 8?";
  EXPECT_FALSE(db->AddProblem(other, "set", "qa").ok());
}

TEST_F(RunDbTest, TreeNodesAreRows) {
  const auto db = Create("run.db");
  const int64_t search = Fill(*db);
  ASSERT_TRUE(AddTreeNodes(*db).ok());
  auto s = db->sqlite().Prepare(absl::StrCat(
      "SELECT node, parent, depth, kind, text, answer, verdict, tokens, "
      "step_score, outcome_score, window2_score, window3_score, "
      "window4_score FROM tree_nodes(",
      search, ") WHERE node > 0"));
  ASSERT_TRUE(s.ok()) << s.status();
  ASSERT_TRUE(s->Step().value());
  EXPECT_EQ(s->Int(0), 1);
  EXPECT_EQ(s->Int(1), 0);
  EXPECT_EQ(s->Text(4), "6*7=42\n");
  EXPECT_TRUE(s->IsNull(5));
  EXPECT_TRUE(s->IsNull(6));
  for (int column = 8; column <= 12; ++column) {
    EXPECT_TRUE(s->IsNull(column));  // not scored
  }
  ASSERT_TRUE(s->Step().value());
  EXPECT_EQ(s->Int(2), 2);
  EXPECT_EQ(s->Text(3), "answer");
  EXPECT_EQ(s->Text(5), "42");
  EXPECT_EQ(s->Text(6), "correct");
  EXPECT_EQ(s->Int(7), 1);
  EXPECT_EQ(s->Real(8), 0.5);
  EXPECT_EQ(s->Real(9), 0.75);
  EXPECT_TRUE(s->IsNull(10));
  EXPECT_EQ(s->Real(11), 0.125);
  EXPECT_EQ(s->Real(12), 1);
  EXPECT_FALSE(s->Step().value());
  // Joined to searches, and for a search that does not exist.
  auto joined = db->sqlite().Prepare(
      "SELECT count(*) FROM searches s JOIN tree_nodes(s.search_id)");
  ASSERT_TRUE(joined.ok()) << joined.status();
  ASSERT_TRUE(joined->Step().value());
  EXPECT_EQ(joined->Int(0), 3);
  auto none = db->sqlite().Prepare("SELECT * FROM tree_nodes(999)");
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(none->Step().value());
  const auto without = db->sqlite().Prepare("SELECT * FROM tree_nodes");
  EXPECT_NE(without.status().message().find("needs a search"),
            std::string::npos);
}

TEST_F(RunDbTest, PruningKeepsWhatItSays) {
  const auto db = Create("run.db");
  const int64_t search = Fill(*db);
  ASSERT_TRUE(db->PruneLogs(0).ok());
  ASSERT_TRUE(db->Compact().ok());
  EXPECT_TRUE(db->LoadTree(search).ok());
  EXPECT_EQ(db->LoadLog(search).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(db->DropRun(1).ok());
  ASSERT_TRUE(db->Compact().ok());
  EXPECT_EQ(Count(*db, "searches"), 0);
  EXPECT_EQ(Count(*db, "trees"), 0);
  EXPECT_EQ(Count(*db, "problems"), 1);
}

TEST_F(RunDbTest, AnEqualConfigurationHasAnEqualHash) {
  RunInfo a{.kind = "generate", .config = "{\"set\":\"x\"}", .seed = 1};
  RunInfo b = a;
  EXPECT_EQ(ConfigHash(a), ConfigHash(b));
  b.seed = 2;
  EXPECT_NE(ConfigHash(a), ConfigHash(b));
  b = a;
  b.model_hash = "0";
  EXPECT_NE(ConfigHash(a), ConfigHash(b));
  b = a;
  b.model = "elsewhere";  // the location of a model does not matter
  EXPECT_EQ(ConfigHash(a), ConfigHash(b));
}

}  // namespace
}  // namespace espalier
