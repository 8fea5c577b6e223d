// Begins code for AVX-512 with BF16 and VNNI, which avx512_end-inl.h ends.
// Include it behind all other headers, so that their inline functions, which
// the linker may share between files, are not compiled for these instructions.

#if defined(__clang__)
#pragma clang attribute push(                                                \
        __attribute__((target("avx2,fma,bmi,bmi2,avx512f,avx512bw,avx512cd," \
                              "avx512dq,avx512vl,avx512bf16,avx512vnni"))),  \
            apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,avx512bf16,avx512vnni")
// g++ 12 warns about its own AVX-512 headers (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
