// AMX instructions by tile number, as macros: the tile is part of the
// instruction.
//
// A tile is 16 rows of 64 bytes. TDPBF16PS adds A [16, 32] times B to C [16,
// 16] fp32; B has rows of pairs: row p holds (b[2p][j], b[2p+1][j]) for j = 0
// .. 15. TDPBSSD is the same for int8: A [16, 64], B in rows of fours, C int32.
#ifndef ESPALIER_MODELS_KERNELS_TILE_INSTRUCTIONS_H_
#define ESPALIER_MODELS_KERNELS_TILE_INSTRUCTIONS_H_

// The compiler does not see what tiles read: the memory clobber keeps stores to
// operands before the loads.
#define ESP_TILE_LOAD(tile, base, stride)                    \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"( \
                       static_cast<const void*>(base)),      \
                   "r"(static_cast<long>(stride))            \
                   : "memory")
#define ESP_TILE_STORE(tile, base, stride)                        \
  __asm__ volatile("tilestored %%tmm" #tile                       \
                   ", (%0,%1,1)" ::"r"(static_cast<void*>(base)), \
                   "r"(static_cast<long>(stride))                 \
                   : "memory")
#define ESP_TILE_ZERO(tile) __asm__ volatile("tilezero %tmm" #tile)
#define ESP_TILE_DOT(c, a, b) \
  __asm__ volatile("tdpbf16ps %tmm" #b ", %tmm" #a ", %tmm" #c)
#define ESP_TILE_DOT8(c, a, b) \
  __asm__ volatile("tdpbssd %tmm" #b ", %tmm" #a ", %tmm" #c)

#endif  // ESPALIER_MODELS_KERNELS_TILE_INSTRUCTIONS_H_
