/* Matrix Market files: what is read, what is refused and how it is named. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mlcp/matrix_market.h"

static char folder[] = "/tmp/test-matrix-market-XXXXXX";
static char path[sizeof folder + 16];

static void write_file(const char *text) {
  FILE *file = fopen(path, "w");
  if (file == NULL) abort();
  fputs(text, file);
  fclose(file);
}

/* Read `text` as rows x columns into dense; false: refused. */
static bool reads(const char *text, int n_rows, int n_columns, double dense[],
                  char message[200]) {
  write_file(text);
  matrix_market matrix;
  bool read = matrix_market_read(path, n_rows, n_columns, false,
                                 &memory_from_malloc, &matrix, message, 200);
  if (read && dense != NULL) matrix_market_to_dense(&matrix, dense);
  matrix_market_release(&matrix);
  return read;
}

static void test_good_files(void) {
  char message[200];
  double A[6];
  const double wanted[6] = {1, 2, 3, 4, 5, 6};
  CU_ASSERT(
      reads("%%MatrixMarket matrix array real general\n"
            "% a comment\n\n2 3\n1\n4\n2\n5\n3\n6\n",
            2, 3, A, message));
  CU_ASSERT_EQUAL(memcmp(A, wanted, sizeof A), 0);
  CU_ASSERT_STRING_EQUAL(message, "");
  CU_ASSERT(
      reads("%%matrixmarket MATRIX coordinate Real General\r\n2 3 6\r\n"
            "1 1 1\r\n1 2 2\r\n1 3 3\r\n2 1 4\r\n2 2 5e0\r\n2 3 6.0\r\n",
            MATRIX_MARKET_ANY, MATRIX_MARKET_ANY, A, message));
  CU_ASSERT_EQUAL(memcmp(A, wanted, sizeof A), 0);

  double S[4];
  CU_ASSERT(
      reads("%%MatrixMarket matrix coordinate integer symmetric\n"
            "2 2 2\n1 1 3\n2 1 -1\n",
            2, 2, S, message));
  CU_ASSERT(S[0] == 3 && S[1] == -1 && S[2] == -1 && S[3] == 0);
  CU_ASSERT(reads("%%MatrixMarket matrix array real symmetric\n2 2\n3 -1 7\n",
                  2, 2, S, message));
  CU_ASSERT(S[0] == 3 && S[1] == -1 && S[2] == -1 && S[3] == 7);
  CU_ASSERT(reads("%%MatrixMarket matrix array real skew-symmetric\n2 2\n5\n",
                  2, 2, S, message));
  CU_ASSERT(S[0] == 0 && S[1] == -5 && S[2] == 5 && S[3] == 0);
  // entries named twice add up; an empty matrix is one
  CU_ASSERT(
      reads("%%MatrixMarket matrix coordinate real general\n2 2 2\n"
            "1 2 1\n1 2 2\n",
            2, 2, S, message));
  CU_ASSERT_EQUAL(S[1], 3);
  CU_ASSERT(reads("%%MatrixMarket matrix coordinate real general\n0 0 0\n",
                  MATRIX_MARKET_ANY, MATRIX_MARKET_ANY, NULL, message));

  // a vector may lie
  double v[3];
  CU_ASSERT(reads("%%MatrixMarket matrix array real general\n1 3\n7\n8\n9\n", 3,
                  1, v, message));
  CU_ASSERT(v[0] == 7 && v[1] == 8 && v[2] == 9);
}

