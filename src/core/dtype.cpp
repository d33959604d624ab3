// The table of dtypes that grows: the built-in rows, and those of users.
#include "dtype.h"

#include <string.h>

namespace tessella {

namespace {

constexpr DTypeTable built_in() {
  DTypeTable table{};
  for (int i = 0; i < DTYPE_COUNT; ++i) table.rows[i] = DTYPES[i];
  return table;
}

int registered = 0;

}  // namespace

constinit DTypeTable dtype_table = built_in();

int register_dtype(const char* name, int64_t itemsize) {
  if (registered == USER_DTYPES) return -1;
  const char* kept = strdup(name);  // for good: tensors of the dtype may live as long
  if (!kept) return -1;
  int id = DTYPE_COUNT + registered;
  dtype_table.rows[id] = {kept, static_cast<uint16_t>(itemsize), DKind::user};
  ++registered;
  return id;
}

int free_dtypes() { return USER_DTYPES - registered; }

}  // namespace tessella
