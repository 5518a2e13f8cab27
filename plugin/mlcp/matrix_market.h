/* Matrix Market files: dense arrays and coordinate lists of real numbers.
 *
 * Read are `matrix array|coordinate real|integer general|symmetric|
 * skew-symmetric`; symmetric files give both triangles. Entries named twice in
 * a coordinate file add up. */
#ifndef ODE_MLCP_MLCP_MATRIX_MARKET_H
#define ODE_MLCP_MLCP_MATRIX_MARKET_H

#include <stdbool.h>
#include <stddef.h>

#include "common/columns.h"
#include "common/memory.h"

/** A matrix as the file lists it: an array file has all its entries, zeros
 *  too, column after column. */
typedef struct matrix_market {
  int n_rows, n_columns;
  size_t n_entries;
  matrix_entry *entries; /* in `pool` */
  memory_pool pool;
} matrix_market;

/** In place of a number of rows or columns: any will do; for columns, as many
 *  as rows. */
enum { MATRIX_MARKET_ANY = -1, MATRIX_MARKET_SQUARE = -2 };

/**
 * Read a file.
 *
 * @param n_rows, n_columns  the shape expected, see above. A vector
 *                           that is expected as a column may also lie as a row.
 * @param infinite  numbers may be, `inf`
 * @param matrix   out: release it with matrix_market_release, also after a
 *                 failure
 * @param message  [message_size] out: empty, or one line that names the file,
 *                 where it makes sense the line, and what is wrong
 *                 ("M.mtx:7: 'nan' is not a finite number")
 * @return false: cannot be read, malformed, truncated, too long, a number that
 *         is not finite, an index out of range, another shape, or no memory
 */
bool matrix_market_read(const char *path, int n_rows, int n_columns,
                        bool infinite, const memory_source *source,
                        matrix_market *matrix, char *message,
                        size_t message_size);

/** One more entry of a matrix whose pool is open.
 *  @return false when memory runs out */
bool matrix_market_add(matrix_market *m, int row, int column, double value);

/** Row-major copy, [n_rows x n_columns] out. */
void matrix_market_to_dense(const matrix_market *matrix, double dense[]);

void matrix_market_release(matrix_market *matrix);

/** Write `matrix` as a general coordinate file, with all digits.
 *  @return false, with a message as above, when the file cannot be written */
bool matrix_market_write(const char *path, const matrix_market *matrix,
                         char *message, size_t message_size);

#endif
