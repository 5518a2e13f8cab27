#define _GNU_SOURCE // dl_iterate_phdr
#include "preload/libraries.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ode_mlcp.h"
#include "preload/needs_ode.h"

/* glibc lists the namespaces of dlmopen from 2.35 on; musl has none. */
#ifdef __GLIBC_PREREQ
#if __GLIBC_PREREQ(2, 35)
#define LISTS_NAMESPACES
#endif
#endif

/* The parts of a loaded object's dynamic section that a look-up needs. */
typedef struct symbol_table {
  const ElfW(Sym) * symbols;
  const char *strings;
  const uint32_t *gnu_hash;
  const uint32_t *sysv_hash;
} symbol_table;

static symbol_table read_dynamic(const ElfW(Dyn) * entry, ElfW(Addr) start) {
  symbol_table table = {NULL, NULL, NULL, NULL};

  for (; entry != NULL && entry->d_tag != DT_NULL; entry++) {
    // the loader has relocated these, except in the vDSO
    ElfW(Addr) address = entry->d_un.d_ptr;
    if (address < start) address += start;
    if (entry->d_tag == DT_SYMTAB) table.symbols = (const void *)address;
    if (entry->d_tag == DT_STRTAB) table.strings = (const void *)address;
    if (entry->d_tag == DT_GNU_HASH) table.gnu_hash = (const void *)address;
    if (entry->d_tag == DT_HASH) table.sysv_hash = (const void *)address;
  }
  return table;
}

static symbol_table read_symbol_table(const struct dl_phdr_info *object) {
  return read_dynamic(object_segment(object, PT_DYNAMIC), object->dlpi_addr);
}

static bool is_definition(const symbol_table *table, uint32_t index,
                          const char *name) {
  const ElfW(Sym) *symbol = &table->symbols[index];
  return symbol->st_shndx != SHN_UNDEF &&
         strcmp(table->strings + symbol->st_name, name) == 0;
}

/* Layout: bucket count, first hashed symbol, bloom words, bloom shift, the
 * bloom filter, buckets, then a hash a symbol whose lowest bit ends a chain. */
static bool defines_by_gnu_hash(const symbol_table *table, const char *name) {
  uint32_t hash = 5381;
  for (const char *c = name; *c != '\0'; c++)
    hash = hash * 33 + (unsigned char)*c;

  uint32_t n_buckets = table->gnu_hash[0], first = table->gnu_hash[1];
  const ElfW(Addr) *bloom = (const void *)(table->gnu_hash + 4);
  const uint32_t *buckets = (const void *)(bloom + table->gnu_hash[2]);
  const uint32_t *chain = buckets + n_buckets;
  if (n_buckets == 0) return false;

  uint32_t index = buckets[hash % n_buckets];
  if (index < first) return false;
  for (;; index++) {
    uint32_t found = chain[index - first];
    if ((found | 1) == (hash | 1) && is_definition(table, index, name))
      return true;
    if (found & 1) return false;
  }
}

static bool defines_by_sysv_hash(const symbol_table *table, const char *name) {
  uint32_t n_symbols = table->sysv_hash[1];
  for (uint32_t index = 0; index < n_symbols; index++)
    if (is_definition(table, index, name)) return true;
  return false;
}

static bool defines(const symbol_table *table, const char *name) {
  if (table->symbols == NULL || table->strings == NULL) return false;
  if (table->gnu_hash != NULL) return defines_by_gnu_hash(table, name);
  return table->sysv_hash != NULL && defines_by_sysv_hash(table, name);
}

/* What nothing wraps beside what programs call. */
static bool defines_ode(const symbol_table *table) {
  return defines(table, "dWorldStep") && defines(table, "dWorldGetERP");
}

/* True if `address` lies in one of the object's segments. */
static bool holds(const struct dl_phdr_info *object, const void *address) {
  ElfW(Addr) offset = (ElfW(Addr))address - object->dlpi_addr;
  for (int k = 0; k < object->dlpi_phnum; k++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[k];
    if (segment->p_type == PT_LOAD && offset >= segment->p_vaddr &&
        offset - segment->p_vaddr < segment->p_memsz)
      return true;
  }
  return false;
}

