// Moves elements from and to the places that pools chose. A chunk is some planes: every plane takes
// its elements in order, so that sums have one order at any thread count.
#include <string.h>

#include <algorithm>
#include <atomic>

#include "../threads.h"
#include "pool.h"

namespace tessella::launch {

namespace {

constexpr int64_t CHUNK_ELEMENTS = 1 << 14;

// f(plane, its index of the batch and of the channel) over the pool.
template <class F>
bool each_plane(const PlacesTask& task, F f) {
  int64_t planes = task.batch * task.channels;
  int64_t size = task.out_rows * task.out_cols + task.rows * task.cols / 4 + 1;
  int64_t each = std::max<int64_t>(CHUNK_ELEMENTS / size, 1);
  std::atomic<bool> is_good = true;
  auto body = [&](int64_t chunk, int) {
    for (int64_t plane = chunk * each; plane < std::min((chunk + 1) * each, planes); plane++)
      if (!f(plane)) is_good = false;
  };
  parallel((planes + each - 1) / each, each * size, task.interruptible, body);
  return is_good;
}

template <class T>
T* plane_of(const ConvolveOperand& x, const PlacesTask& task, int64_t plane) {
  int64_t offset = plane / task.channels * x.strides[0] + plane % task.channels * x.strides[1];
  return reinterpret_cast<T*>(x.data) + offset;
}

bool is_inside(const PlacesTask& task, int64_t place) {
  return static_cast<uint64_t>(place) < static_cast<uint64_t>(task.rows * task.cols);
}

template <class T>
bool pick(const PlacesTask& task) {
  return each_plane(task, [&](int64_t plane) {
    const T* from = plane_of<T>(task.planes, task, plane);
    T* to = plane_of<T>(task.taken, task, plane);
    const int64_t* places = task.places + plane * task.out_rows * task.out_cols;
    int64_t row = task.planes.strides[2], col = task.planes.strides[3];
    bool is_flat = row == task.cols * col || task.rows == 1, is_good = true;
    for (int64_t i = 0; i < task.out_rows; i++)
      for (int64_t j = 0; j < task.out_cols; j++) {
        int64_t place = *places++;
        if (!is_inside(task, place)) {
          is_good = false;
          continue;
        }
        int64_t at = is_flat ? place * col : place / task.cols * row + place % task.cols * col;
        to[i * task.taken.strides[2] + j * task.taken.strides[3]] = from[at];
      }
    return is_good;
  });
}

template <class T>
bool add(const PlacesTask& task) {
  return each_plane(task, [&](int64_t plane) {
    T* to = plane_of<T>(task.planes, task, plane);
    const T* from = plane_of<T>(task.taken, task, plane);
    const int64_t* places = task.places + plane * task.out_rows * task.out_cols;
    memset(to, 0, sizeof(T) * static_cast<size_t>(task.rows * task.cols));
    bool is_good = true;
    for (int64_t i = 0; i < task.out_rows; i++)
      for (int64_t j = 0; j < task.out_cols; j++) {
        int64_t place = *places++;
        if (is_inside(task, place))
          to[place] += from[i * task.taken.strides[2] + j * task.taken.strides[3]];
        else
          is_good = false;
      }
    return is_good;
  });
}

struct Wide {
  uint64_t parts[2];
};

}  // namespace

bool pick_places(const PlacesTask& task) {
  switch (itemsize(task.dtype)) {
    case 1:
      return pick<uint8_t>(task);
    case 2:
      return pick<uint16_t>(task);
    case 4:
      return pick<uint32_t>(task);
    case 8:
      return pick<uint64_t>(task);
    default:
      return pick<Wide>(task);
  }
}

bool add_places(const PlacesTask& task) {
  return task.dtype == DType::float64 ? add<double>(task) : add<float>(task);
}

}  // namespace tessella::launch
