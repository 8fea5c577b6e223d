// How GGUF stores the numbers of a tensor: types and their blocks.
//
//   type   elements  bytes  value of element i
//   F32           1      4
//   F16           1      2
//   BF16          1      2
//   Q8_0         32     34  d q[i]               d fp16, q 32 int8
//   Q4_0         32     18  d (q[i] - 8)         d fp16, 16 bytes: byte k holds
//                                                q[k] low and q[k + 16] high
//   Q4_1         32     20  d q[i] + m           d and m fp16, then as Q4_0
//   Q5_0         32     22  d (q[i] - 16)        d fp16, 4 bytes whose bit i is
//                                                the fifth of q[i], then as
//                                                Q4_0
//   Q5_1         32     24  d q[i] + m           d and m fp16, then as Q5_0
//   Q4_K        256    144  d s[i / 32] q[i] - e m[i / 32]
//                                                d and e fp16, 12 bytes of s
//                                                and m (6 bits each), 128
//                                                bytes: byte 32 c + l holds
//                                                q[64 c + l] low and q[64 c +
//                                                32 + l] high
//   Q5_K        256    176  the same             as Q4_K with 32 bytes before
//                                                the last 128: bit j of byte l
//                                                is the fifth of q[32 j + l]
//   Q6_K        256    210  d s[i / 16] (q[i] - 32)  128 bytes of low 4 bits,
//                                                64 of high 2 bits, s 16 int8,
//                                                d fp16
//
// (The GGUF specification and the definitions of the blocks in ggml.) Products
// of the first five are exact in fp32; the others' are rounded.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_GGUF_BLOCKS_H_
#define ESPALIER_MODELS_CHECKPOINT_GGUF_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace espalier {

// Numbered as in the file format.
enum class GgufTensorType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kBF16 = 30,
};

// E.g. "Q8_0"; "type 99" for an unknown number.
std::string GgufTensorTypeName(uint32_t type);

struct GgufBlock {
  int elements = 0;  // 0: unsupported type
  int bytes = 0;
};
GgufBlock BlockOf(uint32_t type);
// "F32, F16, ...": the supported types.
std::string ReadableGgufTypes();

// Reads `count` elements, a multiple of the block's, from `data` as fp32.
void ReadGgufBlocks(GgufTensorType type, const std::byte* data, int64_t count,
                    float* out);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_GGUF_BLOCKS_H_
