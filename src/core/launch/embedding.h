// Rows of a table by integers, and the gradient of the table. Unlike indexing, integers do not
// count from the end.
#pragma once

#include "operand.h"

namespace tessella::launch {

struct EmbeddingTask {
  int64_t points;
  const int64_t* indices;  // contiguous
  int64_t rows, row_bytes;
  bool interruptible;
};

constexpr int64_t ALL_ROWS_GOOD = -1;

// out: a row of `table` for each index. Gives the first place whose index is no row.
int64_t embed(const EmbeddingTask& task, const char* table, char* out);

// dtable: zeros, and each row of dout added to that of its index, in order. An index that is no
// row, or is `padding`, adds nothing. `is_mean` divides a row by the number of its indices, which
// are counted in scratch: one int64 for each row.
struct EmbeddingBackTask {
  EmbeddingTask of;
  DType dtype;  // float32 or float64, or complex: two numbers for each
  int64_t padding;
  bool is_mean;
};
void embed_back(const EmbeddingBackTask& task, const char* dout, char* dtable, void* scratch);

}  // namespace tessella::launch
