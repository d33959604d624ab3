// One step of a recurrent network for some rows of a batch, from products that are made already,
// and the slopes of a step. The walk through time is the driver's (launch/recurrent.h).
//
// H is the hidden size. Gates stand side by side in a row, in PyTorch's order: i f g o of an LSTM,
// r z n of a GRU.
#pragma once

#include "../dtype.h"
#include "isa.h"

namespace tessella {

enum class Cell : uint8_t { rnn_tanh, rnn_relu, lstm, gru };
constexpr const char* CELL_NAMES[] = {"rnn_tanh", "rnn_relu", "lstm", "gru"};
constexpr int CELL_COUNT = 4;
constexpr int CELL_GATES[CELL_COUNT] = {1, 1, 4, 3};
// What slopes need of a step beside h and c: i f g o; r z n and what r is a factor of.
constexpr int CELL_KEPT[CELL_COUNT] = {0, 0, 4, 4};

struct CellStep {
  int64_t rows, hidden;
  const void *x, *product;          // (rows, gates * H): of the input and of h_before
  const void *bias_ih, *bias_hh;    // (gates * H)
  const void *h_before, *c_before;  // (rows, H); c of an LSTM only
  void *h, *c;                      // (rows, H); c may be c_before
  void* kept;                       // (rows, CELL_KEPT * H)
};

struct CellSlopes {
  int64_t rows, hidden;
  const void* g;  // (rows, H): the gradient of h from outside
  const void *h_before, *h, *c_before, *c, *kept;
  // (rows, H): gradients of h and c that come from the step after; then those of the step before,
  // dh without what goes through the product.
  void *dh, *dc;
  void *dx, *dproduct;  // (rows, gates * H); of a GRU two tensors, of others the same one
};

struct CellKernel {
  void (*step)(const CellStep&);
  void (*slopes)(const CellSlopes&);
};

struct CellKernels {
  CellKernel float32[CELL_COUNT], float64[CELL_COUNT];
};
TS_KERNELS(CellKernels, cell_kernels)

}  // namespace tessella
