#include "tests/datasets/data_files.h"

#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/check.h"

namespace espalier {

std::string PublicData() {
  const char* data = std::getenv("ESPALIER_DATA");
  return data == nullptr ? "" : data;
}

std::string WriteTestFile(const std::string& name, std::string_view text) {
  const std::filesystem::path path =
      std::filesystem::path(std::getenv("TEST_TMPDIR")) / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

std::string Gzipped(std::string_view text) {
  z_stream stream{};
  // +16: a gzip header instead of zlib's.
  ESP_CHECK(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8,
                         Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in =
      reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // read only
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  ESP_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace espalier
