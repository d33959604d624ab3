// The driver of recurrent layers: walks through time, for each step the product of the state with
// the weight and then the cell. Rows of the batch never meet, so that the threads share them out
// and each walks through many steps alone. It allocates nothing.
//
// Each element of a product is one chain of multiply-adds in increasing k, whatever the batch: the
// bits of a row do not depend on how many rows there are, or on who computes them.
#pragma once

#include "../kernels/recurrent.h"

namespace tessella::launch {

// T steps, B rows, hidden size H, G = CELL_GATES. All tensors are contiguous and of one dtype.
struct Sequence {
  Cell cell;
  DType dtype;  // float32 or float64
  int64_t steps, batch, hidden;
  bool is_reversed;    // from the last step to the first
  const void* weight;  // (G * H, H)
  bool interruptible;
  int threads;  // what the scratch was sized for: num_threads()
};

// Where the parts of the states begin, in elements: h (T + 1, B, H), the first state included, at
// the end that it is on; then of an LSTM c (T + 1, B, H), then what slopes need (T, B, kept * H).
// Without what slopes need, c is (1, B, H): that of the last step.
struct StateParts {
  int64_t h, c, kept, end;
  StateParts(const Sequence& of, bool keeps);
};

// Where the parts of the slopes begin: dx (T, B, G * H), of a GRU dproduct (T, B, G * H), dh (B,
// H), of an LSTM dc (B, H).
struct SlopeParts {
  int64_t dx, dproduct, dh, dc, end;
  explicit SlopeParts(const Sequence& of);
};

struct StatesTask : Sequence {
  const void* gates;  // (T, B, G * H): products of the inputs with their weight
  const void *bias_ih, *bias_hh;
  const void *h, *c;  // (B, H); c of an LSTM only
  void* states;
  bool keeps;
};

struct SlopesTask : Sequence {
  const void *g, *g_c;  // (T, B, H) of all h, (B, H) of the last c
  const void* states;   // that keep what slopes need
  void* slopes;
};

int64_t recurrent_scratch_bytes(const Sequence& of);
void recurrent_states(const StatesTask& task, void* scratch);
void recurrent_slopes(const SlopesTask& task, void* scratch);

}  // namespace tessella::launch
