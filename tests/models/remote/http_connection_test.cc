#include "models/remote/http_connection.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"

namespace espalier {
namespace {

// The library's server is llama-server's: without TCP_NODELAY its second write,
// the body, waits until the first one is acknowledged.
TEST(HttpConnection, RepliesInTwoWritesAreNotWaitedFor) {
  httplib::Server server;
  server.Post("/ask", [](const httplib::Request&, httplib::Response& reply) {
    reply.set_content(std::string(1000, 'x'), "text/plain");
  });
  const int port = server.bind_to_any_port("127.0.0.1");
  ASSERT_GT(port, 0);
  std::thread thread([&] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();
  {
    HttpConnection connection({.host = "127.0.0.1", .port = port}, {});
    std::vector<double> seconds;
    // Linux acknowledges the first segments of a connection at once.
    for (int i = 0; i < 60; ++i) {
      const double start = Clock::Real().Seconds();
      const auto reply = connection.Post("/ask", "{}");
      ASSERT_TRUE(reply.ok()) << reply.status();
      EXPECT_EQ(reply->body.size(), 1000u);
      if (i >= 30) seconds.push_back(Clock::Real().Seconds() - start);
    }
    std::sort(seconds.begin(), seconds.end());
    EXPECT_LT(seconds[seconds.size() / 2], 0.030);
  }
  server.stop();
  thread.join();
}

}  // namespace
}  // namespace espalier
