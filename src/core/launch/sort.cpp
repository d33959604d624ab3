// Short rows are sorted whole, each by one thread; a long row is shared by all. Either way a row
// goes through three steps: its elements become keys in scratch, the keys are sorted, and what they
// stand for is written out.
#include "sort.h"

#include <algorithm>

#include "../threads.h"
#include "runs.h"
#include "sort_entries.h"
#include "sort_keys.h"

namespace tessella::launch {
namespace {

constexpr int64_t share_from = 65536;      // a row worth sharing, if there are too few rows
constexpr int64_t share_always = 1 << 21;  // a row that takes one thread too long between polls
constexpr int64_t batch_entries = 16384;   // short rows are taken together
constexpr int64_t most_chunks = 128;
constexpr int64_t alignment = 64;

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }
int64_t aligned(int64_t bytes) { return ceil_div(bytes, alignment) * alignment; }

// The rows: the axes but the sorted one, which x, values and indices share.
struct Rows {
  int ndim = 0;
  int64_t shape[MAX_NDIM];
  int64_t strides[3][MAX_NDIM];
  int64_t n;        // elements of a row
  int64_t step[3];  // along it

  explicit Rows(const SortTask& task) : n(task.shape[task.axis]) {
    const int64_t* all[3] = {task.strides_x, task.values ? task.strides_values : task.strides_x,
                             task.indices ? task.strides_indices : task.strides_x};
    for (int axis = 0; axis < task.ndim; ++axis) {
      if (axis == task.axis) continue;
      shape[ndim] = task.shape[axis];
      for (int k = 0; k < 3; ++k) strides[k][ndim] = all[k][axis];
      ++ndim;
    }
    for (int k = 0; k < 3; ++k) step[k] = all[k][task.axis];
  }

  Runs<3> runs() const { return {ndim, shape, {strides[0], strides[1], strides[2]}}; }
};

// How the work is cut, as a function of the shape and the number of workers.
struct Cut {
  bool is_shared;  // every row by all threads
  int64_t chunks;  // of a row
  int64_t chunk_size;

  Cut(int64_t rows, int64_t n, int workers) {
    is_shared = n >= share_always || (n >= share_from && rows < 2 * workers);
    chunk_size =
        is_shared ? std::max(share_from / 2, ceil_div(n, most_chunks)) : std::max<int64_t>(n, 1);
    chunks = ceil_div(n, chunk_size);
  }
};

// Scratch of one row: two buffers of entries and the table of counts.
template <class E>
struct RowScratch {
  static int64_t entry_bytes(int64_t n) { return aligned(n * static_cast<int64_t>(sizeof(E))); }
  static int64_t bytes(int64_t n, int64_t chunks) {
    return 2 * entry_bytes(n) + SortChunks::table_bytes(chunks);
  }

  RowScratch(char* memory, int64_t n)
      : entries(reinterpret_cast<E*>(memory)),
        other(reinterpret_cast<E*>(memory + entry_bytes(n))),
        table(reinterpret_cast<int64_t*>(memory + 2 * entry_bytes(n))) {}

  E* entries;
  E* other;
  int64_t* table;
};

// Sorts one row. Keys maps elements to keys, E is what is sorted.
template <class Keys, class E>
class RowSorter {
 public:
  using K = typename E::K;
  static constexpr bool is_indexed = sizeof(E) > sizeof(K);

  RowSorter(const SortTask& task, const Rows& rows, const Cut& cut, bool interruptible)
      : task_(task),
        n_(rows.n),
        cut_(cut),
        interruptible_(interruptible),
        flip_(task.descending ? static_cast<K>(~K{0}) : K{0}) {
    std::copy(rows.step, rows.step + 3, step_);
  }

  void operator()(const int64_t* offsets, char* memory) const {
    RowScratch<E> scratch(memory, n_);
    SortChunks chunks{cut_.chunks, cut_.chunk_size, scratch.table, interruptible_};
    const K* x = reinterpret_cast<const K*>(task_.x) + offsets[0];
    bool has_negative_zero = false;
    K varying = load(x, scratch.entries, chunks, &has_negative_zero);
    const E* sorted = EntrySorter<E>(scratch.entries, scratch.other, n_, chunks).sort(varying);
    if (task_.values) {
      K* values = reinterpret_cast<K*>(task_.values) + offsets[1];
      store_values(sorted, values);
      if (has_negative_zero) restore_zeros(x, sorted, values);
    }
    if constexpr (is_indexed) store_indices(sorted, task_.indices + offsets[2]);
  }

 private:
  template <class F>
  void for_each_chunk(F&& body) const {
    auto call = [&](int64_t chunk, int) {
      int64_t begin = chunk * cut_.chunk_size;
      body(chunk, begin, std::min(begin + cut_.chunk_size, n_));
    };
    parallel(cut_.chunks, cut_.chunk_size, interruptible_, call);
  }

