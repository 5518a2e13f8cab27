#!/bin/sh
# What `ode-mlcp` refuses before anything starts: one clear line and status 2.
. "$(dirname "$0")/command_checks.sh"

# ---- wrong use of the command itself ----

status=0
"$command" >out 2>err || status=$?
check "no command: status 2" status_is 2
check "no command: one line" n_lines 1 err

status=0
"$command" fly >out 2>err || status=$?
check "unknown command: status 2" status_is 2
check "unknown command: named" err_has "'fly'"

status=0
"$command" --help >out 2>err || status=$?
check "--help: status 0" status_is 0
check "--help: names run" grep -q '^  run ' out
check "--help: nothing on stderr" err_is_empty

status=0
"$command" --version >out 2>err || status=$?
check "--version: status 0" status_is 0
check "--version: name and number" \
  grep -q '^ode-mlcp [0-9][0-9]*\.[0-9][0-9]*\.[0-9]' out

run --help
check "run --help: status 0" status_is 0
for option in scheme edges erp max-correction solver tolerance max-contacts \
    margin measure fixed-point alpha events max-events impact impact-seed stats trace; do
  check "run --help: --$option" grep -q -e "--$option" out
done

if [ -c /dev/full ]; then
  status=0
  "$command" --help >/dev/full 2>err || status=$?
  check "--help to a full disk: status 1" status_is 1
fi

# ---- options ----

printf '#!/bin/sh\ntouch "%s/started"\n' "$work" >starts
chmod +x starts

check_refused "no program" "no program"
check_refused "unknown option" "--faster" --faster ./starts
check_refused "option without its value" "--edges" --edges
check_refused "empty value" "--edges: ''" --edges '' ./starts

# refused_both NAME VALUE ALLOWED: by option and by environment
refused_both() {
  name=$1 value=$2 allowed="'$2' is not $3"
  variable=ODE_MLCP_$(echo "$name" | tr a-z- A-Z_)
  check_refused "--$name=$value" "--$name: $allowed" --$name="$value" ./starts
  export "$variable=$value"
  check_refused "$variable=$value" "$variable: $allowed" ./starts
  unset "$variable"
}
refused_both scheme xy "ap, ah, gap, trapezoid-1, trapezoid, st or conserving"
refused_both edges 5 "an even number from 4 to 64"
refused_both erp -1 "host, or a number from 0 to 1"
refused_both max-correction nan "a speed above 0 in m/s, or inf"
refused_both solver magic "fast or lemke"
refused_both tolerance 1 "a number above 0 and below 1"
refused_both max-contacts 0 "a whole number from 1 to 1000000000"
refused_both margin 1e308 "auto, or a length from 0 to 1e15 in m"
refused_both measure 2 "on or off"
refused_both fixed-point 1001 "a whole number from 0 to 1000"
refused_both alpha -3 "a number from 0.5 to 1"
refused_both events 1 "on or off"
refused_both max-events -1 "a whole number from 0 to 1000000000"
refused_both max-events 99999999999999999999 \
  "a whole number from 0 to 1000000000"
refused_both impact random "poisson or set"
refused_both impact-seed 1.5 "a whole number from 0 to 1000000000"
check_refused "a value of two lines" "--edges: '4?6'" --edges "4
6" ./starts

# the options are the command's only up to the program
run --edges 4 ./starts --edges 5
check "options after the program are the program's" [ -e started ]

# ---- result files ----

mkdir folder
check_refused "stats in no folder" "--stats: cannot write 'none/a.json'" \
  --stats none/a.json ./starts
check_refused "stats a folder" "--stats: .*directory" --stats folder ./starts
check_refused "stats without a name" "--stats" --stats '' ./starts
check_refused "trace in no folder" "--trace: cannot write" \
  --trace none/a.csv ./starts
check_refused "one file for both" "--trace: .* is that of --stats" \
  --stats a.out --trace ./folder/../a.out ./starts
if [ "$(id -u)" -ne 0 ]; then
  mkdir locked
  chmod a-w locked
  check_refused "stats in a locked folder" "--stats" \
    --stats locked/a.json ./starts
