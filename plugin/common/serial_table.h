/* Numbers found by serial numbers, which bodies have from 1 up: an open-addressing
 * table. What is asked for by serial need not be there any more. */
#ifndef ODE_MLCP_COMMON_SERIAL_TABLE_H
#define ODE_MLCP_COMMON_SERIAL_TABLE_H

#include <stddef.h>
#include <string.h>

typedef struct serial_slot {
  unsigned long serial; /* 0: empty */
  int number;
} serial_slot;

/** Starts as zeros: nothing is found. */
typedef struct serial_table {
  serial_slot *slots; /* the owner's */
  size_t mask;
} serial_table;

/** How many slots `n` numbers need: a power of 2. */
static inline size_t serial_table_room(size_t n) {
  size_t room = 4;
  while (room < 2 * n) room *= 2;
  return room;
}

/** Empty the table, whose slots have room for `n` numbers. */
static inline void serial_table_start(serial_table *table, size_t n) {
  table->mask = serial_table_room(n) - 1;
  memset(table->slots, 0, (table->mask + 1) * sizeof *table->slots);
}

static inline serial_slot *serial_table_slot(const serial_table *table,
                                             unsigned long serial) {
  size_t at = serial & table->mask;
  while (table->slots[at].serial != 0 && table->slots[at].serial != serial)
    at = (at + 1) & table->mask;
  return &table->slots[at];
}

static inline void serial_table_add(const serial_table *table,
                                    unsigned long serial, int number) {
  *serial_table_slot(table, serial) = (serial_slot){serial, number};
}

/** @return the number of `serial`, -1: it has none. */
static inline int serial_table_find(const serial_table *table,
                                    unsigned long serial) {
  if (table->mask == 0 || serial == 0) return -1;
  const serial_slot *slot = serial_table_slot(table, serial);
  return slot->serial == serial ? slot->number : -1;
}

#endif
