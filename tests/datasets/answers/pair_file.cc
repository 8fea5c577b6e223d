#include "tests/datasets/answers/pair_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "nlohmann/json.hpp"

namespace espalier {

std::vector<Pair> ReadPairs(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  std::vector<Pair> out;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const nlohmann::json json = nlohmann::json::parse(line);
    Pair pair;
    pair.line = number;
    pair.gold = json.at("gold");
    pair.answer = json.at("answer");
    pair.equal = json.at("equal");
    pair.disputed = json.contains("disputed");
    const nlohmann::json opts = json.value("opts", nlohmann::json::object());
    if (opts.contains("allow_set_relation_comp")) {
      pair.policy.interval_is_inequality =
          opts["allow_set_relation_comp"].get<bool>();
    }
    if (opts.contains("strict")) {
      pair.policy.strict_symbols = opts["strict"].get<bool>();
    }
    if (opts.contains("precision")) {
      pair.policy.rounding_digits =
          std::min(pair.policy.rounding_digits, opts["precision"].get<int>());
    }
    // A string rule, by which "1, 2" differs from "2, 1".
    pair.policy.list_order = opts.contains("semantics");
    out.push_back(std::move(pair));
  }
  return out;
}

std::vector<Pair> OwnPairs() {
  return ReadPairs("tests/datasets/answers/pairs.jsonl");
}

std::vector<std::string> Corpus() {
  std::vector<std::string> out;
  for (const Pair& pair : OwnPairs()) {
    out.push_back(pair.gold);
    out.push_back(pair.answer);
  }
  std::ifstream in("tests/datasets/answers/corpus/hostile.txt");
  EXPECT_TRUE(in.good());
  std::string line;
  while (std::getline(in, line)) out.push_back(line);
  return out;
}

}  // namespace espalier
