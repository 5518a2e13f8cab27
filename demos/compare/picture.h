/* The comparison's pictures: gnuplot scripts, and gnuplot run on them. */
#ifndef ODE_MLCP_DEMOS_COMPARE_PICTURE_H
#define ODE_MLCP_DEMOS_COMPARE_PICTURE_H

#include <stdbool.h>

#include "measure.h"
#include "recording.h"

/**
 * Draw what was run: FOLDER/{wall,slide,rod,boxstack-tower,boxstack-heap}.png,
 * each from FOLDER/data/NAME.gp, which holds its own data.
 *
 * @param gnuplot  the program's name or path
 * @return false where a script cannot be written or gnuplot is missing or
 *         fails, after a line on standard error.
 */
bool pictures_draw(const char *folder, const char *gnuplot,
                   const measurements *measured, const recordings *recorded);

#endif
