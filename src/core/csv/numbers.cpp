// Numbers out of text. See numbers.h.
#include "numbers.h"

#include <charconv>
#include <limits>

namespace tessella::csv {

namespace {

constexpr int64_t MOST_DIGITS = 18;                 // of which an int64 holds any number
constexpr uint64_t MOST_EXACT = uint64_t{1} << 53;  // up to here a double holds every integer
constexpr int64_t FAR = 1'000'000'000'000'000;      // exponents beyond it are all alike
constexpr double POWERS[] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};  // all exact
constexpr int64_t MOST_POWER = 22;

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// A decimal number as it is written: digits * 10 ** power, with the count of digits read.
struct Decimal {
  uint64_t digits = 0;  // modulo 2 ** 64
  int64_t count = 0;
  int64_t power = 0;
  bool is_negative = false;
  const char* begin = nullptr;  // behind the sign
};

const char* read_digits(const char* p, Decimal* out) {
  for (; is_digit(*p); ++p, ++out->count)
    out->digits = out->digits * 10 + static_cast<uint64_t>(*p - '0');
  return p;
}

// Behind the exponent at p; p itself if there is none.
const char* read_exponent(const char* p, int64_t* power) {
  const char* q = p + 1;
  bool is_negative = *q == '-';
  if (*q == '-' || *q == '+') ++q;
  if (!is_digit(*q)) return p;
  int64_t value = 0;
  for (; is_digit(*q); ++q)
    if (value < FAR) value = value * 10 + (*q - '0');
  *power += is_negative ? -value : value;
  return q;
}

// Behind the number that begins at p; nullptr if it has no digit.
const char* read_decimal(const char* p, Decimal* out) {
  out->is_negative = *p == '-';
  if (*p == '-' || *p == '+') ++p;
  out->begin = p;
  p = read_digits(p, out);
  if (*p == '.') {
    const char* point = p + 1;
    p = read_digits(point, out);
    out->power = point - p;
  }
  if (out->count == 0) return nullptr;
  return *p == 'e' || *p == 'E' ? read_exponent(p, &out->power) : p;
}

// Both parts exact, so that the product or quotient is rounded once (W. Clinger, 1990).
bool is_plain(const Decimal& x) {
  return x.count <= MOST_DIGITS && x.digits <= MOST_EXACT && x.power >= -MOST_POWER &&
         x.power <= MOST_POWER;
}

double plain_value(const Decimal& x) {
  auto whole = static_cast<double>(x.digits);
  double value = x.power < 0 ? whole / POWERS[-x.power] : whole * POWERS[x.power];
  return x.is_negative ? -value : value;
}

// What lies beyond the doubles is infinite or 0: its first digit that is not 0 tells which.
double beyond(const char* p, int64_t power) {
  int64_t place = 0;  // of that digit, counted from the end of all digits
  bool is_found = false;
  for (; is_digit(*p) || *p == '.'; ++p) {
    if (*p == '.') continue;
    is_found |= *p != '0';
    place += is_found;
  }
  return place + power > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

double rounded(const Decimal& x, const char* end) {
  double value = 0;
  auto [behind, code] = std::from_chars(x.begin, end, value);
  if (code == std::errc::result_out_of_range) value = beyond(x.begin, x.power);
  return x.is_negative ? -value : value;
}

bool is_word(const char* p, const char* end, const char* word) {
  for (; *word; ++p, ++word)
    if (p == end || (*p | 0x20) != *word) return false;
  return p == end;
}

bool parse_word(const char* p, const char* end, double* out) {
  bool is_negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) ++p;
  double value = std::numeric_limits<double>::quiet_NaN();
  if (is_word(p, end, "inf") || is_word(p, end, "infinity"))
    value = std::numeric_limits<double>::infinity();
  else if (!is_word(p, end, "nan"))
    return false;
  *out = is_negative ? -value : value;
  return true;
}

}  // namespace

const char* read_integer(const char* p, int64_t* out) {
  Decimal x;
  x.is_negative = *p == '-';
  if (*p == '-' || *p == '+') ++p;
  p = read_digits(p, &x);
  if (x.count == 0 || x.count > MOST_DIGITS) return nullptr;
  auto value = static_cast<int64_t>(x.digits);
  *out = x.is_negative ? -value : value;
  return p;
}

const char* read_float(const char* p, double* out) {
  Decimal x;
  p = read_decimal(p, &x);
  if (!p || !is_plain(x)) return nullptr;
  *out = plain_value(x);
  return p;
}

bool parse_integer(const char* p, const char* end, int64_t* out) {
  if (p < end && *p == '+') {
    ++p;
    if (p < end && *p == '-') return false;
  }
  auto [behind, code] = std::from_chars(p, end, *out);
  return code == std::errc() && behind == end;
}

bool parse_float(const char* p, const char* end, double* out) {
  if (p == end) return false;
  Decimal x;
  const char* behind = read_decimal(p, &x);
  if (!behind) return parse_word(p, end, out);
  if (behind != end) return false;
  *out = is_plain(x) ? plain_value(x) : rounded(x, end);
  return true;
}

}  // namespace tessella::csv