static void test_bad_files(void) {
  const struct {
    const char *text, *line, *word;
  } bad[] = {
      {"", "", "empty"},
      {"hello\n", ":1:", "%%MatrixMarket"},
      {"%%MatrixMarket matrix array complex general\n2 2\n", ":1:", "real"},
      {"%%MatrixMarket matrix array real hermitian\n2 2\n", ":1:", "general"},
      {"%%MatrixMarket matrix array pattern general\n2 2\n", ":1:", "real"},
      {"%%MatrixMarket matrix array real general\n2\n", ":2:", "columns"},
      {"%%MatrixMarket matrix array real general\n2 -2\n", ":2:", "-2"},
      {"%%MatrixMarket matrix array real general\n2 x\n", ":2:", "'x'"},
      {"%%MatrixMarket matrix array real general\n3 2\n",
       ":2:", "3 x 2, expected is 2 x 2"},
      {"%%MatrixMarket matrix array real symmetric\n2 3\n", ":2:", "symmetric"},
      {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
       ":5:", "file ends"},
      {"%%MatrixMarket matrix array real general\n2 2\n1\n2\nnan\n4\n",
       ":5:", "'nan' is not a finite number"},
      {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n1e999\n4\n",
       ":5:", "finite"},
      {"%%MatrixMarket matrix array real general\n2 2\n1\n2,5\n3\n4\n",
       ":4:", "'2,5'"},
      {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n5\n",
       ":7:", "after the last entry"},
      {"%%MatrixMarket matrix array integer general\n2 2\n1\n2\n3\n4.5\n",
       ":6:", "integer"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n",
       ":3:", "1 .. 2"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n0 1 1\n",
       ":3:", "1 .. 2"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\n",
       ":3:", "the line ends where a number"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1\n2 2 5\n",
       ":3:", "the line ends where a number"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1 2\n2 5\n",
       ":3:", "'2' after the line's entry"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 0x10\n",
       ":3:", "'0x10' is not a number"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 "
       "99999999999999999999\n",
       ":2:", "too large"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 2\n",
       ":3:", "diagonal"}};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    char message[200], place[80];
    snprintf(place, sizeof place, "%s%s", path, bad[k].line);
    CU_ASSERT_FALSE(reads(bad[k].text, 2, 2, NULL, message));
    CU_ASSERT_PTR_NOT_NULL(strstr(message, place));
    CU_ASSERT_PTR_NOT_NULL(strstr(message, bad[k].word));
    if (strstr(message, place) == NULL || strstr(message, bad[k].word) == NULL)
      printf("  %zu: %s\n", k, message);
  }
  // a count that lies asks for no memory ahead
  char message[200];
  CU_ASSERT_FALSE(
      reads("%%MatrixMarket matrix coordinate real general\n"
            "2 2 999999999999\n1 1 1\n",
            2, 2, NULL, message));
  const char *told = SIZE_MAX > UINT32_MAX ? "file ends" : "is too large";
  CU_ASSERT_PTR_NOT_NULL(strstr(message, told));

  matrix_market matrix;
  CU_ASSERT_FALSE(matrix_market_read("/no/such/file", 2, 2, false,
                                     &memory_from_malloc, &matrix, message,
                                     sizeof message));
  CU_ASSERT_PTR_NOT_NULL(strstr(message, "/no/such/file: No such file"));
  CU_ASSERT_FALSE(matrix_market_read(folder, 2, 2, false, &memory_from_malloc,
                                     &matrix, message, sizeof message));
  CU_ASSERT_PTR_NOT_NULL(strstr(message, folder));
}

/* A line cut at any byte is refused or read, but never read beyond. */
static void test_truncated_anywhere(void) {
  const char *whole =
      "%%MatrixMarket matrix coordinate real general\n"
      "2 2 2\n1 1 0.25\n2 2 0.75\n";
  char part[100], message[200];
  size_t n_read = 0, length = strlen(whole);
  for (size_t cut = 0; cut <= length; cut++) {
    memcpy(part, whole, cut);
    part[cut] = 0;
    n_read += reads(part, 2, 2, NULL, message);
  }
  CU_ASSERT_EQUAL(n_read, 5); // 0, 0., 0.7, 0.75 and the line's end
}

