// Casting kernels: plain loops that the compiler vectorises.
#include "cast.h"

#include "halves.h"

namespace tessella::TS_ISA {

namespace {

constexpr int TILE = 256;

template <class T>
constexpr bool is_floating = static_cast<T>(0.5) != 0;
template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<ComplexElement<T>> = true;

template <class T>
constexpr T lowest =
    static_cast<T>(-1) < 0 ? static_cast<T>(uint64_t{1} << (sizeof(T) * 8 - 1)) : 0;
template <class T>
constexpr T highest = static_cast<T>(~lowest<T>);

template <class To, class From>
TS_INLINE To saturate(From x) {
  constexpr From low = static_cast<From>(lowest<To>);
  // One past the highest integer: a power of two, so exact in any float.
  constexpr From past = static_cast<From>(highest<To> / 2 + 1) * 2;
  bool is_inside = x > low && x < past;
  To inside = static_cast<To>(is_inside ? x : From{});
  To outside = x >= past ? highest<To> : x <= low ? lowest<To> : To{};
  return is_inside ? inside : outside;
}

template <class To, class From>
TS_INLINE To convert_one(From x) {
  if constexpr (is_complex<From> && is_complex<To>) {
    return {static_cast<decltype(To::re)>(x.re), static_cast<decltype(To::re)>(x.im)};
  } else if constexpr (is_complex<From> && same_type<To, Boolean>) {
    return static_cast<Boolean>((x.re != 0) | (x.im != 0));
  } else if constexpr (is_complex<From>) {
    return convert_one<To>(x.re);
  } else if constexpr (is_complex<To>) {
    return {convert_one<decltype(To::re)>(x), 0};
  } else if constexpr (same_type<From, Boolean>) {
    return static_cast<To>(static_cast<uint8_t>(x));
  } else if constexpr (same_type<To, Boolean>) {
    return static_cast<Boolean>(x != 0);
  } else if constexpr (is_floating<From> && !is_floating<To>) {
    return saturate<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void cast_run(int64_t n, void* out, const void* x) {
  auto* to = static_cast<To*>(out);
  auto* from = static_cast<const From*>(x);
  for (int64_t i = 0; i < n; ++i) to[i] = convert_one<To>(from[i]);
}

template <class Half, class To>
void cast_from_half(int64_t n, void* out, const void* x) {
  float tile[TILE];
  for (int64_t i = 0; i < n; i += TILE) {
    int64_t count = n - i < TILE ? n - i : TILE;
    widen_run(count, tile, static_cast<const Half*>(x) + i);
    cast_run<float, To>(count, static_cast<To*>(out) + i, tile);
  }
}

// Exact in float64, or rounded to odd there where 64-bit integers have more bits than it holds.
template <class From>
TS_INLINE double double_to_odd(From x) {
  if constexpr (same_type<From, int64_t> || same_type<From, uint64_t>) {
    constexpr From held = From{1} << 53;
    if (x >= held || (static_cast<From>(-1) < 0 && x <= -held)) {
      From lost = x & 0x7ff;
      return static_cast<double>((x - lost) | (lost ? 0x800 : 0));
    }
  }
  return convert_one<double>(x);
}

template <class From, class Half>
void cast_to_half(int64_t n, void* out, const void* x) {
  float tile[TILE];
  for (int64_t i = 0; i < n; i += TILE) {
    int64_t count = n - i < TILE ? n - i : TILE;
    auto* from = static_cast<const From*>(x) + i;
    for (int64_t j = 0; j < count; ++j) {
      // float32 holds every integer of 16 bits.
      if constexpr (sizeof(From) <= 2)
        tile[j] = convert_one<float>(from[j]);
      else
        tile[j] = float_to_odd(double_to_odd(from[j]));
    }
    narrow_run(count, static_cast<Half*>(out) + i, tile);
  }
}

template <class From, class To>
constexpr CastFn choose() {
  constexpr bool from_half = same_type<From, Float16> || same_type<From, Bfloat16>;
  constexpr bool to_half = same_type<To, Float16> || same_type<To, Bfloat16>;
  if constexpr (from_half && same_type<From, To>)
    return cast_run<uint16_t, uint16_t>;
  else if constexpr (from_half && to_half)
    return [](int64_t n, void* out, const void* x) {
      float tile[TILE];
      for (int64_t i = 0; i < n; i += TILE) {
        int64_t count = n - i < TILE ? n - i : TILE;
        widen_run(count, tile, static_cast<const From*>(x) + i);
        narrow_run(count, static_cast<To*>(out) + i, tile);
      }
    };
  else if constexpr (from_half && same_type<To, float>)
    return [](int64_t n, void* out, const void* x) {
      widen_run(n, static_cast<float*>(out), static_cast<const From*>(x));
    };
  else if constexpr (to_half && same_type<From, float>)
    return [](int64_t n, void* out, const void* x) {
      narrow_run(n, static_cast<To*>(out), static_cast<const float*>(x));
    };
  else if constexpr (from_half)
    return cast_from_half<From, To>;
  else if constexpr (to_half)
    return cast_to_half<From, To>;
  else
    return cast_run<From, To>;
}

template <class From, class... To>
constexpr void fill_row(CastFn* row) {
  CastFn all[] = {choose<From, To>()...};
  for (int i = 0; i < DTYPE_COUNT; ++i) row[i] = all[i];
}

template <class... T>
constexpr CastKernels make_kernels() {
  CastKernels kernels{};
  int row = 0;
  (fill_row<T, T...>(kernels.cast[row++]), ...);
  return kernels;
}

}  // namespace

extern constexpr CastKernels cast_kernels =
    make_kernels<Boolean, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t,
                 Float16, Bfloat16, float, double, ComplexElement<float>, ComplexElement<double>>();

}  // namespace tessella::TS_ISA
