// What is sorted in place of elements. Where only values are wanted, a word is the key of its
// element. Where indices are wanted, it is the key followed by the index: then no two words are
// equal, and the order of words is the stable order. A key of 64 bits leaves no room for an index:
// such words hold the upper bits in which the keys differ, and those that agree in these are
// settled afterwards, by the bits below.
#pragma once

#include <string.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "../kernels/sort.h"
#include "patch.h"
#include "runs.h"
#include "sort.h"

namespace tessella::launch {

// The lines along the axis, and the axes but that one, which x, values and indices share. Lines
// that lie closest together in x are neighbours.
struct SortLines {
  int64_t n, wanted;
  int64_t step[3];  // from element to element, of x, values, indices
  Runs<3> lines;

  explicit SortLines(const SortTask& task)
      : n(task.shape[task.axis]), wanted(task.wanted), lines(others(task)) {
    for (int k = 0; k < 3; ++k) step[k] = strides(task, k)[task.axis];
  }

  bool is_empty() const { return lines.size == 0 || n == 0 || wanted == 0; }
  int64_t line_step(int k) const { return lines.inner_stride(k); }  // from line to line

  // body(offsets) for each line between first and last
  template <class F>
  void for_each(int64_t first, int64_t last, F&& body) const {
    lines.walk(first, last, [&](const int64_t (&offsets)[3], int64_t count) {
      int64_t at[3] = {offsets[0], offsets[1], offsets[2]};
      for (int64_t i = 0; i < count; ++i) {
        body(at);
        for (int k = 0; k < 3; ++k) at[k] += line_step(k);
      }
    });
  }

 private:
  static const int64_t* strides(const SortTask& task, int k) {
    if (k == 1 && task.values) return task.strides_values;
    return k == 2 && task.indices ? task.strides_indices : task.strides_x;
  }

  static Runs<3> others(const SortTask& task) {
    int64_t shape[MAX_NDIM], steps[3][MAX_NDIM];
    int closest = -1, count = 0;
    for (int i = 0; i < task.ndim; ++i)
      if (i != task.axis && task.shape[i] != 1 && task.strides_x[i] == 1) closest = i;
    for (int i = 0; i <= task.ndim; ++i) {
      int from = i < task.ndim ? i : closest;
      if (from < 0 || from == task.axis || (i < task.ndim && i == closest)) continue;
      shape[count] = task.shape[from];
      for (int k = 0; k < 3; ++k) steps[k][count] = strides(task, k)[from];
      ++count;
    }
    return {count, shape, {steps[0], steps[1], steps[2]}};
  }
};

inline bool needs_wide_words(const SortTask& task, int64_t n) {
  int64_t bytes = itemsize(task.dtype);
  return task.indices ? bytes > 2 || n > 1 << 16 : bytes > 4;
}

template <class W>
const SortKernel<W>& sort_kernel() {
  const SortKernels& kernels = TS_CHOSEN(sort_kernels);
  if constexpr (sizeof(W) == 4) {
    return kernels.narrow;
  } else {
    return kernels.wide;
  }
}

template <class W>
class Coding {
 public:
  // How words hold their keys; bits of keys below `low` are the same in all.
  struct Held {
    Packing packing;
    int low;
    bool is_whole() const { return sizeof(W) < 8 || packing.drop <= low; }
  };

  const SortKernel<W>& kernel;
  const DType dtype;
  const int64_t item;  // bytes
  const bool is_indexed;
  const int bits;  // of an index

