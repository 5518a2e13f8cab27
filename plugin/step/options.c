/* Settings by name, and their text. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ode_mlcp.h"
#include "step/options.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0.0.0"
#endif

void ode_mlcp_default_options(ode_mlcp_options *options) {
  memset(options, 0, sizeof *options);
  options->struct_size = sizeof *options;
  options->scheme = ODE_MLCP_SCHEME_AH;
  options->edges = 4;
  options->erp = ODE_MLCP_ERP_HOST;
  options->max_correction = 0.5;
  options->solver = ODE_MLCP_SOLVER_FAST;
  options->tolerance = 1e-10;
  options->max_contacts = 20000;
  options->friction = ODE_MLCP_FRICTION_COULOMB;
  options->alpha = 0.5;
  options->events = 1;
  options->approach = 1;
  options->min_substep = 1e-4;
  options->max_events = 100;
  options->impact = ODE_MLCP_IMPACT_LAW_POISSON;
  options->impact_seed = 1;
  options->margin = ODE_MLCP_MARGIN_AUTO;
}

bool options_valid(const ode_mlcp_options *o) {
  return o->struct_size == sizeof *o &&
         o->scheme >= ODE_MLCP_SCHEME_AP &&
         o->scheme <= ODE_MLCP_SCHEME_ST && o->fixed_point >= 0 &&
         o->fixed_point <= 1000 &&
         o->edges >= 4 && o->edges <= 64 && o->edges % 2 == 0 &&
         (o->erp == ODE_MLCP_ERP_HOST || (o->erp >= 0 && o->erp <= 1)) &&
         o->max_correction > 0 &&
         (o->solver == ODE_MLCP_SOLVER_FAST ||
          o->solver == ODE_MLCP_SOLVER_LEMKE) &&
         o->tolerance > 0 && o->tolerance < 1 && o->max_contacts > 0 &&
         (o->impact == ODE_MLCP_IMPACT_LAW_POISSON ||
          o->impact == ODE_MLCP_IMPACT_LAW_SET) && o->impact_seed >= 0 &&
         (o->margin == ODE_MLCP_MARGIN_AUTO ||
          (o->margin >= 0 && isfinite(o->margin)));
}

typedef struct named_value {
  const char *name;
  int value;
} named_value;

static const named_value SCHEMES[] = {
    {"ap", ODE_MLCP_SCHEME_AP},
    {"ah", ODE_MLCP_SCHEME_AH},
    {"gap", ODE_MLCP_SCHEME_GAP},
    {"trapezoid-1", ODE_MLCP_SCHEME_TRAPEZOID_1},
    {"trapezoid", ODE_MLCP_SCHEME_TRAPEZOID},
    {"st", ODE_MLCP_SCHEME_ST},
    {NULL, 0}};
static const named_value FRICTIONS[] = {
    {"coulomb", ODE_MLCP_FRICTION_COULOMB},
    {"convex", ODE_MLCP_FRICTION_CONVEX},
    {NULL, 0}};
static const named_value IMPACTS[] = {
    {"poisson", ODE_MLCP_IMPACT_LAW_POISSON},
    {"set", ODE_MLCP_IMPACT_LAW_SET},
    {NULL, 0}};
static const named_value SWITCH[] = {{"off", 0}, {"on", 1}, {NULL, 0}};
static const named_value SOLVERS[] = {{"fast", ODE_MLCP_SOLVER_FAST},
                                      {"lemke", ODE_MLCP_SOLVER_LEMKE},
                                      {NULL, 0}};

static bool parse_name(const named_value names[], const char *text, int *out) {
  for (int i = 0; names[i].name != NULL; i++)
    if (strcmp(names[i].name, text) == 0) {
      *out = names[i].value;
      return true;
    }
  return false;
}

static bool parse_number(const char *text, double *out) {
  char *end;
  errno = 0;
  double value = strtod(text, &end);
  if (end == text || *end != '\0' || isnan(value)) return false;
  *out = value;
  return true;
}

static bool parse_count(const char *text, int *out) {
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || value < 0 ||
      value > 1000000000)
    return false;
  *out = (int)value;
  return true;
}

/* Parse `value` into the field of that name; *allowed says what it may be.
 * A value that parses may still be out of range. */
