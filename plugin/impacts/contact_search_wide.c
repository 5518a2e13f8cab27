/* The search in wide numbers. */
#define SEARCH_WIDE
#include "impacts/contact_search.c" // NOLINT(bugprone-suspicious-include)