  Coding(const SortTask& task, int64_t n)
      : kernel(sort_kernel<W>()),
        dtype(task.dtype),
        item(itemsize(task.dtype)),
        is_indexed(task.indices != nullptr),
        bits(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(n - 1, 1)))),
        flip_(task.descending ? -1 : 0) {}

  KeysFound encode(int64_t rows, int64_t columns, W* words, int64_t words_row, const char* x,
                   int64_t x_row) const {
    return kernel.encode[static_cast<int>(dtype)](rows, columns, words, words_row, x, x_row, flip_);
  }

  void decode(int64_t rows, int64_t columns, char* out, int64_t out_row, const W* words,
              int64_t words_row) const {
    kernel.decode[static_cast<int>(dtype)](rows, columns, out, out_row, words, words_row, flip_);
  }

  // out[i] = x[indices[i]] for what the words stand for
  void gather(int64_t n, char* out, int64_t out_step, const W* words, int64_t words_step,
              const char* x, int64_t step) const {
    auto move = [&](auto bytes) {
      for (int64_t i = 0; i < n; ++i)
        memcpy(out + i * out_step * bytes, x + index(words[i * words_step]) * step * bytes, bytes);
    };
    switch (item) {
      case 1:
        return move(std::integral_constant<int, 1>{});
      case 2:
        return move(std::integral_constant<int, 2>{});
      case 4:
        return move(std::integral_constant<int, 4>{});
      default:
        return move(std::integral_constant<int, 8>{});
    }
  }

  // A line whose elements are `step` apart.
  KeysFound encode_line(int64_t n, W* words, const char* x, int64_t step) const {
    if (step == 1) return encode(1, n, words, n, x, n);
    KeysFound found;
    alignas(64) char piece[piece_elements * 8];
    for (int64_t i = 0; i < n; i += piece_elements) {
      int64_t count = std::min(piece_elements, n - i);
      copy_patch(item, 1, count, piece, {count, 1}, x + i * step * item, {0, step});
      found = join(found, encode(1, count, words + i, count, piece, count));
    }
    return found;
  }

  void decode_line(int64_t n, char* out, int64_t step, const W* words) const {
    if (step == 1) return decode(1, n, out, n, words, n);
    alignas(64) char piece[piece_elements * 8];
    for (int64_t i = 0; i < n; i += piece_elements) {
      int64_t count = std::min(piece_elements, n - i);
      decode(1, count, piece, count, words + i, count);
      copy_patch(item, 1, count, out + i * step * item, {0, step}, piece, {count, 1});
    }
  }

  // What sorted words stand for, to the results that are wanted.
  void store_line(int64_t n, const W* words, const char* x, int64_t step, char* values,
                  int64_t values_step, int64_t* indices, int64_t indices_step) const {
    if (indices) kernel.numbers(n, 1, indices, indices_step, words, 1, bits);
    if (!values) return;
    if (is_indexed) return gather(n, values, values_step, words, 1, x, step);
    decode_line(n, values, values_step, words);
  }

  static KeysFound join(const KeysFound& a, const KeysFound& b) {
    return {a.any | b.any, a.all & b.all, a.has_negative_zero || b.has_negative_zero};
  }

  bool holds_all() const { return sizeof(W) < 8 || 8 * item + bits <= 64; }

  // Keys narrower than words are held whole; of others, the upper bits that vary.
  Held hold(const KeysFound& found) const {
    int key_bits = 8 * static_cast<int>(item);
    if (holds_all()) return {{0, key_bits, bits, uint64_t{1} << (key_bits - 1)}, 0};
    uint64_t varying = found.any & ~found.all;
    if (varying == 0) return {{0, 0, bits, 0}, 0};
    int low = std::countr_zero(varying), high = std::bit_width(varying);
    int kept = std::min(high - low, 64 - bits);
    uint64_t sign = high == 64 ? uint64_t{1} << 63 : 0;
    return {{high - kept, kept, bits, sign}, low};
  }

  int64_t index(W word) const { return static_cast<int64_t>(word) & ((int64_t{1} << bits) - 1); }

  W with_index(W word, int64_t index) const {
    return static_cast<W>(((static_cast<int64_t>(word) >> bits) << bits) | index);
  }

  bool is_tied(W a, W b) const {
    return (static_cast<uint64_t>(a) ^ static_cast<uint64_t>(b)) >> bits == 0;
  }

  // Puts sorted words that agree in what they hold in the order of what they do not.
  void settle(W* words, int64_t n, const Held& held, const char* x, int64_t step) const {
    if (held.is_whole()) return;
    for (int64_t start = 0, end; start < n; start = end) {
      end = start + 1;
      while (end < n && is_tied(words[start], words[end])) ++end;
      if (end - start > 1) settle_tied(words + start, end - start, held, x, step);
    }
  }

  // The same for words that all agree.
  void settle_tied(W* words, int64_t n, const Held& held, const char* x, int64_t step) const {
    Held next = below(held);
    if (repack(words, n, next.packing, x, step)) kernel.sort(n, words, n);
    settle(words, n, next, x, step);
  }

  Held below(const Held& held) const {
    int kept = std::min(held.packing.drop - held.low, 64 - bits);
    return {{held.packing.drop - kept, kept, bits, 0}, held.low};
  }

  // Makes words hold other bits of their keys. False if all of these are the same: then the words
  // are in order as they are.
  bool repack(W* words, int64_t n, const Packing& packing, const char* x, int64_t step) const {
    alignas(64) char piece[piece_elements * 8];
    W keys[piece_elements];
    uint64_t any = 0, all = ~uint64_t{0};
    for (int64_t i = 0; i < n; i += piece_elements) {
      int64_t count = std::min(piece_elements, n - i);
      for (int64_t j = 0; j < count; ++j)
        memcpy(piece + j * item, x + index(words[i + j]) * step * item, static_cast<size_t>(item));
      encode(1, count, keys, count, piece, count);
      for (int64_t j = 0; j < count; ++j) {
        auto number = static_cast<uint64_t>(index(words[i + j]));
        words[i + j] = packed_word(keys[j], packing, number);
        uint64_t held = static_cast<uint64_t>(words[i + j]) >> bits;
        any |= held;
        all &= held;
      }
    }
    return any != all;
  }

  // Sorts all words that may be among the first `wanted` once they are settled; how many.
  int64_t include_tied(int64_t n, W* words, int64_t wanted) const {
    if (wanted == n || wanted == 0) return wanted;
    W last = words[wanted - 1] | static_cast<W>((int64_t{1} << bits) - 1);
    if (last == std::numeric_limits<W>::max()) {
      kernel.sort(n - wanted, words + wanted, n - wanted);
      return n;
    }
    int64_t tied = kernel.part(n - wanted, words + wanted, static_cast<W>(last + 1));
    kernel.sort(tied, words + wanted, tied);
    return wanted + tied;
  }

  // Keys have lost the signs of zeros: they are put back in the order of x.
  void restore_zeros(int64_t n, const char* x, int64_t step, int64_t wanted, const W* words,
                     int64_t words_step, char* out, int64_t out_step) const {
    int64_t place = first_zero(wanted, words, words_step);
    put_zeros(n, x, step, wanted, &place, out, out_step);
  }

  // The place of the first zero among sorted words, if it has one.
  int64_t first_zero(int64_t n, const W* words, int64_t step) const {
    int64_t first = 0, last = n;
    while (first < last) {
      int64_t middle = first + (last - first) / 2;
      words[middle * step] < flip_ ? first = middle + 1 : last = middle;
    }
    return first;
  }

  // The zeros of x, in their order, to the places from *place to wanted-1.
  void put_zeros(int64_t n, const char* x, int64_t step, int64_t wanted, int64_t* place, char* out,
                 int64_t out_step) const {
    for (int64_t i = 0; i < n && *place < wanted; ++i) {
      uint64_t bits = 0;
      memcpy(&bits, x + i * step * item, static_cast<size_t>(item));
      if (bits << (65 - 8 * item) != 0) continue;
      memcpy(out + (*place)++ * out_step * item, &bits, static_cast<size_t>(item));
    }
  }

 private:
  static constexpr int64_t piece_elements = 256;

  const W flip_;
};

}  // namespace tessella::launch
