// Numbers out of text, correctly rounded: the bits of Python's float(text).
#pragma once

#include <stdint.h>

namespace tessella::csv {

// All of [p, end), without spaces around: false if that is no such number.
bool parse_integer(const char* p, const char* end, int64_t* out);  // within 64 bits
bool parse_float(const char* p, const char* end, double* out);     // also inf, infinity and nan

// The number that begins at p, where it is plain: digits, a point, an exponent, few enough of them
// that one rounding gives the result. Behind it; nullptr otherwise. A byte that belongs to no
// number ends it.
const char* read_integer(const char* p, int64_t* out);
const char* read_float(const char* p, double* out);

}  // namespace tessella::csv