static bool parse_option(ode_mlcp_options *o, const char *name,
                         const char *value, const char **allowed) {
  int number;
  if (strcmp(name, "scheme") == 0) {
    *allowed = "ap, ah, st, gap, trapezoid-1 or trapezoid";
    bool parsed = parse_name(SCHEMES, value, &number);
    if (parsed) o->scheme = (ode_mlcp_scheme)number;
    return parsed;
  }
  if (strcmp(name, "solver") == 0) {
    *allowed = "fast or lemke";
    bool parsed = parse_name(SOLVERS, value, &number);
    if (parsed) o->solver = (ode_mlcp_solver)number;
    return parsed;
  }
  if (strcmp(name, "friction") == 0) {
    *allowed = "coulomb or convex";
    bool parsed = parse_name(FRICTIONS, value, &number);
    if (parsed) o->friction = (ode_mlcp_friction)number;
    return parsed;
  }
  if (strcmp(name, "events") == 0) {
    *allowed = "on or off";
    return parse_name(SWITCH, value, &o->events);
  }
  if (strcmp(name, "check-cone") == 0) {
    *allowed = "on or off";
    return parse_name(SWITCH, value, &o->check_cone);
  }
  if (strcmp(name, "approach") == 0) {
    *allowed = "on or off";
    return parse_name(SWITCH, value, &o->approach);
  }
  if (strcmp(name, "alpha") == 0) {
    *allowed = "a number from 0.5 to 1";
    return parse_number(value, &o->alpha);
  }
  if (strcmp(name, "min-substep") == 0) {
    *allowed = "a part of the step, above 0 and up to 1";
    return parse_number(value, &o->min_substep);
  }
  if (strcmp(name, "max-events") == 0) {
    *allowed = "a number from 0";
    return parse_count(value, &o->max_events);
  }
  if (strcmp(name, "impact") == 0) {
    *allowed = "poisson or set";
    bool parsed = parse_name(IMPACTS, value, &number);
    if (parsed) o->impact = (ode_mlcp_impact_law)number;
    return parsed;
  }
  if (strcmp(name, "impact-seed") == 0) {
    *allowed = "a number from 0";
    return parse_count(value, &o->impact_seed);
  }
  if (strcmp(name, "edges") == 0) {
    *allowed = "an even number from 4 to 64";
    return parse_count(value, &o->edges);
  }
  if (strcmp(name, "max-contacts") == 0) {
    *allowed = "a number from 1";
    return parse_count(value, &o->max_contacts);
  }
  if (strcmp(name, "erp") == 0) {
    *allowed = "host, or a number from 0 to 1";
    if (strcmp(value, "host") == 0) {
      o->erp = ODE_MLCP_ERP_HOST;
      return true;
    }
    return parse_number(value, &o->erp) && o->erp >= 0;
  }
  if (strcmp(name, "max-correction") == 0) {
    *allowed = "a speed above 0 in m/s, or inf";
    return parse_number(value, &o->max_correction);
  }
  if (strcmp(name, "tolerance") == 0) {
    *allowed = "a number above 0 and below 1";
    return parse_number(value, &o->tolerance);
  }
  if (strcmp(name, "fixed-point") == 0) {
    *allowed = "a number from 0 to 1000";
    return parse_count(value, &o->fixed_point);
  }
  if (strcmp(name, "margin") == 0) {
    *allowed = "auto, or a length from 0 in m";
    if (strcmp(value, "auto") == 0) {
      o->margin = ODE_MLCP_MARGIN_AUTO;
      return true;
    }
    return parse_number(value, &o->margin) && o->margin >= 0;
  }
  *allowed = NULL;
  return false;
}

ode_mlcp_error ode_mlcp_set_option(ode_mlcp_options *options, const char *name,
                                   const char *value, char *message,
                                   size_t message_size) {
  if (message_size > 0) message[0] = '\0';
  if (options == NULL || name == NULL || value == NULL)
    return ODE_MLCP_BAD_ARGUMENT;

  ode_mlcp_options changed = *options;
  const char *allowed;
  if (parse_option(&changed, name, value, &allowed) && options_valid(&changed)) {
    *options = changed;
    return ODE_MLCP_OK;
  }
  if (allowed != NULL)
    snprintf(message, message_size, "%s: '%s' is not %s", name, value, allowed);
  else
    snprintf(message, message_size, "there is no option '%s'", name);
  return ODE_MLCP_BAD_ARGUMENT;
}

const char *ode_mlcp_version(void) { return PACKAGE_VERSION; }
