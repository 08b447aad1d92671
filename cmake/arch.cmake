# CARC_ARCH: the value of -march. "" means the compiler's baseline, "native" this machine.
#
# The default is x86-64-v3 (AVX2, BMI2: every x86-64 since about 2015) where the compiler knows it and
# the building machine runs it. Wheels for other machines: -DCARC_ARCH=x86-64-v2 or "".

if(NOT DEFINED CARC_ARCH)
  set(default_arch "")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND NOT CMAKE_CROSSCOMPILING)
    include(CheckCXXSourceRuns)
    set(CMAKE_REQUIRED_FLAGS "-march=x86-64-v3")
    check_cxx_source_runs("
      #include <immintrin.h>
      int main(int argc, char**) {
        volatile unsigned long long bits = static_cast<unsigned long long>(argc);
        const __m256i sum = _mm256_add_epi64(_mm256_set1_epi64x(bits), _mm256_set1_epi64x(bits));
        const __m256d fused = _mm256_fmadd_pd(_mm256_cvtepi32_pd(_mm256_castsi256_si128(sum)),
                                              _mm256_set1_pd(1.0), _mm256_set1_pd(2.0));
        const __m128i half = _mm256_cvtps_ph(_mm256_castpd_ps(fused), 0);
        const bool deposits = _pdep_u64(bits, 2 * bits) == 2 * bits;
        const bool counts = _lzcnt_u64(bits) == 63 && _tzcnt_u64(2 * bits) == 1;
        return deposits && counts && _mm256_extract_epi64(sum, 3) == 2 && _mm_extract_epi16(half, 1) >= 0
            ? 0 : 1;
      }" CARC_RUNS_X86_64_V3)
    unset(CMAKE_REQUIRED_FLAGS)
    if(CARC_RUNS_X86_64_V3)
      set(default_arch "x86-64-v3")
    endif()
  endif()
  set(CARC_ARCH "${default_arch}" CACHE STRING "-march of the build; empty = the compiler's baseline")
endif()
message(STATUS "CARC_ARCH: ${CARC_ARCH}")
