#include "search/tree/tree.h"

#include <gtest/gtest.h>

#include <cmath>

#include "search/tree/check_tree.h"

namespace espalier {
namespace {

StepDraft Draft(std::string_view text, absl::Span<const int32_t> tokens) {
  return {.text = text, .tokens = tokens, .logprob = -1};
}

TEST(TreeTest, EqualSamplesAreOneNodeWithTwoDraws) {
  Tree tree;
  const std::vector<int32_t> a = {1, 2}, b = {1, 3};
  bool is_new = false;
  const NodeId first = tree.Add(kRoot, Draft("x\n", a), &is_new);
  EXPECT_TRUE(is_new);
  EXPECT_EQ(tree.Add(kRoot, Draft("x\n", a), &is_new), first);
  EXPECT_FALSE(is_new);
  const NodeId other = tree.Add(kRoot, Draft("y\n", b));
  EXPECT_NE(other, first);
  EXPECT_EQ(tree.step(first).draws, 2);
  EXPECT_EQ(tree[kRoot].num_children, 2u);
  EXPECT_TRUE(CheckTree(tree).ok());
}

TEST(TreeTest, ResponseIsTheTextOfThePath) {
  Tree tree;
  const std::vector<int32_t> a = {1}, b = {2};
  const NodeId x = tree.Add(kRoot, Draft("one\n", a));
  const NodeId y = tree.Add(x, Draft("two\n", b));
  EXPECT_EQ(tree.Response(y), "one\ntwo\n");
  EXPECT_EQ(tree.Path(y), (std::vector<NodeId>{x, y}));
  EXPECT_EQ(tree.step(y).depth, 2);
  EXPECT_NE(tree.path_hash(x), tree.path_hash(y));
}

TEST(TreeTest, WhatModelsToldOfTokensIsKeptWithTheStep) {
  Tree tree;
  const int32_t two[] = {7, 8}, one[] = {9};
  const float of_two[] = {1.5f, 2.5f}, of_one[] = {4};
  const float state[] = {-1, 0, 2};
  const NodeId silent = tree.Add(kRoot, {.text = "a", .tokens = one});
  const int64_t before = tree.used_bytes();
  EXPECT_TRUE(std::isnan(tree.mean_entropy(silent)));
  EXPECT_TRUE(tree.confidences(silent).empty());
  const NodeId told = tree.Add(silent, {.text = "b",
                                        .tokens = two,
                                        .mean_entropy = 0.25f,
                                        .confidences = of_two});
  const NodeId mean =
      tree.Add(told, {.text = "c", .tokens = two, .mean_entropy = 0.5f});
  EXPECT_GT(tree.used_bytes(), before);
  EXPECT_EQ(tree.mean_entropy(told), 0.25f);
  EXPECT_EQ(tree.confidences(told), absl::MakeConstSpan(of_two));
  EXPECT_EQ(tree.mean_entropy(mean), 0.5f);
  EXPECT_TRUE(tree.confidences(mean).empty());
  EXPECT_TRUE(std::isnan(tree.mean_entropy(silent)));
  EXPECT_TRUE(tree.hidden(told).empty());
  const int64_t without = tree.used_bytes();
  const NodeId hidden =
      tree.Add(mean, {.text = "d", .tokens = one, .hidden = state});
  EXPECT_EQ(tree.hidden(hidden), absl::MakeConstSpan(state));
  EXPECT_EQ(tree.hidden_size(), 3u);
  EXPECT_GE(tree.used_bytes(),
            without + static_cast<int64_t>(sizeof(state) + sizeof(Node)));
  EXPECT_TRUE(tree.alternatives(hidden).empty());
  const TokenLogprob top_tokens[] = {
      {7, -.5f}, {9, -1.f}, {8, -.25f}, {9, -2.f}};
  const int64_t before_top_tokens = tree.used_bytes();
  const NodeId ranked =
      tree.Add(mean, {.text = "e", .tokens = two, .alternatives = top_tokens});
  EXPECT_EQ(tree.alternatives(ranked), absl::MakeConstSpan(top_tokens));
  EXPECT_TRUE(tree.alternatives(mean).empty());
  EXPECT_GE(tree.used_bytes(),
            before_top_tokens +
                static_cast<int64_t>(sizeof(top_tokens) + sizeof(Node)));
  // A later draw adds what the first one lacked and changes nothing else.
  tree.Add(kRoot, {.text = "a", .tokens = one, .confidences = of_one});
  tree.Add(silent, {.text = "b",
                    .tokens = two,
                    .mean_entropy = 3,
                    .confidences = {of_one, 0}});
  EXPECT_EQ(tree.confidences(silent), absl::MakeConstSpan(of_one));
  EXPECT_EQ(tree.mean_entropy(told), 0.25f);
  EXPECT_EQ(tree.confidences(told), absl::MakeConstSpan(of_two));
}

TEST(TreeTest, MeanOfVisitsIsKept) {
  Node node;
  for (const float v : {1.0f, 0.0f, 0.5f, 0.5f}) AddVisit(node, v);
  EXPECT_EQ(node.visits, 4u);
  EXPECT_FLOAT_EQ(node.q, 0.5f);
}

TEST(CheckTreeTest, FindsEachBrokenInvariant) {
  const std::vector<int32_t> a = {1}, b = {2};
  const auto make = [&] {
    Tree tree;
    const NodeId x = tree.Add(kRoot, Draft("x\n", a));
    tree.Add(x, Draft("y\n", b));
    return tree;
  };
  EXPECT_TRUE(CheckTree(make()).ok());
  Tree in_flight = make();
  in_flight[1].in_flight = 1;
  EXPECT_FALSE(CheckTree(in_flight).ok());
  Tree visits = make();
  AddVisit(visits[2], 0.5f);  // its ancestors have none
  EXPECT_FALSE(CheckTree(visits).ok());
  Tree range = make();
  AddVisit(range[0], 1.5f);
  EXPECT_FALSE(CheckTree(range).ok());
  Tree depth = make();
  depth.step(2).depth = 7;
  EXPECT_FALSE(CheckTree(depth).ok());
  Tree terminal = make();
  terminal[1].flags |= kTerminal;
  EXPECT_FALSE(CheckTree(terminal).ok());
  Tree count = make();
  count[0].num_children = 2;
  EXPECT_FALSE(CheckTree(count).ok());
}

}  // namespace
}  // namespace espalier
