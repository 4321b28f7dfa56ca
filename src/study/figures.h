/* study/figures.h: the figures that the reference study printed (CISC-709 P05, tables 3.3.1 to 3.3.4), as it printed them.
 *
 * Float32 sums of numpy data with the study's own random draws; NVIDIA T4, November 2025. Private to study/course.c.
 */
#ifndef FOLD_STUDY_FIGURES_H
#define FOLD_STUDY_FIGURES_H

#include <stddef.h>

#define FIGURE_SIZES 6
#define FIGURE_COLUMNS 5 /* Sequential, Reverse, Tree, Sorted, NumPy */

static const size_t figure_sizes[FIGURE_SIZES] = {1000, 10000, 100000, 1000000, 10000000, 50000000};

struct figures {
  const char *table, *generator;
  const char *error[FIGURE_SIZES][FIGURE_COLUMNS];
};

static const struct figures report_figures[3] = {
    {"3.3.1",
     "mixed",
     {{"8.19e+03", "6.14e+03", "0.00e+00", "8.19e+03", "5.53e+02"},
      {"1.97e+05", "1.15e+05", "0.00e+00", "1.64e+04", "3.10e+03"},
      {"3.41e+06", "1.05e+06", "0.00e+00", "1.05e+07", "1.22e+05"},
      {"3.94e+08", "2.16e+08", "0.00e+00", "1.03e+09", "3.68e+06"},
      {"1.36e+10", "1.86e+09", "1.68e+07", "1.50e+12", "5.06e+07"},
      {"7.61e+13", "7.62e+13", "0.00e+00", "9.07e+13", "9.38e+08"}}},
    {"3.3.2",
     "pathological",
     {{"3.36e+02", "3.36e+02", "3.36e+02", "0.00e+00", "3.33e+02"},
      {"3.34e+03", "3.34e+03", "3.34e+03", "0.00e+00", "3.33e+03"},
      {"3.33e+04", "3.33e+04", "3.33e+04", "0.00e+00", "3.33e+04"},
      {"3.33e+05", "3.33e+05", "3.33e+05", "0.00e+00", "3.33e+05"},
      {"3.33e+06", "3.33e+06", "3.33e+06", "0.00e+00", "3.33e+06"},
      {"1.67e+07", "1.67e+07", "1.67e+07", "0.00e+00", "1.67e+07"}}},
    {"3.3.3",
     "normal",
     {{"5.72e-06", "3.24e-05", "0.00e+00", "1.91e-06", "2.28e-06"},
      {"1.91e-05", "4.39e-05", "7.63e-06", "5.53e-05", "1.08e-05"},
      {"2.29e-04", "1.90e-03", "1.53e-05", "7.55e-04", "4.64e-05"},
      {"2.11e-02", "2.49e-02", "1.22e-04", "1.46e-02", "4.59e-04"},
      {"1.67e-02", "3.10e-02", "1.10e-03", "5.22e-02", "1.69e-03"},
      {"3.49e-01", "1.55e-01", "0.00e+00", "2.84e-01", "2.01e-03"}}},
};

/* Table 3.3.4: PyTorch on the GPU, beside NumPy's column of 3.3.3. */
static const char *const report_gpu[FIGURE_SIZES] = {"3.77e-07", "3.19e-06", "6.80e-05",
                                                     "9.30e-05", "1.41e-04", "1.89e-03"};

#endif
