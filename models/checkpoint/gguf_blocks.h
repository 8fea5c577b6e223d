// How GGUF stores the numbers of a tensor: types and their blocks.
//
//   type   elements  bytes  value of element i
//   F32           1      4
//   F16           1      2
//   BF16          1      2
//   Q8_0         32     34  d q[i]               d fp16, q 32 int8
//   Q4_0         32     18  d (q[i] - 8)         d fp16, 16 bytes: byte k holds
//                                                q[k] low and q[k + 16] high
//   Q6_K        256    210  d s[i / 16] (q[i] - 32)  128 bytes of low 4 bits,
//                                                64 of high 2 bits, s 16 int8,
//                                                d fp16
//
// (The GGUF specification and the definitions of the blocks in ggml.) Products
// of the first five are exact in fp32; Q6_K's are rounded once.
//
// Stateless functions: thread-safe.
#ifndef ESPALIER_MODELS_CHECKPOINT_GGUF_BLOCKS_H_
#define ESPALIER_MODELS_CHECKPOINT_GGUF_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace espalier {

// Numbered as in the files.
enum class GgufTensorType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ8_0 = 8,
  kQ6_K = 14,
  kBF16 = 30,
};

// "Q8_0"; for a number without a name here "type 99".
std::string GgufTensorTypeName(uint32_t type);

struct GgufBlock {
  int elements = 0;  // 0: a type that is not read here
  int bytes = 0;
};
GgufBlock BlockOf(uint32_t type);

// `count` elements, a multiple of the block's, from `data` as fp32.
void ReadGgufBlocks(GgufTensorType type, const std::byte* data, int64_t count,
                    float* out);

}  // namespace espalier

#endif  // ESPALIER_MODELS_CHECKPOINT_GGUF_BLOCKS_H_
