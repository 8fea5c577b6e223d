// A fraction of integers of any size, in lowest terms: FLINT's fmpq as a value
// type. Equal fractions compare equal.
//
//   BigRational half(1, 2);
//   half + half == BigRational(1)   // true
//
// The caller bounds sizes (nothing here stops a number from growing) and rules
// out division by zero. Thread-compatible.
#ifndef ESPALIER_DATASETS_ANSWERS_VALUE_BIG_RATIONAL_H_
#define ESPALIER_DATASETS_ANSWERS_VALUE_BIG_RATIONAL_H_

#include <flint/fmpq.h>
#include <flint/fmpz.h>

#include <string>

namespace espalier {

class BigRational {
 public:
  BigRational(int64_t num = 0, int64_t den = 1) {  // NOLINT: a plain number
    fmpq_init(value_);
    fmpq_set_si(value_, num, static_cast<ulong>(den));
  }
  BigRational(const BigRational& other) {
    fmpq_init(value_);
    fmpq_set(value_, other.value_);
  }
  BigRational(BigRational&& other) noexcept {
    fmpq_init(value_);
    fmpq_swap(value_, other.value_);
  }
  BigRational& operator=(BigRational other) noexcept {
    fmpq_swap(value_, other.value_);
    return *this;
  }
  ~BigRational() { fmpq_clear(value_); }

  // The number with these decimal digits, e.g. "0042".
  static BigRational FromDigits(const std::string& digits) {
    BigRational out;
    fmpz_set_str(fmpq_numref(out.value_), digits.c_str(), 10);
    return out;
  }
  // 10^n; the caller bounds |n|.
  static BigRational PowerOfTen(int64_t n) {
    BigRational out(10);
    fmpq_pow_si(out.value_, out.value_, n);
    return out;
  }

  friend BigRational operator+(const BigRational& a, const BigRational& b) {
    BigRational out;
    fmpq_add(out.value_, a.value_, b.value_);
    return out;
  }
  friend BigRational operator-(const BigRational& a, const BigRational& b) {
    BigRational out;
    fmpq_sub(out.value_, a.value_, b.value_);
    return out;
  }
  friend BigRational operator*(const BigRational& a, const BigRational& b) {
    BigRational out;
    fmpq_mul(out.value_, a.value_, b.value_);
    return out;
  }
  friend BigRational operator/(const BigRational& a, const BigRational& b) {
    BigRational out;
    fmpq_div(out.value_, a.value_, b.value_);
    return out;
  }
  bool operator==(const BigRational& other) const {
    return fmpq_equal(value_, other.value_) != 0;
  }
  bool operator<(const BigRational& other) const {
    return fmpq_cmp(value_, other.value_) < 0;
  }

  int sign() const { return fmpq_sgn(value_); }
  bool zero() const { return fmpq_is_zero(value_) != 0; }
  bool integer() const { return fmpz_is_one(fmpq_denref(value_)) != 0; }
  BigRational Absolute() const {
    return sign() < 0 ? BigRational() - *this : *this;
  }
  // Whether it is an integer of at most 62 bits.
  bool small() const {
    return integer() && !COEFF_IS_MPZ(*fmpq_numref(value_));
  }
  int64_t small_value() const { return fmpz_get_si(fmpq_numref(value_)); }
  // Bit size of the larger of numerator and denominator.
  int64_t bits() const {
    return static_cast<int64_t>(std::max(fmpz_bits(fmpq_numref(value_)),
                                         fmpz_bits(fmpq_denref(value_))));
  }
  std::string ToString() const {
    char* text = fmpq_get_str(nullptr, 10, value_);
    std::string out = text;
    flint_free(text);
    return out;
  }
  const fmpq* get() const { return value_; }
  fmpq* get() { return value_; }

 private:
  fmpq_t value_;
};

}  // namespace espalier

#endif  // ESPALIER_DATASETS_ANSWERS_VALUE_BIG_RATIONAL_H_