fi
: >old.json
check_refused "bad program with old results" "no such" \
  --stats old.json no-such-program-anywhere
check "old results outlive a refusal" [ -e old.json ]

# ---- programs ----

check_refused "missing file" "./none: No such file" ./none
check_refused "missing on PATH" "no such program" no-such-program-anywhere
check_refused "a folder" "Permission denied" ./folder
check_refused "an empty name" "no such program" ''
: >plain
check_refused "not executable" "Permission denied" ./plain
printf '#!/no/such/interpreter\n' >lost
chmod +x lost
check_refused "no interpreter" "./lost: No such file" ./lost

# what nothing can be loaded into runs, and is told of at its end
echo 'int main(void) { return 0; }' >main.c
check_unloaded() {
  what=$1
  shift
  run "$@"
  check_refusal "$what" "nothing could be loaded into it"
}
$compiler -static -o static main.c
check_unloaded "a static program" ./static
# it names no loader, whatever others are to name
$compiler -static-pie -Wl,--no-dynamic-linker -o static-pie main.c 2>/dev/null &&
  check_unloaded "a static PIE" ./static-pie
if command -v setpriv >/dev/null && [ "$(id -u)" -eq 0 ]; then
  # the loader takes no preloads for a program that changes who runs it
  $compiler -o others main.c
  chmod a+rx . && chmod u+s others
  setpriv --reuid 65534 --clear-groups "$command" run ./others 2>err
  check "a set-user-ID program: said" err_has "nothing could be loaded into it"
fi

# ---- hosts ----

# by the command alone: that of the other precision may be in the build folder
mkdir alone
cp "$command" alone/ode-mlcp
ln -s "$build/lib" alone/lib
command=$work/alone/ode-mlcp

cat >host.c <<'HOST'
const char *dGetConfiguration(void) { return "ODE " PRECISION " ODE_OPC"; }
int dInitODE2(unsigned flags) { return flags == 0; }
void *dWorldCreate(void) { return 0; }
HOST
cat >uses.c <<'USES'
#include <fcntl.h>
int dInitODE2(unsigned);
void *dWorldCreate(void);
int main(void) {
  dInitODE2(0);
  dWorldCreate();
  open("started", O_CREAT | O_WRONLY, 0600);
  return 0;
}
USES
# make_host FOLDER SONAME PRECISION: a program in FOLDER on a library of that name
make_host() {
  folder=$1 name=$2
  mkdir -p "$folder"
  $compiler "-DPRECISION=\"ODE_${3}_precision\"" -shared -fPIC -Wl,-soname,"$name" -o "$folder/$name" host.c &&
    $compiler -o "$folder/uses" uses.c "$folder/$name" \
      -Wl,-rpath,"$work/$folder"
}

make_host foreign libode.so.8 $other
check_refused "a host of the other precision" \
  "libode.so.8, is in $other precision; this ode-mlcp is for $precision, and that for $other is missing: .*--precision $other" \
  foreign/uses
make_host older libode.so.6 $precision
check_refused "a host of another name" "needs libode.so.6" older/uses

# the same library reached through LD_LIBRARY_PATH
$compiler -o roaming uses.c foreign/libode.so.8
own=${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH="$work/foreign${own:+:$own}"
check_refused "a host of the other precision on LD_LIBRARY_PATH" \
  "$other precision" ./roaming
LD_LIBRARY_PATH=$own
[ -n "$own" ] || unset LD_LIBRARY_PATH

# a script in between hides the program from the command, not from the plugin
cat >hides <<'SCRIPT'
#!/bin/sh
foreign/uses
echo "status $?"
SCRIPT
chmod +x hides
rm -f started
run ./hides
check "a hidden host of the other precision: its program ends with 2" \
  grep -q '^status 2' out
check "a hidden host of the other precision: said" \
  err_has "^ode-mlcp: .*foreign/uses: .* is in $other precision"
check "a hidden host of the other precision: it makes no world" [ ! -e started ]

# negative control: the same in our precision starts
make_host own libode.so.8 $precision
rm -f started
run own/uses
check "a host of our precision starts" [ -e started ]
sed 's/foreign/own/' hides >hides-own
chmod +x hides-own
rm -f started
run ./hides-own
check "a hidden host of our precision starts" [ -e started ]
check "a hidden host of our precision: its status" grep -q '^status 0' out

# the command of the other precision takes over, with all that was said
case $precision in
  double) mkdir alone/single && mine=alone theirs=alone/single ;;
  *) mkdir alone/below && mv alone/ode-mlcp alone/lib alone/below &&
    mine=alone/below theirs=alone ;;