/* A zero byte ends no line. */
static void test_binary_files(void) {
  static const char head[] = "%%MatrixMarket matrix array real general\n1 1\n";
  static const char *const tails[] = {"1\0002\n", "1\n\0junk", "\0001\n"};
  static const size_t lengths[] = {4, 7, 3};
  for (int i = 0; i < 3; i++) {
    char message[200];
    matrix_market matrix;
    FILE *file = fopen(path, "w");
    fputs(head, file);
    fwrite(tails[i], 1, lengths[i], file);
    fclose(file);
    CU_ASSERT_FALSE(matrix_market_read(path, 1, 1, false, &memory_from_malloc,
                                       &matrix, message, sizeof message));
    matrix_market_release(&matrix);
    CU_ASSERT_PTR_NOT_NULL(strstr(message, "a zero byte"));
  }
}

/* A comment may be as long as it likes, a word not. */
static void test_long_words(void) {
  char *text = malloc(20000), message[200];
  for (int comment = 1; comment >= 0; comment--) {
    strcpy(text, "%%MatrixMarket matrix array real general\n");
    size_t start = strlen(text);
    memset(text + start, '1', 10000);
    if (comment) text[start] = '%';
    strcpy(text + start + 10000, "\n1 1\n1\n");
    CU_ASSERT_EQUAL(reads(text, 1, 1, NULL, message), comment == 1);
  }
  CU_ASSERT_PTR_NOT_NULL(strstr(message, ":2: '11"));
  CU_ASSERT_PTR_NOT_NULL(strstr(message, "too long"));
  free(text);
}

static void test_what_is_written_is_read(void) {
  const double A[6] = {1.0 / 3, -2e-300, 0, 4e300, -5.5, M_PI};
  matrix_entry entries[6];
  matrix_market matrix = {
      .n_rows = 2, .n_columns = 3, .n_entries = 6, .entries = entries};
  double B[6];
  char message[200];
  for (int i = 0; i < 6; i++) entries[i] = (matrix_entry){i / 3, i % 3, A[i]};
  CU_ASSERT(
      !matrix_market_write("/no/such/file", &matrix, message, sizeof message));
  CU_ASSERT(matrix_market_write(path, &matrix, message, sizeof message));
  CU_ASSERT_FATAL(matrix_market_read(path, 2, 3, false, &memory_from_malloc,
                                     &matrix, message, sizeof message));
  matrix_market_to_dense(&matrix, B);
  CU_ASSERT_EQUAL(memcmp(A, B, sizeof A), 0);
  matrix_market_release(&matrix);
}

static void *no_memory(void *context, size_t size) {
  (void)size;
  return --*(int *)context >= 0 ? malloc(size) : NULL;
}

static void give_back(void *context, void *block, size_t size) {
  (void)context;
  (void)size;
  free(block);
}

static void test_no_memory(void) {
  write_file("%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n");
  for (int n_good = 0; n_good < 5; n_good++) {
    int left = n_good;
    memory_source source = {no_memory, give_back, &left};
    matrix_market matrix;
    char message[200];
    bool read = matrix_market_read(path, 3, 1, false, &source, &matrix, message,
                                   sizeof message);
    matrix_market_release(&matrix);
    CU_ASSERT_EQUAL(read, left >= 0);
    if (!read) CU_ASSERT_PTR_NOT_NULL(strstr(message, "memory"));
  }
}

int main(void) {
  if (mkdtemp(folder) == NULL) return 1;
  snprintf(path, sizeof path, "%s/a.mtx", folder);
  CU_TestInfo tests[] = {
      {"good files", test_good_files},
      {"bad files", test_bad_files},
      {"truncated anywhere", test_truncated_anywhere},
      {"binary files", test_binary_files},
      {"long words", test_long_words},
      {"what is written is read", test_what_is_written_is_read},
      {"no memory", test_no_memory},
      CU_TEST_INFO_NULL};
  int status = run_tests("matrix market", tests);
  unlink(path);
  rmdir(folder);
  return status;
}
