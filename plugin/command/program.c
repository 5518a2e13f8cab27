#include "command/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "command/arguments.h"
#include "command/other_precision.h"
#include "preload/host_probe.h"
#include "preload/ode_file.h"

/* ---- finding it ---- */

static bool is_executable_file(const char *path) {
  struct stat file;
  return stat(path, &file) == 0 && S_ISREG(file.st_mode) &&
         access(path, X_OK) == 0;
}

/* Looks along PATH; an empty entry is the current folder. */
static bool find_on_path(char path[PATH_MAX], const char *name) {
  const char *folders = getenv("PATH");
  if (folders == NULL) folders = "/bin:/usr/bin";

  for (const char *start = folders;; start++) {
    size_t length = strcspn(start, ":");
    int needed = length == 0 ? snprintf(path, PATH_MAX, "./%s", name)
                             : snprintf(path, PATH_MAX, "%.*s/%s", (int)length,
                                        start, name);
    if (needed < PATH_MAX && is_executable_file(path)) return true;
    start += length;
    if (*start == '\0') return false;
  }
}

static bool find_file(char path[PATH_MAX], const char *name, char *message,
                      size_t message_size) {
  struct stat file;

  if (*name == '\0') {
    snprintf(message, message_size, "the program's name is empty");
    return false;
  }
  if (strchr(name, '/') == NULL) {
    if (find_on_path(path, name)) return true;
    snprintf(message, message_size, "%s: no such program on PATH", name);
    return false;
  }
  if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX) {
    snprintf(message, message_size, "the program's name is too long");
    return false;
  }
  const char *problem = NULL;
  if (stat(path, &file) != 0)
    problem = strerror(errno);
  else if (S_ISDIR(file.st_mode))
    problem = strerror(EISDIR);
  else if (!S_ISREG(file.st_mode))
    problem = "not a file";
  else if (access(path, X_OK) != 0)
    problem = "not executable";
  if (problem != NULL) snprintf(message, message_size, "%s: %s", name, problem);
  return problem == NULL;
}

/* ---- looking at it ---- */

/* Tells why a file's ELF header does not match this machine's; NULL: it does.
 * Ours is read off this very program. */
static const char *machine_problem(const ElfW(Ehdr) * header) {
  ElfW(Ehdr) own;
  int descriptor = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  bool known =
      descriptor >= 0 && pread(descriptor, &own, sizeof own, 0) == sizeof own;
  if (descriptor >= 0) close(descriptor);
  if (!known) return NULL;

  if (header->e_ident[EI_CLASS] != own.e_ident[EI_CLASS])
    return own.e_ident[EI_CLASS] == ELFCLASS64 ? "a 32-bit program"
                                               : "a 64-bit program";
  if (header->e_ident[EI_DATA] != own.e_ident[EI_DATA] ||
      header->e_machine != own.e_machine)
    return "a program for another machine";
  if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
    return "an ELF file that is no program";
  return NULL;
}

/* Reads the name of the loader, which only a dynamically linked program has. */
static bool read_loader(int file, const ElfW(Ehdr) * header,
                        char loader[PATH_MAX]) {
  ElfW(Phdr) segment;
  for (int k = 0; k < header->e_phnum; k++) {
    off_t place = (off_t)(header->e_phoff + (ElfW(Off))k * sizeof segment);
    if (pread(file, &segment, sizeof segment, place) != sizeof segment)
      return false;
    if (segment.p_type != PT_INTERP) continue;
    if (segment.p_filesz == 0 || segment.p_filesz >= PATH_MAX) return false;
    loader[segment.p_filesz] = '\0';
    return pread(file, loader, segment.p_filesz, (off_t)segment.p_offset) ==
           (ssize_t)segment.p_filesz;
  }
  return false;
}

static const char *elf_problem(int file, program *found) {
  ElfW(Ehdr) header;
  if (pread(file, &header, sizeof header, 0) != sizeof header)
    return "a broken ELF file";

  const char *problem = machine_problem(&header);
  if (problem != NULL) return problem;
  if (header.e_phentsize != sizeof(ElfW(Phdr)) && header.e_phnum > 0)
    return "a broken ELF file";
  if (!read_loader(file, &header, found->loader)) {
    found->loader[0] = '\0';
    return "statically linked, nothing can be preloaded into it: link it "
           "with the shared libode.so.8";
  }
  return NULL;
}

/* A script's interpreter, from the first `length` bytes of its file, has to be
 * there. @return what is wrong or NULL */
static const char *script_problem(char *start, size_t length) {
  static char problem[PATH_MAX + 64];
  char *interpreter = start + 2;

  start[length] = '\0';
  interpreter += strspn(interpreter, " \t");
  interpreter[strcspn(interpreter, " \t\n")] = '\0';
  if (*interpreter != '\0' && access(interpreter, X_OK) == 0) return NULL;
  snprintf(problem, sizeof problem, "its interpreter '%.4000s': %s",
           interpreter, *interpreter != '\0' ? strerror(errno) : "no name");
  return problem;
}

/* The loader takes no preloads from the user for such programs. */
static bool changes_identity(int file) {
  struct stat status;
  if (fstat(file, &status) != 0) return false;
  // files with capabilities: nothing that root does not have already
  if (geteuid() != 0 && fgetxattr(file, "security.capability", NULL, 0) > 0)
    return true;
  return ((status.st_mode & S_ISUID) && status.st_uid != geteuid()) ||
         ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) &&
          status.st_gid != getegid());
}

static const char *content_problem(int file, program *found) {
  char start[513];
  ssize_t length = pread(file, start, sizeof start - 1, 0);

  if (length < 0) return strerror(errno);
  if (changes_identity(file))
    return "set-user-ID or privileged, nothing can be preloaded into it";
  if (length >= SELFMAG && memcmp(start, ELFMAG, SELFMAG) == 0)
    return elf_problem(file, found);
  if (length >= 2 && start[0] == '#' && start[1] == '!')
    return script_problem(start, (size_t)length);
  // what has neither mark goes to the shell, which reads text
  if (memchr(start, '\0', (size_t)length) != NULL)
    return "neither an ELF program nor a script";
  return NULL;
}

bool program_find(program *found, const char *name, char *message,
                  size_t message_size) {
  found->loader[0] = '\0';
  if (!find_file(found->path, name, message, message_size)) return false;

  // a program may be executable and yet not readable: then start it unseen
  int file = open(found->path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  const char *problem = content_problem(file, found);
  close(file);
  if (problem != NULL)
    snprintf(message, message_size, "%s: %s", found->path, problem);
  return problem == NULL;
}

bool program_check(program *found, const char *name) {
  char library[PATH_MAX], message[2 * PATH_MAX];
  if (!program_find(found, name, message, sizeof message)) {
    complain("%s", message);
    return false;
  }
  if (found->loader[0] == '\0') return true;

  host_probe_result result = host_probe(found->loader, found->path, library);
  if (result == HOST_PROBE_FITS) return true;
  if (result == HOST_PROBE_OTHER_PRECISION) other_precision_become();
  host_probe_explain(result, found->path, library, message, sizeof message);
  if (result == HOST_PROBE_OTHER_PRECISION)
    complain(
        "%s, and that for %s is missing: `./quickstart build --precision "
        "%s' makes it",
        message, ODE_FILE_PRECISION(false), ODE_FILE_PRECISION(false));
  else
    complain("%s", message);
  return false;
}
