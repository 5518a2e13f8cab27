#define _GNU_SOURCE // dl_phdr_info
#include "preload/needs_ode.h"

#include <stddef.h>
#include <string.h>

#include "preload/ode_file.h"

const void *object_segment(const struct dl_phdr_info *object, ElfW(Word) type) {
  for (int k = 0; k < object->dlpi_phnum; k++)
    if (object->dlpi_phdr[k].p_type == type)
      return (const void *)(object->dlpi_addr + object->dlpi_phdr[k].p_vaddr);
  return NULL;
}

bool needs_ode(const struct dl_phdr_info *object) {
  const ElfW(Dyn) *dynamic = object_segment(object, PT_DYNAMIC), *entry;
  const char *strings = NULL;
  if (dynamic == NULL) return false;
  for (entry = dynamic; entry->d_tag != DT_NULL; entry++) {
    // the loader has relocated it, except in the vDSO
    ElfW(Addr) address = entry->d_un.d_ptr;
    if (address < object->dlpi_addr) address += object->dlpi_addr;
    if (entry->d_tag == DT_STRTAB) strings = (const void *)address;
  }
  for (entry = dynamic; strings != NULL && entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag != DT_NEEDED) continue;
    const char *name = strings + entry->d_un.d_val;
    const char *slash = strrchr(name, '/');
    if (ode_file_has_name(slash != NULL ? slash + 1 : name)) return true;
  }
  return false;
}
