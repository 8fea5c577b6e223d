#include "search/labelling/rollout_pool.h"

#include <gtest/gtest.h>

namespace espalier {
namespace {

// Q + U by hand with alpha .5, beta .9, L 500, c .125:
//   state 1, MC .25, 0 words     .5^.75            = .5946
//   state 2, MC .75, 500 words   .5^.25 .9         = .7568
//   state 2, MC .75, 1000 words  .5^.25 .81        = .6811
//   state 2, MC .75, 1500 words  .5^.25 .729       = .6130
TEST(RolloutPoolTest, TakesTheHighestQPlusU) {
  RolloutPool pool(PoolOptions{});
  pool.AddState(1, 0.25);
  pool.AddState(2, 0.75);
  pool.Add({1, 10}, 0);
  pool.Add({2, 23}, 1500);
  pool.Add({2, 22}, 1000);
  pool.Add({2, 21}, 500);
  EXPECT_EQ(pool.Pop()->end, 21u);  // nothing selected yet: U = 0
  // U(2) = .125 1 / 2 = .0625, U(1) = .125: .7436 against .7196.
  EXPECT_EQ(pool.Pop()->end, 22u);
  // U(2) = .125 1.4142 / 3 = .0589, U(1) = .1768: .6719 against .7714.
  EXPECT_EQ(pool.Pop()->end, 10u);
  const auto last = pool.Pop();
  EXPECT_EQ(last->state, 2u);
  EXPECT_EQ(last->end, 23u);
  EXPECT_FALSE(pool.Pop().has_value());
}

TEST(RolloutPoolTest, OnlyStatesOfMixedEndsGiveRollouts) {
  RolloutPool pool(PoolOptions{});
  pool.AddState(1, 0);
  pool.AddState(2, 1);
  pool.Add({1, 10}, 1);
  pool.Add({2, 20}, 1);
  EXPECT_FALSE(pool.Pop().has_value());
  EXPECT_TRUE(pool.knows(1));
  EXPECT_FALSE(pool.knows(3));
  EXPECT_EQ(pool.mc(2), 1);
}

TEST(RolloutPoolTest, ATakenRolloutNeverComesBack) {
  RolloutPool pool(PoolOptions{});
  pool.AddState(1, 0.5);
  pool.Add({1, 10}, 5);
  pool.Add({1, 10}, 5);
  EXPECT_TRUE(pool.Pop().has_value());
  pool.Add({1, 10}, 5);
  EXPECT_FALSE(pool.Pop().has_value());
  // The same end under another state is another rollout.
  pool.AddState(2, 0.5);
  pool.Add({2, 10}, 3);
  EXPECT_EQ(pool.Pop()->state, 2u);
}

TEST(RolloutPoolTest, EqualsComeInTheOrderOfTheirEntry) {
  RolloutPool pool(PoolOptions{});
  pool.AddState(1, 0.5);
  for (const NodeId end : {7u, 5u, 9u}) pool.Add({1, end}, 4);
  EXPECT_EQ(pool.Pop()->end, 7u);
  EXPECT_EQ(pool.Pop()->end, 5u);
  EXPECT_EQ(pool.Pop()->end, 9u);
}

}  // namespace
}  // namespace espalier
