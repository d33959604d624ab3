// Two passes over fixed chunks of the elements: each chunk is counted, then writes its coordinates
// from where the chunks before it end. Contiguous bytes are read eight at a time as one word.
#include "nonzero.h"

#include <string.h>

#include <algorithm>
#include <utility>

#include "../integers.h"
#include "../threads.h"
#include "runs.h"

namespace tessella::launch {
namespace {

constexpr int64_t chunk_elements = 65536;
constexpr uint64_t low_bits = 0x0101010101010101;

int64_t elements(const MaskTask& task) {
  return size_of({task.shape, static_cast<size_t>(task.ndim)});
}

// 1 in each byte that is not zero. The sum carries into bit 7 of a byte from any of its lower bits.
uint64_t truth(const char* bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
  return (((word & 127 * low_bits) + 127 * low_bits) | word) >> 7 & low_bits;
}

int64_t count_bytes(const char* mask, int64_t n) {
  int64_t count = 0, i = 0;
  while (n - i >= 8) {
    // Bytewise sums stay below 256 for 255 words; the product gathers pairs of 16 bits on top.
    int64_t words = std::min<int64_t>((n - i) / 8, 255);
    uint64_t sums = 0;
    for (int64_t w = 0; w < words; ++w) sums += truth(mask + i + 8 * w);
    uint64_t pairs = (sums & 0x00ff00ff00ff00ff) + (sums >> 8 & 0x00ff00ff00ff00ff);
    count += static_cast<int64_t>(pairs * 0x0001000100010001 >> 48);
    i += 8 * words;
  }
  for (; i < n; ++i) count += mask[i] != 0;
  return count;
}

int64_t count_run(const char* mask, int64_t stride, int64_t n) {
  if (stride == 1) return count_bytes(mask, n);
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += mask[i * stride] != 0;
  return count;
}

// Writes first + i for each true element i, at most to `end`; returns where it stopped.
int64_t* locate_run(const char* mask, int64_t stride, int64_t n, int64_t first, int64_t* out,
                    int64_t* end) {
  int64_t i = 0;
  for (; stride == 1 && n - i >= 8 && end - out >= 8; i += 8) {
    uint64_t truths = truth(mask + i);
    if (truths == 0) continue;
    // Every place is written and only the true ones are kept: no branch depends on the mask.
    for (int k = 0; k < 8; ++k) {
      *out = first + i + k;
      out += truths >> 8 * k & 1;  // of a little-endian word
    }
  }
  for (; i < n && out < end; ++i)
    if (mask[i * stride] != 0) *out++ = first + i;
  return out;
}

// Writes the coordinates of one chunk into columns [begin, end) of out, whose rows have `count`.
class Locator {
 public:
  Locator(const MaskTask& task, int64_t count, int64_t* out)
      : task_(task), count_(count), out_(out) {}

  void operator()(int64_t first, int64_t last, int64_t begin, int64_t end) const {
    int inner = task_.ndim - 1;
    int64_t at[MAX_NDIM];
    int64_t position = first;
    for (int axis = inner; axis >= 0; --axis) {
      at[axis] = position % task_.shape[axis];
      position /= task_.shape[axis];
    }
    while (first < last && begin < end) {
      int64_t n = std::min(task_.shape[inner] - at[inner], last - first);
      begin = row(at, n, begin, end);
      first += n;
      at[inner] = 0;
      for (int axis = inner - 1; axis >= 0 && ++at[axis] == task_.shape[axis]; --axis) at[axis] = 0;
    }
    for (int axis = 0; axis <= inner; ++axis)
      std::fill(out_ + axis * count_ + begin, out_ + axis * count_ + end, 0);
  }

 private:
  int64_t row(const int64_t* at, int64_t n, int64_t begin, int64_t end) const {
    int inner = task_.ndim - 1;
    int64_t offset = 0;
    for (int axis = 0; axis <= inner; ++axis) offset += at[axis] * task_.strides[axis];
    int64_t* columns = out_ + inner * count_;
    int64_t* stop = locate_run(task_.mask + offset, task_.strides[inner], n, at[inner],
                               columns + begin, columns + end);
    int64_t found = stop - columns;
    for (int axis = 0; axis < inner; ++axis)
      std::fill(out_ + axis * count_ + begin, out_ + axis * count_ + found, at[axis]);
    return found;
  }

  const MaskTask& task_;
  int64_t count_;
  int64_t* out_;
};

}  // namespace

int64_t nonzero_scratch_bytes(const MaskTask& task) {
  int64_t chunks = ceil_div(elements(task), chunk_elements);
  return (chunks + 1) * static_cast<int64_t>(sizeof(int64_t));
}

int64_t count_nonzero(const MaskTask& task, void* scratch) {
  auto* starts = static_cast<int64_t*>(scratch);
  Runs<1> runs(task.ndim, task.shape, {task.strides});
  int64_t chunks = ceil_div(runs.size, chunk_elements);
  int64_t step = runs.inner_stride(0);
  parallel(chunks, chunk_elements / 8, task.interruptible, [&](int64_t chunk, int) {
    int64_t begin = chunk * chunk_elements;
    int64_t count = 0;
    runs.walk(begin, std::min(begin + chunk_elements, runs.size),
              [&](const int64_t (&offsets)[1], int64_t n) {
                count += count_run(task.mask + offsets[0], step, n);
              });
    starts[chunk] = count;
  });
  int64_t total = 0;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) total += std::exchange(starts[chunk], total);
  starts[chunks] = total;
  return total;
}

void nonzero(const MaskTask& task, const void* scratch, int64_t count, int64_t* out) {
  auto* starts = static_cast<const int64_t*>(scratch);
  int64_t size = elements(task);
  if (count == 0 || task.ndim == 0) return;
  Locator locate(task, count, out);
  int64_t chunks = ceil_div(size, chunk_elements);
  parallel(chunks, chunk_elements / 2, task.interruptible, [&](int64_t chunk, int) {
    int64_t first = chunk * chunk_elements;
    locate(first, std::min(first + chunk_elements, size), starts[chunk], starts[chunk + 1]);
  });
}

}  // namespace tessella::launch
