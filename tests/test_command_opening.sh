#!/bin/sh
# Programs under `ode-mlcp run` that open ODE for themselves: by name, by path, by a
# copy, with every flag, late, twice, closed and opened again; forks with threads.
. "$(dirname "$0")/command_checks.sh"

late=$build/tests/late_program

# check_fall WHAT TIMES ARG...: all bodies fell on ode-mlcp, in 100 steps each
check_fall() {
  what=$1 times=$2
  shift 2
  rm -f s.json
  run --stats s.json -- "$late" "$@"
  check "$what: status" status_is 0
  check "$what: nothing to say" err_is_empty
  check "$what: they fell" [ "$(grep -c '^-0.505$' out)" = "$times" ]
  check "$what: on ode-mlcp" json_holds s.json steps $((100 * times))
}

mkdir copies
cp "$build/lib/libode.so.8" copies/libode.so.8
cp "$build/lib/libode.so.8" copies/physics.so
cp "$late" copies/late_program
for how in now lazy global deep new base; do
  check_fall "$how, by name" 1 $how libode.so.8
  check_fall "$how, by path" 1 $how "$work/copies/libode.so.8"
  check_fall "$how, a copy of another name" 1 $how copies/physics.so
done
check_fall "the name for linking" 1 now libode.so
check_fall "one after the other" 5 now copies/libode.so.8 deep libode.so \
  new copies/physics.so global libode.so.8 now copies/libode.so.8
late=$work/copies/late_program
# shellcheck disable=SC2016 # the loader's own word
check_fall "beside the program" 1 now '$ORIGIN/libode.so.8'
late=$build/tests/late_program

# a program that is linked with ODE and opens a copy, too
run --stats s.json "$program" step 2 dlopen "$work/copies/libode.so.8" \
  dlclose last step 1
check "linked and opened: status" status_is 0
check "linked and opened: nothing to say" err_is_empty
check "linked and opened: steps" json_holds s.json steps 3

# what is not there is the loader's to tell
run "$late" now copies/none/libode.so.8
check "no such file: the program's status" status_is 99
check "no such file: the loader's words" err_has 'cannot open shared object'

# a plugin of the program's that is linked with ODE
cat >plugin.c <<'PLUGIN'
#include <ode/ode.h>
double fall_in_plugin(void) {
  dInitODE2(0);
  dWorldID world = dWorldCreate();
  dBodyID body = dBodyCreate(world);
  dWorldSetGravity(world, 0, 0, -1);
  for (int k = 0; k < 100; k++) dWorldStep(world, 0.01);
  return dBodyGetPosition(body)[2];
}
PLUGIN
mkdir plugins
if $compiler -shared -fPIC plugin.c -o plugins/plugin.so \
    -I"$build/host/include" -L"$build/lib" -lode -Wl,-rpath,"$build/lib"; then
  check_fall "a plugin" 1 now plugins/plugin.so
  check_fall "a plugin, DEEPBIND" 1 deep plugins/plugin.so
  # a namespace of its own has an ODE of its own
  run "$late" new plugins/plugin.so
  check "a plugin in a namespace: status 2" status_is 2
  check "a plugin in a namespace: told" err_has \
    'late_program opened .*/plugin.so, which has a second ODE library'
  run --stats s.json "$late" new plugins/plugin.so now libode.so.8
  check "a plugin in a namespace, and another: status 2" status_is 2
  check "a plugin in a namespace, and another: one line" n_lines 1 err
fi

# the loader still knows who called it
cat >by_run_path.c <<'PROGRAM'
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  void *library = dlopen("plugin.so", RTLD_NOW);
  if (library == NULL) return puts(dlerror()), 98;
  double (*fall)(void);
  *(void **)&fall = dlsym(library, "fall_in_plugin");
  printf("%.3f\n", fall());
  return 0;
}
PROGRAM
if [ -f plugins/plugin.so ] && $compiler by_run_path.c -o by_run_path -ldl \
    -Wl,-rpath,"$work/plugins"; then
  run --stats s.json ./by_run_path
  check "by the caller's run path: status" status_is 0
  check "by the caller's run path: steps" json_holds s.json steps 100
fi

# ---- what cannot be stood in for ----

