// Convolutions and their adjoints by their definition, for tests: the order of every sum spelled
// out, with no regard for speed. Elements are of the compute type and row-major.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "convolve.h"
#include "matmul_ref.h"

namespace tessella::launch {

// The elements of one group's operands by their indices; x is zero outside of its sizes.
template <class T>
struct ConvolveRef {
  const ConvolveTask& task;
  const T* x;
  const T* w;
  const T* y;
  bool fused;

  T x_at(int64_t n, int64_t c, int64_t h, int64_t v) const {
    if (h < 0 || h >= task.rows.image || v < 0 || v >= task.cols.image) return 0;
    int64_t channels = task.groups * task.in_channels;
    return x[((n * channels + c) * task.rows.image + h) * task.cols.image + v];
  }
  T y_at(int64_t n, int64_t o, int64_t p, int64_t q) const {
    int64_t channels = task.groups * task.out_channels;
    return y[((n * channels + o) * task.rows.out + p) * task.cols.out + q];
  }
  T w_at(int64_t o, int64_t c, int64_t i, int64_t j) const {
    return w[((o * task.in_channels + c) * task.rows.kernel + i) * task.cols.kernel + j];
  }

  // One chain over channels and taps.
  T output(int64_t n, int64_t o, int64_t p, int64_t q) const {
    int64_t first = o / task.out_channels * task.in_channels;
    T sum = 0;
    for (int64_t c = 0; c < task.in_channels; c++)
      for (int64_t i = 0; i < task.rows.kernel; i++)
        for (int64_t j = 0; j < task.cols.kernel; j++) {
          int64_t h = p * task.rows.stride + i * task.rows.dilation - task.rows.pad;
          int64_t v = q * task.cols.stride + j * task.cols.dilation - task.cols.pad;
          sum = matmul_ref_step(w_at(o, c, i, j), x_at(n, first + c, h, v), sum, fused);
        }
    return sum;
  }

  // The place that tap k of the axis reached element `at` from: outside if there is none.
  static int64_t source(const ConvolveAxis& axis, int64_t at, int64_t k) {
    int64_t from = at + axis.pad - k * axis.dilation;
    if (from < 0 || from % axis.stride != 0 || from / axis.stride >= axis.out) return -1;
    return from / axis.stride;
  }

  // One chain over channels and taps.
  T input(int64_t n, int64_t c, int64_t h, int64_t v) const {
    int64_t group = c / task.in_channels;
    T sum = 0;
    for (int64_t o = group * task.out_channels; o < (group + 1) * task.out_channels; o++)
      for (int64_t i = 0; i < task.rows.kernel; i++)
        for (int64_t j = 0; j < task.cols.kernel; j++) {
          int64_t p = source(task.rows, h, i), q = source(task.cols, v, j);
          if (p < 0 || q < 0) continue;
          sum = matmul_ref_step(w_at(o, c % task.in_channels, i, j), y_at(n, o, p, q), sum, fused);
        }
    return sum;
  }

  // A chain over each block of about 512 places, whole lines unless they are longer than 1024;
  // blocks of an image after another, in up to 8 parts of at least 2^22 products, if all parts have
  // at most 2^20 sums.
  T weight(int64_t o, int64_t c, int64_t i, int64_t j) const {
    int64_t out = std::max<int64_t>(task.cols.out, 1), high = task.rows.out;
    int64_t width = out > 1024 ? 512 : out;
    int64_t height = std::clamp<int64_t>(512 / out, 1, std::max<int64_t>(high, 1));
    int64_t across = (task.cols.out + width - 1) / width, down = (high + height - 1) / height;
    int64_t blocks = task.batch * across * down, parts = part_count(blocks);
    T total = 0;
    for (int64_t part = 0; part < parts; part++) {
      T sum = 0;
      int64_t first = part * blocks / parts, last = (part + 1) * blocks / parts;
      for (int64_t b = first; b < last; b++) {
        T chain = block(o, c, i, j, b / across / down, b / across % down * height,
                        b % across * width, height, width);
        sum = b == first ? chain : sum + chain;
      }
      total = part == 0 ? sum : total + sum;
    }
    return total;
  }

  int64_t part_count(int64_t blocks) const {
    double sums = double(task.groups) * double(task.out_channels) * double(task.in_channels) *
                  double(task.rows.kernel) * double(task.cols.kernel);
    double products = sums * double(task.batch) * double(task.rows.out) * double(task.cols.out);
    double most = std::min({8.0, products / (1 << 22), (1 << 20) / sums, double(blocks)});
    return std::max<int64_t>(int64_t(most), 1);
  }

  T block(int64_t o, int64_t c, int64_t i, int64_t j, int64_t n, int64_t row, int64_t col,
          int64_t height, int64_t width) const {
    int64_t channel = o / task.out_channels * task.in_channels + c;
    T sum = 0;
    for (int64_t p = row; p < std::min(row + height, task.rows.out); p++)
      for (int64_t q = col; q < std::min(col + width, task.cols.out); q++) {
        int64_t h = p * task.rows.stride + i * task.rows.dilation - task.rows.pad;
        int64_t v = q * task.cols.stride + j * task.cols.dilation - task.cols.pad;
        sum = matmul_ref_step(y_at(n, o, p, q), x_at(n, channel, h, v), sum, fused);
      }
    return sum;
  }
};

}  // namespace tessella::launch
