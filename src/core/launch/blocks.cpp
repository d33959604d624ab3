// Numbers of other dtypes than float32 pass through a piece of scratch.
#include "blocks.h"

#include <algorithm>

#include "../kernels/cast.h"
#include "../threads.h"

namespace tessella::launch {

namespace {

constexpr int64_t piece_elements = 4096;
constexpr int64_t elements_per_ns = 2;

int64_t piece_of(const BlocksTask& task) { return piece_elements / info(task.format).elements; }

// body(first block, blocks, its numbers in float32, or nullptr where those are float32 already)
template <class F>
void each_piece(const BlocksTask& task, void* scratch, F&& body) {
  int64_t piece = piece_of(task);
  parallel((task.count + piece - 1) / piece, piece_elements / elements_per_ns, task.interruptible,
           [&](int64_t index, int worker) {
             int64_t first = index * piece;
             float* own = task.dtype == DType::float32
                              ? nullptr
                              : static_cast<float*>(scratch) + worker * piece_elements;
             body(first, std::min(piece, task.count - first), own);
           },
           task.workers);
}

}  // namespace

int64_t blocks_scratch_bytes(const BlocksTask& task) {
  return task.dtype == DType::float32
             ? 0
             : task.workers * piece_elements * static_cast<int64_t>(sizeof(float));
}

void dequantize(const BlocksTask& task, char* out, const uint8_t* blocks, void* scratch) {
  const BlockInfo& of = info(task.format);
  auto kernel = TS_CHOSEN(block_kernels).of[static_cast<int>(task.format)].dequantize;
  each_piece(task, scratch, [&](int64_t first, int64_t count, float* own) {
    char* to = out + first * of.elements * itemsize(task.dtype);
    kernel(count, own ? own : reinterpret_cast<float*>(to), blocks + first * of.bytes);
    if (own) cast_kernel(DType::float32, task.dtype)(count * of.elements, to, own);
  });
}

void quantize(const BlocksTask& task, uint8_t* blocks, const char* x, void* scratch) {
  const BlockInfo& of = info(task.format);
  auto kernel = TS_CHOSEN(block_kernels).of[static_cast<int>(task.format)].quantize;
  each_piece(task, scratch, [&](int64_t first, int64_t count, float* own) {
    const char* from = x + first * of.elements * itemsize(task.dtype);
    if (own) cast_kernel(task.dtype, DType::float32)(count * of.elements, own, from);
    kernel(count, blocks + first * of.bytes, own ? own : reinterpret_cast<const float*>(from));
  });
}

}  // namespace tessella::launch
