// Ends what avx512_begin-inl.h began.

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
