/* A folder with a problem: its files, each behind a line "== NAME". What is read
 * is checked as `ode-mlcp solve` checks it, and its residual computed. */
#include <string.h>
#include <sys/stat.h>

#include "fuzz_file.h"
#include "mlcp/mlcp_folder.h"

static bool is_plain_name(const char *name) {
  return name[0] != '\0' && name[0] != '.' &&
         strspn(name, "abcdefghijklmnopqrstuvwxyzJM_.") == strlen(name);
}

static void write_files(const char *text) {
  for (const char *at = strstr(text, "== "), *next; at != NULL; at = next) {
    char name[40] = "";
    sscanf(at, "== %39[^\n]", name);
    next = strstr(at + 3, "== ");
    const char *begin = strchr(at, '\n');
    if (begin == NULL || (next != NULL && begin > next)) continue;
    begin++;
    size_t length = next != NULL ? (size_t)(next - begin) : strlen(begin);
    if (is_plain_name(name)) fuzz_write(name, (const uint8_t *)begin, length);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlcp_stored stored;
  char message[200], *text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = '\0';
  mlcp_folder_remove(fuzz_folder());
  if (mkdir(fuzz_folder(), 0700) != 0 && access(fuzz_folder(), W_OK) != 0)
    abort();
  write_files(text);
  if (mlcp_folder_read(fuzz_folder(), &memory_from_malloc, &stored, message,
                       sizeof message)) {
    const mlcp_problem *problem = &stored.problem;
    for (int r = 0; r < problem->n_rows && r < 1000; r++)
      (void)mlcp_row_diagonal(problem, r);
  }
  mlcp_stored_release(&stored);
  free(text);
  return 0;
}