esac
cat >$theirs/ode-mlcp <<'SCRIPT'
#!/bin/sh
printf '<%s>' "$@"
SCRIPT
chmod +x $theirs/ode-mlcp
command=$work/$mine/ode-mlcp
rm -f started
run --strict foreign/uses "two words"
check "the other command: status" status_is 0
check "the other command: takes over" grep -qx '<run><--strict><foreign/uses><two words>' out
check "the other command: the program does not start here" [ ! -e started ]
run own/uses
check "the other command: leaves what fits alone" [ -e started ]
command=$build/ode-mlcp

# ---- a host without some of our patches ----

# lacking_host FUNCTION: our host without it, lacking/libode.so.8
lacking_host() {
  mkdir -p lacking
  LC_ALL=C sed "s/$1/$(echo "$1" | tr 'a-zA-Z' 'b-zaB-ZA')/g" \
    "$build/lib/libode.so.8" >lacking/libode.so.8
}

cat >attaches.c <<'ATTACHES'
#include <stdio.h>
void dInitODE2(unsigned), *dWorldCreate(void), *dCreateSphere(void *, REAL);
int ode_mlcp_attach(void *, const void *);
int ode_mlcp_find_contacts(void *, void *, double, void *, int, size_t);
const char *ode_mlcp_error_text(int);
int main(void) {
  char contacts[1000];
  dInitODE2(0);
  int error = ode_mlcp_attach(dWorldCreate(), NULL);
  fprintf(stderr, "%s\n", ode_mlcp_error_text(error));
  int found = ode_mlcp_find_contacts(dCreateSphere(0, 1), dCreateSphere(0, 1),
                                     0, contacts, 1, sizeof contacts);
  return error != 0 || found < 0;
}
ATTACHES
case $precision in
  double) real=double ;;
  *) real=float ;;
esac
$compiler -DREAL=$real -o attaches attaches.c "$build/lib/libode_mlcp.so" \
  "$build/lib/libode.so.8" -Wl,-rpath,"$build/lib"
status=0
./attaches 2>err || status=$?
check "negative control: our host is attached to" status_is 0

for function in dBodyStepperMove dWorldGetBodies dJointGetStepperAxisStops \
    dGeomGetConvex dWorldSetStepper; do
  lacking_host $function
  for now in '' 1; do # functions looked up when called, and all at the start
    status=0
    LD_BIND_NOW=$now LD_PRELOAD=$build/lib/ode_mlcp_preload.so:$work/lacking/libode.so.8 \
      "$program" >out 2>err || status=$?
    check "a host without $function: status 2" status_is 2
    check "a host without $function: one line" n_lines 1 err
    check "a host without $function: named" \
      err_has "^ode-mlcp: .*this ODE library has no $function: .*older"
    status=0
    LD_BIND_NOW=$now LD_PRELOAD=$work/lacking/libode.so.8 ./attaches 2>err ||
      status=$?
    check "a host without $function: not attached to" status_is 1
    check "a host without $function: the library names it" \
      err_has "^this ODE library has no $function: "
  done
done

# ---- help: an option, and its words in the columns from 24 to 79 ----

for subcommand in run impact scene compare solve; do
  ode_mlcp $subcommand --help
  check "help of $subcommand" awk '
    length > 79 { bad = 1 }
    # an option ends where what is no option of its own begins
    /^  --/ { options++; of_one = 1 }
    !/^  --/ && of_one && !/^                       [^ ]/ {
      of_one = 0
      if ($0 != "" && !/^  -h, --help/) { print "  " $0; bad = 1 }
    }
    END { exit bad || options < 2 }' out
done

finish
