#include "schemes/schemes.h"

#include "settings/settings.h"

#define ROW(ID, name, help) &SCHEME_##ID,
static const scheme *table[32] = {SCHEME_LIST(ROW)};
#undef ROW
enum { ROOM = sizeof table / sizeof table[0] };

const scheme *scheme_find(int id) {
  for (int i = 0; i < ROOM && table[i] != NULL; i++)
    if (table[i]->id == id) return table[i];
  return NULL;
}

bool scheme_register(const scheme *added, const char *name) {
  for (int i = 0; i < ROOM; i++) {
    if (table[i] != NULL && table[i]->id == added->id) return false;
    if (table[i] != NULL) continue;
    if (!settings_add_scheme_name(added->id, name)) return false;
    table[i] = added;
    return true;
  }
  return false;
}

bool scheme_remember(scheme_step *step, int count) {
  step_memory *remembered = &step->remembered;
  remembered->n_entries = 0;
  remembered->entries =
      memory_block_reserve(remembered->block, remembered->source, (size_t)count,
                           sizeof *remembered->entries);
  return remembered->entries != NULL || outcome_no_memory(step->out);
}