  // Returns the bits in which keys differ.
  K load(const K* x, E* entries, const SortChunks& chunks, bool* has_negative_zero) const {
    if (n_ == 0) return 0;
    K first = Keys::key(x[0]);
    for_each_chunk([&](int64_t chunk, int64_t begin, int64_t end) {
      K varying = 0;
      bool zero = false;
      for (int64_t i = begin; i < end; ++i) {
        K bits = x[i * step_[0]];
        K key = Keys::key(bits);
        varying |= key ^ first;
        zero |= Keys::is_negative_zero(bits);
        entries[i].key = key ^ flip_;
        if constexpr (is_indexed) entries[i].index = static_cast<decltype(entries[i].index)>(i);
      }
      chunks.row(chunk)[0] = static_cast<int64_t>(varying);
      chunks.row(chunk)[1] = zero;
    });
    K varying = 0;
    for (int64_t chunk = 0; chunk < cut_.chunks; ++chunk) {
      varying |= static_cast<K>(chunks.row(chunk)[0]);
      *has_negative_zero |= chunks.row(chunk)[1] != 0;
    }
    return varying;
  }

  void store_values(const E* sorted, K* values) const {
    for_each_chunk([&](int64_t, int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        values[i * step_[1]] = Keys::bits(sorted[i].key ^ flip_);
    });
  }

  void store_indices(const E* sorted, int64_t* indices) const {
    if constexpr (is_indexed) {
      for_each_chunk([&](int64_t, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          indices[i * step_[2]] = static_cast<int64_t>(sorted[i].index);
      });
    }
  }

  // Keys have lost the signs of zeros: they are put back in the order of x.
  void restore_zeros(const K* x, const E* sorted, K* values) const {
    K zero = Keys::key(0) ^ flip_;
    auto is_below = [](const E& entry, K key) { return entry.key < key; };
    int64_t to = std::lower_bound(sorted, sorted + n_, zero, is_below) - sorted;
    for (int64_t i = 0; i < n_; ++i) {
      K bits = x[i * step_[0]];
      if (Keys::key(bits) == Keys::key(0)) values[step_[1] * to++] = bits;
    }
  }

  const SortTask& task_;
  int64_t n_;
  const Cut& cut_;
  bool interruptible_;
  K flip_;
  int64_t step_[3];
};

// Calls body with the keys of the dtype and the type of entries that the task needs.
template <class F>
void with_entries(const SortTask& task, int64_t n, F&& body) {
  with_keys(task.dtype, [&](auto keys) {
    using K = typename decltype(keys)::K;
    if (!task.indices) {
      body(keys, KeyOnly<K>{});
    } else if (n <= UINT32_MAX) {
      body(keys, KeyAndIndex<K, uint32_t>{});
    } else {
      body(keys, KeyAndIndex<K, uint64_t>{});
    }
  });
}

template <class Keys, class E>
void sort_rows(const SortTask& task, const Rows& rows, const Cut& cut, int workers, char* scratch) {
  Runs<3> runs = rows.runs();
  RowSorter<Keys, E> sort_row(task, rows, cut, cut.is_shared && task.interruptible);
  auto sort_between = [&](int64_t begin, int64_t end, char* memory) {
    runs.walk(begin, end, [&](const int64_t (&offsets)[3], int64_t count) {
      int64_t at[3] = {offsets[0], offsets[1], offsets[2]};
      for (int64_t i = 0; i < count; ++i) {
        sort_row(at, memory);
        for (int k = 0; k < 3; ++k) at[k] += runs.inner_stride(k);
      }
    });
  };
  if (cut.is_shared) return sort_between(0, runs.size, scratch);
  int64_t bytes = RowScratch<E>::bytes(rows.n, cut.chunks);
  int64_t batch = std::max<int64_t>(batch_entries / rows.n, 1);
  int64_t ns = batch * (20 + rows.n * 10);
  workers = static_cast<int>(std::min<int64_t>(workers, runs.size));  // as the scratch has room for
  auto call = [&](int64_t chunk, int worker) {
    int64_t begin = chunk * batch;
    sort_between(begin, std::min(begin + batch, runs.size), scratch + worker * bytes);
  };
  parallel(ceil_div(runs.size, batch), ns, task.interruptible, call, workers);
}

}  // namespace

int64_t sort_scratch_bytes(const SortTask& task, int workers) {
  Rows rows(task);
  int64_t count = rows.runs().size;
  Cut cut(count, rows.n, workers);
  int64_t bytes = 0;
  with_entries(task, rows.n, [&](auto, auto entry) {
    bytes = RowScratch<decltype(entry)>::bytes(rows.n, cut.chunks);
  });
  return cut.is_shared ? bytes : bytes * std::min<int64_t>(workers, count);
}

void sort(const SortTask& task, int workers, void* scratch) {
  Rows rows(task);
  int64_t count = rows.runs().size;
  if (count == 0 || rows.n == 0) return;
  Cut cut(count, rows.n, workers);
  with_entries(task, rows.n, [&](auto keys, auto entry) {
    sort_rows<decltype(keys), decltype(entry)>(task, rows, cut, workers,
                                               static_cast<char*>(scratch));
  });
}

}  // namespace tessella::launch
