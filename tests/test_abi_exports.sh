#!/bin/sh
# What libode_mlcp.so shows: ode_mlcp_* with a version, and all that the headers
# declare; headers that C89 and C++ programs can include.
top=$(cd "$(dirname "$0")/.." && pwd)
. "$top/tests/command_checks.sh"
host=$(sed -n 's/^HOST_CFLAGS = //p' "$build/Makefile")
: >err

nm -D --defined-only "$build/lib/libode_mlcp.so" | awk '{ print $3 }' |
  sort >shown
check "it shows something" [ -s shown ]
check "nothing else, and all of it with a version" \
  awk '!/^ode_mlcp_[a-z_]*@@ODE_MLCP_[0-9.]*$/ && $0 != "ODE_MLCP_0.1" {
    print "  " $0; wrong = 1 } END { exit wrong }' shown

# names that a program may call: declared with ODE_MLCP_API
cat "$top/plugin/ode_mlcp.h" "$top/plugin/ode_mlcp_impacts.h" | tr '\n' ' ' |
  sed 's/ODE_MLCP_API /\n/g' | sed 1d |
  sed -n 's/^[^;(]*[ *]\(ode_mlcp_[a-z_]*\)(.*/\1/p' | sort -u >declared
sed -n 's/@@.*//p' shown | sort -u >defined
check "what is declared is there, and no more" diff declared defined

nm -D --defined-only "$build/lib/ode_mlcp_scenes.so" |
  awk '{ print $3 }' >scenes
check "the scenes show their one function" [ "$(cat scenes)" = ode_mlcp_scenes ]

cat >consumer.c <<'CONSUMER'
#include <ode_mlcp.h>
int main(void) {
  ode_mlcp_options options;
  ode_mlcp_report report;
  ode_mlcp_impact_options impacts;
  ode_mlcp_default_options(&options);
  ode_mlcp_impact_default_options(&impacts);
  options.max_events = 7;
  return ode_mlcp_attach(0, &options) == ODE_MLCP_BAD_ARGUMENT &&
         ode_mlcp_step(0, 0.01, &report) == ODE_MLCP_BAD_ARGUMENT &&
         ode_mlcp_step(0, 0.01, 0) == ODE_MLCP_BAD_ARGUMENT ? 0 : 1;
}
CONSUMER
cp consumer.c consumer.cpp
# compiles LANGUAGE COMPILER FLAG...
compiles() {
  language=$1
  shift
  check "compiles as $language" sh -c '"$@" 2>err' sh "$@" -Wall -Wextra -Werror \
    -I"$top/plugin" $host -o consumer "$build/lib/libode_mlcp.so" \
    "$build/lib/libode.so" -Wl,-rpath,"$build/lib"
  check "runs as $language" ./consumer
}
compiles C89 $compiler -std=gnu89 consumer.c
compiles C11 $compiler -std=gnu11 -pedantic consumer.c
if command -v c++ >/dev/null; then
  compiles C++98 c++ -std=gnu++98 consumer.cpp
  compiles C++17 c++ -std=gnu++17 -pedantic consumer.cpp
fi

# a program's own observer under the command, whose plugin stands before the
# library: both hear of each step
cat >observes.c <<'OBSERVES'
#include <ode_mlcp.h>
static int n_seen;
static void observe(void *context, dWorldID world,
                    const ode_mlcp_report *report) {
  (void)context, (void)world;
  n_seen += report->taken;
}
int main(void) {
  int i;
  dInitODE2(0);
  ode_mlcp_observe(observe, 0);
  dWorldID world = dWorldCreate();
  dBodyCreate(world);
  ode_mlcp_attach(world, 0);
  for (i = 0; i < 3; i++) dWorldStep(world, 0.01);
  return n_seen == 3 ? 0 : 1;
}
OBSERVES
compiles "an observer" $compiler observes.c
run --stats s.json -- ./consumer
check "an observer under the command: status" status_is 0
check "an observer under the command: statistics" json_holds s.json steps 3

finish
