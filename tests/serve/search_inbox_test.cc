#include "src/serve/search_inbox.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"

namespace espalier {
namespace {

std::unique_ptr<SearchJob> Job(const std::string& id) {
  auto job = std::make_unique<SearchJob>();
  job->problem.id = id;
  return job;
}

TEST(SearchInbox, GivesJobsInOrderOfArrival) {
  SearchInbox inbox(3);
  EXPECT_TRUE(inbox.Put(1, Job("a")));
  EXPECT_TRUE(inbox.Put(2, Job("b")));
  EXPECT_TRUE(inbox.Put(3, Job("c")));
  EXPECT_FALSE(inbox.Put(4, Job("d")));
  EXPECT_EQ(inbox.waiting(), 3u);
  EXPECT_EQ(inbox.Take(2)->problem.id, "b");
  EXPECT_EQ(inbox.Take(2), nullptr);
  EXPECT_EQ(inbox.Next(false)->problem.id, "a");
  EXPECT_EQ(inbox.Next(true)->problem.id, "c");
  EXPECT_EQ(inbox.Next(false), nullptr);
}

TEST(SearchInbox, EndsWithTheJobsThatWait) {
  SearchInbox inbox(3);
  inbox.Put(1, Job("a"));
  inbox.Close();
  EXPECT_FALSE(inbox.Put(2, Job("b")));
  EXPECT_EQ(inbox.Next(true)->problem.id, "a");
  EXPECT_EQ(inbox.Next(true), nullptr);
}

TEST(SearchInbox, WaitsForJobsOfOtherThreads) {
  SearchInbox inbox(1000);
  std::vector<std::thread> clients;
  for (uint64_t c = 0; c < 4; ++c) {
    clients.emplace_back([&inbox, c] {
      for (uint64_t i = 0; i < 100; ++i) {
        while (!inbox.Put(c * 100 + i, Job(absl::StrCat(c * 100 + i)))) {
        }
      }
    });
  }
  std::vector<int> seen(400);
  for (int i = 0; i < 400; ++i) {
    ++seen[std::stoul(inbox.Next(true)->problem.id)];
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(seen, std::vector<int>(400, 1));
}

}  // namespace
}  // namespace espalier
