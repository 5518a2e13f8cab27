#define _GNU_SOURCE // memmem
#include "preload/ode_file.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct file_image {
  const char *bytes;
  size_t size;
} file_image;

bool ode_file_has_name(const char *name) {
  if (strncmp(name, "libode", 6) != 0) return false;
  return strncmp(name + 6, ".so", 3) == 0 ||
         (name[6] == '-' && strstr(name, ".so") != NULL);
}

/* NULL where the file is shorter. */
static const void *at(const file_image *image, uint64_t offset, size_t size) {
  if (offset > image->size || image->size - offset < size) return NULL;
  return image->bytes + offset;
}

static const ElfW(Phdr) *
    segment_at(const file_image *image, const ElfW(Ehdr) * header, int k) {
  return at(image, header->e_phoff + (uint64_t)k * sizeof(ElfW(Phdr)),
            sizeof(ElfW(Phdr)));
}

/* The bytes that are loaded to an address, up to their segment's end in the
 * file. */
static file_image loaded_at(const file_image *image, const ElfW(Ehdr) * header,
                            ElfW(Addr) address) {
  for (int k = 0; k < header->e_phnum; k++) {
    const ElfW(Phdr) *segment = segment_at(image, header, k);
    if (segment == NULL) break;
    if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
        address - segment->p_vaddr >= segment->p_filesz)
      continue;
    uint64_t offset = segment->p_offset + (address - segment->p_vaddr);
    size_t size = segment->p_filesz - (address - segment->p_vaddr);
    return (file_image){at(image, offset, size), size};
  }
  return (file_image){NULL, 0};
}

/* DT_SONAME; false where there is none. */
static bool read_soname(const file_image *image, const ElfW(Ehdr) * header,
                        char soname[NAME_MAX + 1]) {
  const ElfW(Dyn) *dynamic = NULL;
  size_t count = 0;
  for (int k = 0; k < header->e_phnum && dynamic == NULL; k++) {
    const ElfW(Phdr) *segment = segment_at(image, header, k);
    if (segment == NULL || segment->p_type != PT_DYNAMIC) continue;
    dynamic = at(image, segment->p_offset, segment->p_filesz);
    count = segment->p_filesz / sizeof *dynamic;
  }
  ElfW(Addr) strings = 0, name = 0;
  bool has_name = false;
  for (; dynamic != NULL && count > 0 && dynamic->d_tag != DT_NULL;
       dynamic++, count--) {
    if (dynamic->d_tag == DT_STRTAB) strings = dynamic->d_un.d_ptr;
    if (dynamic->d_tag == DT_SONAME) {
      name = dynamic->d_un.d_val;
      has_name = true;
    }
  }
  if (!has_name) return false;
  file_image words = loaded_at(image, header, strings + name);
  if (words.bytes == NULL || memchr(words.bytes, '\0', words.size) == NULL ||
      strlen(words.bytes) > NAME_MAX)
    return false;
  strcpy(soname, words.bytes);
  return true;
}

static const ElfW(Ehdr) * header_of(const file_image *image) {
  const ElfW(Ehdr) *header = at(image, 0, sizeof *header);
  bool is_library =
      header != NULL && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
      header->e_ident[EI_CLASS] ==
          (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) &&
      header->e_type == ET_DYN && header->e_phentsize == sizeof(ElfW(Phdr));
  return is_library ? header : NULL;
}

/* dGetConfiguration's words tell a library's precision. */
static ode_file_kind judge(const file_image *image, const char *path,
                           char soname[NAME_MAX + 1]) {
  char other[32];
  int length = snprintf(other, sizeof other, "ODE_%s_precision",
                        ODE_FILE_PRECISION(false));
  const ElfW(Ehdr) *header = header_of(image);
  if (header == NULL) return ODE_FILE_NONE;
  if (!read_soname(image, header, soname)) {
    const char *slash = strrchr(path, '/');
    strncat(soname, slash != NULL ? slash + 1 : path, NAME_MAX);
  }
  if (!ode_file_has_name(soname)) return ODE_FILE_NONE;
  if (strcmp(soname, ODE_FILE_SONAME) != 0) return ODE_FILE_OTHER_NAME;
  return memmem(image->bytes, image->size, other, (size_t)length) != NULL
             ? ODE_FILE_OTHER_PRECISION
             : ODE_FILE_FITS;
}

ode_file_kind ode_file_read(const char *path, char soname[NAME_MAX + 1]) {
  struct stat status;
  ode_file_kind kind = ODE_FILE_NONE;
  soname[0] = '\0';
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return kind;
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
      status.st_size > 0) {
    size_t size = (size_t)status.st_size;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes != MAP_FAILED) {
      const file_image image = {bytes, size};
      kind = judge(&image, path, soname);
      munmap(bytes, size);
    }
  }
  close(file);
  if (kind == ODE_FILE_NONE) soname[0] = '\0';
  return kind;
}
