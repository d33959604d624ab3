// The C++ types of elements in memory, and the dtype of each.
#pragma once

#include "../dtype.h"

namespace tessella::TS_ISA {

enum class Boolean : uint8_t { no, yes };
enum class Float16 : uint16_t {};
enum class Bfloat16 : uint16_t {};
template <class T>
struct ComplexElement {
  T re, im;
};

template <class T>
constexpr DType dtype_of = DType::boolean;
template <>
constexpr DType dtype_of<int8_t> = DType::int8;
template <>
constexpr DType dtype_of<int16_t> = DType::int16;
template <>
constexpr DType dtype_of<int32_t> = DType::int32;
template <>
constexpr DType dtype_of<int64_t> = DType::int64;
template <>
constexpr DType dtype_of<uint8_t> = DType::uint8;
template <>
constexpr DType dtype_of<uint16_t> = DType::uint16;
template <>
constexpr DType dtype_of<uint32_t> = DType::uint32;
template <>
constexpr DType dtype_of<uint64_t> = DType::uint64;
template <>
constexpr DType dtype_of<float> = DType::float32;
template <>
constexpr DType dtype_of<double> = DType::float64;
template <>
constexpr DType dtype_of<ComplexElement<float>> = DType::complex64;
template <>
constexpr DType dtype_of<ComplexElement<double>> = DType::complex128;

}  // namespace tessella::TS_ISA
