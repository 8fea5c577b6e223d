// The calling thread's use of AMX tiles.
#ifndef ESPALIER_MODELS_KERNELS_TILE_SCOPE_H_
#define ESPALIER_MODELS_KERNELS_TILE_SCOPE_H_

#include <cstdint>

namespace espalier {

// Configures the calling thread's tiles during its lifetime: eight of 16 rows.
class TileScope {
 public:
  TileScope() {
    struct alignas(64) {
      uint8_t palette = 1;
      uint8_t start_row = 0;
      uint8_t reserved[14] = {};
      uint16_t bytes[16] = {};
      uint8_t rows[16] = {};
    } config;
    for (int i = 0; i < 8; ++i) {
      config.bytes[i] = 64;
      config.rows[i] = 16;
    }
    __asm__ volatile("ldtilecfg %0" ::"m"(config));
  }
  ~TileScope() { __asm__ volatile("tilerelease"); }
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;
};

}  // namespace espalier

#endif  // ESPALIER_MODELS_KERNELS_TILE_SCOPE_H_
