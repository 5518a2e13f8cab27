#include "preload/dump_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "preload/output_file.h"
#include "settings/environment.h"

static const char *value_of(const char *variable) {
  const char *value = getenv(variable);
  return value != NULL && *value != '\0' ? value : NULL;
}

const char *dump_request_read(dump_request *request, bool checked,
                              char *message, size_t message_size) {
  const char *folder = value_of(ENVIRONMENT_DUMP);
  request->folder[0] = '\0';
  if (message_size > 0) message[0] = '\0';
  if (folder == NULL) return NULL;
  if (checked) {
    strncat(request->folder, folder, PATH_MAX - 1);
    return NULL;
  }
  int error = output_file_check_folder(folder, request->folder);
  if (error == 0) return NULL;
  snprintf(message, message_size, "cannot write into '%.200s': %s", folder,
           strerror(error));
  return ENVIRONMENT_DUMP;
}
