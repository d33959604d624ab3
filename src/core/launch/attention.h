// The drivers of attention and of its gradients: tiles of scores that stay in a cache, products of
// matrices before and after. A head of keys and values is shared by a group of heads of queries;
// the queries of a group are rows (head, query), one behind the other.
//
// The bits are a function of the sizes: keys are taken in tiles from the first on, and a row's sums
// in the order of the tiles; where few rows look at many keys, the keys are parted first, and the
// parts joined in their order. Rows do not depend on each other.
#pragma once

#include "../dtype.h"
#include "../layout.h"

namespace tessella::launch {

// Matrices of rows with adjacent elements, one for each head; strides in elements.
struct AttentionMatrix {
  const char* data;
  int64_t batch[MAX_NDIM];  // over the heads of keys and values, 0 where it is repeated
  int64_t head, row;        // over the heads of a group, and the rows of one
};

struct AttentionTask {
  DType dtype;                                    // a float, of q, k and v
  int64_t group, queries, keys, features, width;  // width: the features of values
  int batch_ndim;
  int64_t batch_shape[MAX_NDIM];  // heads of keys and values
  AttentionMatrix q, k, v;        // (queries, features), (keys, features), (keys, width)
  AttentionMatrix mask;           // (queries, keys), data is null if there is none
  int64_t mask_col;
  bool is_bool;            // the mask holds bools; else what is added, of the compute dtype
  const int64_t* lengths;  // how many keys there are, if it is not null
  int64_t lengths_batch[MAX_NDIM];
  bool is_causal;
  double scale;
  bool interruptible;
  int workers;  // as many threads as there is scratch for: num_threads()

  int64_t rows() const { return group * queries; }  // of one head of keys
  int64_t heads() const {                           // of keys
    int64_t count = 1;
    for (int i = 0; i < batch_ndim; ++i) count *= batch_shape[i];
    return count;
  }
};

// out (heads, rows, width) of the dtype. If `keeps`, it is of the compute dtype, and behind it
// stand for each row its greatest score, then for each row 1 / the sum of exponentials.
int64_t attention_scratch_bytes(const AttentionTask& task, bool keeps);
void attention(const AttentionTask& task, bool keeps, char* out, void* scratch);

// slopes: dq (heads, rows, features), dk (heads, keys, features) and dv (heads, keys, width), all
// of the compute dtype. dout has the layout of a matrix of queries, `kept` is what attention gave.
int64_t attention_back_scratch_bytes(const AttentionTask& task);
void attention_back(const AttentionTask& task, const AttentionMatrix& dout, const char* kept,
                    char* slopes, void* scratch);

}  // namespace tessella::launch