# a library that says it is in the other precision, and one of another name
cat >other.c <<LIBRARY
const char *dGetConfiguration(void) { return "ODE ODE_${other}_precision"; }
LIBRARY
$compiler -shared -fPIC other.c -o foreign.so -Wl,-soname,libode.so.8
$compiler -shared -fPIC other.c -o other.so -Wl,-soname,libode-double.so.3
run "$late" now ./foreign.so
check "the other precision: status 2" status_is 2
check "the other precision: one line" n_lines 1 err
check "the other precision: named" err_has \
  "opened ./foreign.so, which is in $other precision; this ode-mlcp is for $precision: run the program with that for $other"
run "$late" now libode.so.8 deep ./other.so
check "another name: status 2" status_is 2
check "another name: one line" n_lines 1 err
check "another name: named" err_has 'opened ./other.so (libode-double.so.3)'

mkdir foreign
cp foreign.so foreign/libode.so.8
if $compiler -shared -fPIC plugin.c -o plugins/foreign.so \
    -I"$build/host/include" -Wl,--no-as-needed -Lforeign -l:libode.so.8 \
    -Wl,-rpath,"$work/foreign"; then
  run "$late" now plugins/foreign.so
  check "a plugin for the other precision: status 2" status_is 2
  check "a plugin for the other precision: named" err_has \
    'plugins/foreign.so: its ODE library, .*/foreign/libode.so.8, is in'
