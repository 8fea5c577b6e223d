// fp32 kernels for processors with AVX2 and FMA.
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "models/differentiable/kernels.h"
#include "models/differentiable/sgemm.h"

#pragma GCC target("arch=x86-64-v3")
#define ESP_NET_NAMESPACE avx2
#define ESP_NET_NAME "avx2-fp32"
#include "models/differentiable/fp32_kernels-inl.h"
