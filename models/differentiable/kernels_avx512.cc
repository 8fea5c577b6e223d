// fp32 kernels for processors with AVX-512.
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "models/differentiable/kernels.h"
#include "models/differentiable/sgemm.h"

#pragma GCC target("arch=x86-64-v4")
#define ESP_NET_NAMESPACE avx512
#define ESP_NET_NAME "avx512-fp32"
#include "models/differentiable/fp32_kernels-inl.h"
