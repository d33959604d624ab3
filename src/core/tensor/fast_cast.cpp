// The fast path of conversion: astype(x, dtype), always a copy.
#include "arguments.h"
#include "guard.h"
#include "result.h"
#include "run.h"
#include "tape.h"

namespace tessella {

namespace {

constexpr int64_t DIRECT_SIZE = 4096;  // elements up to which the kernel is called on the spot

void convert(Tensor* out, Tensor* x) {
  if (x->is_contiguous && x->size <= DIRECT_SIZE && !is_taping())
    return cast_kernel(x->dtype, out->dtype)(x->size, out->data(), x->data());
  run_copy(out, x, true);
}

PyObject* params_of(PyObject* dtype) {
  PyObject* dict = dict_of(Param::dtype, Py_NewRef(dtype));
  if (dict && !add_to(dict, Param::copy, Py_NewRef(Py_True))) Py_CLEAR(dict);
  return dict;
}

}  // namespace

PyObject* fast_cast(Function* function, PyObject* const* args, Py_ssize_t count,
                    PyObject* keywords) {
  constexpr Param PARAMS[] = {Param::dtype};
  PyObject* wanted = nullptr;
  DType dtype;
  if (count < 1 || !is_tensor(args[0])) return nullptr;
  if (!bind_params(args + 1, count - 1, keywords, PARAMS, 1, 1, &wanted)) return nullptr;
  Tensor* x = as_tensor(args[0]);
  if (!wanted || !dtype_from_object(wanted, &dtype) || !x->has_memory()) return nullptr;
  if (is_user(x->dtype)) return nullptr;
  // That a complex number loses its imaginary part is refused with an explanation.
  if (kind(x->dtype) == DKind::complex && kind(dtype) != DKind::complex) return nullptr;
  return attempted([&]() -> PyObject* {
    Result out(make_like(dtype, x));
    convert(out.get(), x);
    return finish(out, function, args, 1, [&] { return params_of(wanted); });
  });
}

}  // namespace tessella