fi
LD_LIBRARY_PATH=$work/foreign${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
run "$late" now libode.so.8
check "the other precision, by name: status 2" status_is 2
check "the other precision, by name: named" err_has \
  'its ODE library, .*/foreign/libode.so.8, is in'
LD_LIBRARY_PATH=${LD_LIBRARY_PATH#"$work/foreign"}
LD_LIBRARY_PATH=${LD_LIBRARY_PATH#:}

# ---- Python ----

if command -v python3 >/dev/null; then
  [ "$precision" = double ] && number=c_double || number=c_float
  cat >late.py <<PYTHON
import ctypes, sys
from ctypes import $number as number
for name in sys.argv[1:]:
    ode = ctypes.CDLL(name)
    ode.dWorldCreate.restype = ctypes.c_void_p
    ode.dBodyCreate.restype = ctypes.c_void_p
    ode.dBodyCreate.argtypes = [ctypes.c_void_p]
    ode.dWorldStep.argtypes = [ctypes.c_void_p, number]
    ode.dBodyGetPosition.argtypes = [ctypes.c_void_p]
    ode.dBodyGetPosition.restype = ctypes.POINTER(number)
    ode.dWorldSetGravity.argtypes = [ctypes.c_void_p] + 3 * [number]
    ode.dInitODE2(0)
    world = ode.dWorldCreate()
    ode.dWorldSetGravity(world, 0, 0, -1)
    body = ode.dBodyCreate(world)
    for i in range(100):
        ode.dWorldStep(world, 0.01)
    print("%.3f" % ode.dBodyGetPosition(body)[2])
PYTHON
  rm -f s.json
  # the system's own may be in the other precision
  LD_LIBRARY_PATH=$libraries run --stats s.json \
    python3 late.py libode.so.8 ./copies/libode.so.8
  check "ctypes: status" status_is 0
  check "ctypes: they fell" [ "$(grep -c '^-0.505$' out)" = 2 ]
  check "ctypes: on ode-mlcp" json_holds s.json steps 200
fi

# ---- compared ----

ode_mlcp compare --no-repeat --output report -- "$late" now \
  copies/libode.so.8 new libode.so
check "compared: status" status_is 0
check "compared: the steppers took steps" grep -q '^steps taken.* 200  *200 ' out

# ---- forks ----

for threads in 0 1 3; do
  rm -f s.json*
  run --stats s.json --threads $threads timeout 60 "$program" touch 3 fork \
    touch 4 exit 5
  check "fork with $threads threads: status" status_is 5
  check "fork with $threads threads: the steps" json_holds s.json steps 7
done
rm -f s.json*
run --stats s.json --threads 2 timeout 60 "$program" touch 2 fork touch 2 \
  exec "$program" touch 6
check "fork and exec: status" status_is 0
check "fork and exec: the steps" json_holds s.json steps 10
run --threads 2 timeout 60 sh -c "\"$program\" touch 3 &
  wait; exit 4"
check "a daemon's way: status" status_is 4

# ---- callbacks that leave a step ----

cat >thrown.cpp <<'PROGRAM'
#include <ode/ode.h>
#include <stdio.h>
static int left;
static void moved(dBodyID body) { (void)body; if (left++ < 3) throw left; }
int main() {
  dInitODE2(0);
  dWorldID world = dWorldCreate();
  dBodyID body = dBodyCreate(world);
  dWorldSetGravity(world, 0, 0, -1);
  dBodySetMovedCallback(body, moved);
  int caught = 0, taken = 0;
  for (int k = 0; k < 10; k++)
    try { taken += dWorldStep(world, 0.01); } catch (int) { caught++; }
  dBodyDestroy(body);
  dWorldDestroy(world);
  dCloseODE();
  printf("caught %d, taken %d\n", caught, taken);
}
PROGRAM
if ${CXX:-c++} thrown.cpp -o thrown -I"$build/host/include" -L"$build/lib" \
    -lode -Wl,-rpath,"$build/lib"; then
  run ./thrown
  check "an exception out of a step: status" status_is 0
  check "an exception out of a step: later ones are taken" \
    grep -q '^caught 3, taken 7$' out
  check "an exception out of a step: told" err_has 'left by a callback'
  check "an exception out of a step: nothing stays" \
    [ "$(grep -c 'not destroyed' err)" = 0 ]
fi

# ---- where its libraries are ----

# installed FOLDER: the command is in prefix/bin, its libraries are in FOLDER
installed() {
  rm -rf prefix
  mkdir -p prefix/bin "$1"
  cp "$build/ode-mlcp" prefix/bin/
  ln -s "$build"/lib/*.so* "$1"
}
# of COMMAND ARG..: that one
of() {
  built=$command command=$1
  shift
  ode_mlcp "$@"
  command=$built
}
installed_run() { of "$work/prefix/bin/ode-mlcp" run "$@"; }
# what is loaded before a program that another library is loaded before
loaded_is() {
  preload=$(sed -n 's/^LD_PRELOAD=//p' out)
  [ "$preload" = "$1" ] || { echo "  $preload"; return 1; }
}
for folder in bin/lib lib lib/ode-mlcp lib64/ode-mlcp lib/some-machine/ode-mlcp; do
  installed prefix/$folder
  both=$work/prefix/$folder/ode_mlcp_preload.so:$work/prefix/$folder/libode.so.8
  installed_run -- env
  check "libraries in $folder" loaded_is "$both"
  LD_PRELOAD=libm.so.6 installed_run -- env
  check "libraries in $folder, and another" loaded_is "$both:libm.so.6"
  LD_PRELOAD=libm.so.6:libdl.so.2 installed_run -- \
    "$work/prefix/bin/ode-mlcp" run -- env
  check "libraries in $folder, once in a run inside a run" \
    loaded_is "$both:libm.so.6:libdl.so.2"
done
for folder in lib/.hidden/ode-mlcp lib/some-machine/other; do
  installed prefix/$folder
  installed_run -- env
  check_refusal "no libraries in $folder" "cannot find libode.so.8"
done
for file in libode.so.8 ode_mlcp_preload.so; do
  installed prefix/lib/some-machine/ode-mlcp
  rm prefix/lib/some-machine/ode-mlcp/$file
  installed_run -- env
  check_refusal "no $file" "cannot find libode.so.8 and ode_mlcp_preload.so"
done
rm -rf prefix/lib
installed_run -- env
check_refusal "no folder of libraries" "cannot find libode.so.8"
installed "prefix/lib/ode-mlcp"
mv prefix "a prefix"
of "$work/a prefix/bin/ode-mlcp" run -- env
check_refusal "a folder with a space" "the loader takes no path with a space"
# compare runs the program from a process of its own, which must end there, too
of "$work/a prefix/bin/ode-mlcp" compare --output report --no-repeat --steppers step,ah -- \
  sh -c 'touch started'
check "a folder with a space, compare: status 1" status_is 1
check "a folder with a space, compare: it does not start" [ ! -e started ]
check "a folder with a space, compare: said" \
  grep -q "the loader takes no path with a space" report/data/step.out report/data/ah.out

finish
