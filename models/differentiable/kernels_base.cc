// fp32 kernels for any x86-64 processor.
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "models/differentiable/kernels.h"
#include "models/differentiable/sgemm.h"

#define ESP_NET_NAMESPACE base
#define ESP_NET_NAME "plain-fp32"
#include "models/differentiable/fp32_kernels-inl.h"
