#include "src/queue/postgres.h"

#include <string>

#include "gtest/gtest.h"

namespace espalier {
namespace {

TEST(PostgresTest, TellsAddressesApart) {
  EXPECT_TRUE(IsPostgresUrl("postgres://host/db"));
  EXPECT_TRUE(IsPostgresUrl("postgresql://host/db"));
  EXPECT_FALSE(IsPostgresUrl("run.db"));
  EXPECT_FALSE(IsPostgresUrl("http://postgres://"));
  for (const char* right :
       {"postgres://", "postgres:///db", "postgres://ann@host:5432/work",
        "postgres://ann@host/work?sslmode=require", "postgres://ann:@host/work",
        "postgresql://a:1,b:2/work", "postgres://[::1]:5432/work"}) {
    EXPECT_TRUE(CheckPostgresUrl(right).ok()) << right;
  }
  // A password with a bare slash would be read as host, port and database.
  for (const char* wrong :
       {"", "run.db", "mysql://host/db", "postgres://u:se%ZZcret@host/db",
        "postgres://u:se/cret@host/db", "postgres://u:1/cret@host",
        "postgres://host:port/db", "postgres://host/db?secret=1",
        "postgres://ann:se%2Fcret@host/work?sslmode=require",
        "postgres://ann@host/work?password=secret",
        "postgres://ann@host/work?sslpassword=secret"}) {
    const absl::Status status = CheckPostgresUrl(wrong);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << wrong;
    EXPECT_EQ(std::string(status.message()).find("cret"), std::string::npos)
        << wrong;
  }
}

TEST(PostgresTest, NoServerIsAnErrorThatMayPass) {
  const auto db = Postgres::Connect("postgres://ann@127.0.0.1:1/work").status();
  EXPECT_TRUE(absl::IsUnavailable(db)) << db;
  EXPECT_TRUE(IsPassing(db));
  EXPECT_NE(std::string(db.message()).find("postgres://ann@127.0.0.1:1/work"),
            std::string::npos)
      << db;
  EXPECT_FALSE(IsPassing(Postgres::Connect("work").status()));
  EXPECT_FALSE(IsPassing(absl::UnavailableError("of another kind")));
}

}  // namespace
}  // namespace espalier