static int notice_other_ode(struct dl_phdr_info *object, size_t size,
                            void *found) {
  (void)size;
  const char *name = object->dlpi_name;

  // the program itself has an empty name; what it defines, it defines for all
  if (name == NULL || *name == '\0') return 0;
  symbol_table table = read_symbol_table(object);
  if (!defines_ode(&table)) return 0;
  if (holds(object, (const void *)dSetStepperWorldCreatedFunction)) return 0;
  *(const char **)found = name;
  return 1;
}

/* dl_iterate_phdr does not tell of libraries that dlmopen loads beside everything
 * else. Older C libraries do not list them either. */
static const char *find_in_other_namespaces(void) {
#ifdef LISTS_NAMESPACES
  // declared as the older, shorter struct
  const struct r_debug_extended *space = dlsym(RTLD_DEFAULT, "_r_debug");
  if (space == NULL || space->base.r_version < 2) return NULL;
  while ((space = space->r_next) != NULL)
    for (const struct link_map *object = space->base.r_map; object != NULL;
         object = object->l_next) {
      symbol_table table = read_dynamic(object->l_ld, object->l_addr);
      if (defines_ode(&table)) return object->l_name;
    }
#endif
  return NULL;
}

const char *libraries_second_ode(void) {
  const char *found = NULL;
  dl_iterate_phdr(notice_other_ode, &found);
  return found != NULL ? found : find_in_other_namespaces();
}

/* True if bytes hold ODE's words on itself: "ODE ", its features, a precision. */
static bool tells_of_ode(const char *bytes, size_t size) {
  static const char start[] = "\0ODE ODE_";
  const size_t length = sizeof start - 1;
  const char *end = bytes + size;
  for (; (bytes = memmem(bytes, (size_t)(end - bytes), start, length)) != NULL;
       bytes += length) {
    const char *words = bytes + 1;
    if (memchr(words, '\0', (size_t)(end - words)) != NULL &&
        (strstr(words, "ODE_double_precision") != NULL ||
         strstr(words, "ODE_single_precision") != NULL))
      return true;
  }
  return false;
}

static int notice_hidden_ode(struct dl_phdr_info *object, size_t size,
                             void *found) {
  (void)size;
  if (holds(object, (const void *)dSetStepperWorldCreatedFunction) ||
      holds(object, (const void *)libraries_hidden_ode))
    return 0;
  for (int k = 0; k < object->dlpi_phnum; k++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[k];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_R) ||
        (segment->p_flags & PF_W) ||
        !tells_of_ode((const char *)(object->dlpi_addr + segment->p_vaddr),
                      segment->p_filesz))
      continue;
    bool itself = object->dlpi_name == NULL || *object->dlpi_name == '\0';
    *(const char **)found = itself ? "its own" : object->dlpi_name;
    return 1;
  }
  return 0;
}

const char *libraries_hidden_ode(void) {
  const char *found = NULL;
  dl_iterate_phdr(notice_hidden_ode, &found);
  return found;
}

typedef struct need {
  bool found;
  const char *loader;
} need;

static int notice_need(struct dl_phdr_info *object, size_t size, void *place) {
  need *noticed = place;
  (void)size;

  // the program itself comes first
  if (noticed->loader == NULL)
    noticed->loader = object_segment(object, PT_INTERP);
  // this module and its library are not the program's
  if (!holds(object, (const void *)libraries_need_ode) &&
      !holds(object, (const void *)ode_mlcp_attach_new_worlds))
    noticed->found = noticed->found || needs_ode(object);
  return 0;
}

bool libraries_need_ode(const char **loader) {
  need noticed = {false, NULL};
  dl_iterate_phdr(notice_need, &noticed);
  *loader = noticed.loader;
  return noticed.found;
}
