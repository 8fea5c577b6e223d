// Folders written by tools/random_checkpoint.py can be opened.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/checkpoint/tensor_source.h"
#include "tests/models/testing/random_checkpoint.h"

namespace espalier {
namespace {

TEST(RandomCheckpointToolTest, WritesFoldersThatOpen) {
  for (const int shards : {1, 3}) {
    const std::string folder = TempFolder();
    const std::string command = absl::StrCat(
        "python3 tools/random_checkpoint.py --preset llama-5m --shards ",
        shards, " --out '", folder, "'");
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    EXPECT_EQ(std::filesystem::exists(folder + "/model.safetensors"),
              shards == 1);
    const auto source = TensorSource::Open(folder);
    ASSERT_TRUE(source.ok()) << source.status();
    const TensorShape shape = ShapeOf((*source)->config(), TensorRole::kDown);
    const int layer = (*source)->config().layers - 1;
    std::vector<float> down(static_cast<size_t>(shape.rows * shape.columns));
    (*source)->Read(TensorRole::kDown, layer, 0, shape.rows, down.data());
    double square = 0;
    for (const float v : down) square += v * v;
    EXPECT_NEAR(std::sqrt(square / static_cast<double>(down.size())), 0.02,
                0.002);
  }
}

}  // namespace
}  // namespace espalier
