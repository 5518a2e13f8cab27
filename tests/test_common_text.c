/* Numbers and strings as the statistics and traces write them, and numbers as
 * settings and arguments are read. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/number.h"
#include "common/text.h"
#include "testing.h"

static char buffer[256];

static const char *number(double value, int digits) {
  text out;
  text_start(&out, buffer, sizeof buffer - 1);
  text_add_number(&out, value, digits);
  buffer[out.used] = '\0';
  return buffer;
}

static const char *integer(long long value) {
  text out;
  text_start(&out, buffer, sizeof buffer - 1);
  text_add_integer(&out, value);
  buffer[out.used] = '\0';
  return buffer;
}

static void test_known_numbers(void) {
  CU_ASSERT_STRING_EQUAL(number(0, 9), "0");
  CU_ASSERT_STRING_EQUAL(number(-0.0, 9), "0");
  CU_ASSERT_STRING_EQUAL(number(1, 9), "1");
  CU_ASSERT_STRING_EQUAL(number(-1, 1), "-1");
  CU_ASSERT_STRING_EQUAL(number(0.5, 9), "0.5");
  CU_ASSERT_STRING_EQUAL(number(0.01, 9), "0.01");
  CU_ASSERT_STRING_EQUAL(number(0.00012, 9), "0.00012");
  CU_ASSERT_STRING_EQUAL(number(0.000012, 9), "1.2e-5");
  CU_ASSERT_STRING_EQUAL(number(100, 9), "100");
  CU_ASSERT_STRING_EQUAL(number(123.456, 9), "123.456");
  CU_ASSERT_STRING_EQUAL(number(123456789012.0, 12), "123456789012");
  CU_ASSERT_STRING_EQUAL(number(1e9, 9), "1e9");
  CU_ASSERT_STRING_EQUAL(number(-2.5e300, 9), "-2.5e300");
  CU_ASSERT_STRING_EQUAL(number(5e-324, 3), "4.94e-324");
  CU_ASSERT_STRING_EQUAL(number(2.0 / 3, 4), "0.6667");
  CU_ASSERT_STRING_EQUAL(number(NAN, 9), "nan");
  CU_ASSERT_STRING_EQUAL(number(INFINITY, 9), "inf");
  CU_ASSERT_STRING_EQUAL(number(-INFINITY, 9), "-inf");
}

/* Rounding up may make one digit more. */
static void test_carry(void) {
  CU_ASSERT_STRING_EQUAL(number(0.99999, 3), "1");
  CU_ASSERT_STRING_EQUAL(number(9.9999e20, 3), "1e21");
  CU_ASSERT_STRING_EQUAL(number(999.9999, 3), "1e3");
  CU_ASSERT_STRING_EQUAL(number(9.96, 2), "10");
}

/* The distance to what was meant, in units of the last of `digits` digits. */
static double error_in_last_digit(double value, int digits) {
  double back = strtod(number(value, digits), NULL);
  return fabs(back - value) / fabs(value) * pow(10, digits - 1);
}

static void test_random_numbers_come_back(void) {
  test_random random = {20261};
  double worst = 0;

  for (int k = 0; k < 200000; k++) {
    double value = test_uniform(&random, -10, 10) *
                   pow(2, floor(test_uniform(&random, -1000, 1000)));
    worst = fmax(worst, error_in_last_digit(value, 9));
  }
  // half a unit by rounding
  CU_ASSERT(worst <= 0.5001);
  CU_ASSERT(worst > 0.4);

  // 17 digits are enough for any double to come back to a rounding
  for (int k = 0; k < 20000; k++) {
    double value = test_uniform(&random, 1, 10) *
                   pow(10, floor(test_uniform(&random, -20, 20)));
    double back = strtod(number(value, 17), NULL);
    CU_ASSERT(fabs(back - value) <= 2.3e-16 * value);
  }
}

static void test_integers(void) {
  CU_ASSERT_STRING_EQUAL(integer(0), "0");
  CU_ASSERT_STRING_EQUAL(integer(-7), "-7");
  CU_ASSERT_STRING_EQUAL(integer(9223372036854775807LL), "9223372036854775807");
  CU_ASSERT_STRING_EQUAL(integer(-9223372036854775807LL - 1),
                         "-9223372036854775808");
}

/* Text that does not fit is left out, and nothing follows it. */
static void test_full_buffer(void) {
  char small[8];
  text out;

  memset(small, '#', sizeof small);
  text_start(&out, small, 4);
  text_add(&out, "abc");
  text_add(&out, "long");
  text_add(&out, "d");
  CU_ASSERT_EQUAL(out.used, 3);
  CU_ASSERT(out.overflowed);
  CU_ASSERT_EQUAL(memcmp(small, "abc#", 4), 0);

  text_start(&out, small, 4);
  text_add(&out, "abcd");
  CU_ASSERT_EQUAL(out.used, 4);
  CU_ASSERT(!out.overflowed);
  CU_ASSERT_EQUAL(small[4], '#');
}

/* Whatever error the program had before. */
static void test_numbers_read(void) {
  static const char *const none[] = {"",     " 1", "1 ",   "1,5",   "1e999",
                                     "1e5x", "-",  "1..5", "-1e999"};
  static const char *const no_whole[] = {
      "", " 1", "1 ", "1.5", "x", "9223372036854775808", "1x"};
  double value = 7;
  long whole = 7;
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
    CU_ASSERT(!number_parse(none[i], &value));
    CU_ASSERT_EQUAL(value, 7);
  }
  for (size_t i = 0; i < sizeof no_whole / sizeof *no_whole; i++) {
    CU_ASSERT(!number_parse_whole(no_whole[i], &whole));
    CU_ASSERT_EQUAL(whole, 7);
  }
  errno = ERANGE;
  CU_ASSERT(number_parse("-inf", &value));
  CU_ASSERT_EQUAL(value, -INFINITY);
  CU_ASSERT(number_parse("1e-400", &value));
  CU_ASSERT_EQUAL(value, 0);
  CU_ASSERT(number_parse("nan", &value));
  CU_ASSERT(isnan(value));
  CU_ASSERT(number_parse("-1.5e2", &value));
  CU_ASSERT_EQUAL(value, -150);
  errno = ERANGE;
  CU_ASSERT(number_parse_whole("-12", &whole));
  CU_ASSERT_EQUAL(whole, -12);
}

int main(void) {
  static const CU_TestInfo tests[] = {
      {"known numbers", test_known_numbers},
      {"carries", test_carry},
      {"random numbers come back", test_random_numbers_come_back},
      {"integers", test_integers},
      {"a full buffer", test_full_buffer},
      {"numbers read", test_numbers_read},
      CU_TEST_INFO_NULL};
  return run_tests("text", tests);
}
