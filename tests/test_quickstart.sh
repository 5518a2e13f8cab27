#!/bin/sh
# What quickstart refuses before it does anything: one line, a status that is
# not 0, and nothing made; and where it builds what it cannot build in place.
#
#   test_quickstart.sh [long]
#
# The short form stands in for the host, autoreconf and make; `long` takes the real
# ones, for minutes.
top=$(cd "$(dirname "$0")/.." && pwd) || exit 99
folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0

# refused WORDS ARGUMENT...: the line names what is wrong
refused() {
  words=$1
  shift
  if "$top/quickstart" "$@" >"$folder/out" 2>&1; then
    echo "not refused: quickstart $*"
    failed=$((failed + 1))
  elif [ "$(wc -l <"$folder/out")" -ne 1 ] ||
      ! grep -qF -e "$words" "$folder/out"; then
    echo "quickstart $* says:"
    cat "$folder/out"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
}

refused '--nonsense' build --nonsense
refused '--build needs a value' build --build
refused '0 is no number of jobs' build --jobs 0 --build "$folder/build"
refused "there is no $folder/none" build --ode-source "$folder/none" \
  --build "$folder/build"
refused "$folder/a b" build --build "$folder/a b"
: >"$folder/file"
refused "$folder/file" build --build "$folder/file"

# the host by itself
host() {
  words=$1
  shift
  if "$top/patches/get-host" "$@" "$folder/host" >"$folder/out" 2>&1 ||
      ! grep -qF -e "$words" "$folder/out"; then
    echo "get-host $* says:"
    cat "$folder/out"
    failed=$((failed + 1))
  else
    passed=$((passed + 1))
  fi
}
host 'ODE 0.13 is not known here' --release 0.13
host 'is not ODE 0.16.2 to 0.16.6 as released' --ode-source "$folder/file"
host 'holds no ODE source tree' --ode-source "$folder"

# ---- a source that cannot be written to, by a user who is not root ----

# as_user COMMAND...: as one without rights and without sudo
as_user() {
  if [ "$(id -u)" -eq 0 ]; then
    setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
  else
    "$@"
  fi
}

# hide sudo: all other programs by links
hide_sudo() {
  mkdir -p "$folder/bin"
  echo "$PATH" | tr : '\n' | while read -r path; do
    find -L "$path" -maxdepth 1 -type f -perm -1 ! -name sudo 2>/dev/null
  done | while read -r program; do
    [ -e "$folder/bin/${program##*/}" ] || ln -s "$program" "$folder/bin/"
  done
}

# what a short form does not need to wait for
stand_in() {
  rm -f "$folder/bin/autoreconf" "$folder/bin/make"
  cat >"$folder/bin/autoreconf" <<'END'
#!/bin/sh
for source; do :; done # the last
printf '#!/bin/sh\necho "all:" >Makefile\n' >"$source/configure"
chmod +x "$source/configure"
END
  printf '#!/bin/sh\nexit 0\n' >"$folder/bin/make"
  cat >"$source/patches/get-host" <<'END'
#!/bin/sh
for build; do case $build in
  /*) mkdir -p "$build/host" && : >"$build/host/configured" && : >"$build/host/stamp" ;;
esac; done
END
  chmod +x "$folder/bin/autoreconf" "$folder/bin/make" "$source/patches/get-host"
}

# packages STATUS: all are as told
packages() {
  rm -f "$folder/bin/dpkg-query"
  printf '#!/bin/sh\nprintf %s\n' "$1" >"$folder/bin/dpkg-query"
  chmod +x "$folder/bin/dpkg-query"
}

# holds WORDS FILE
holds() {
  if grep -qF -e "$1" "$2"; then
    passed=$((passed + 1))
  else
    echo "'$1' is not in:"
    cat "$2"
    failed=$((failed + 1))
  fi
}

tree() { (cd "$source" && find . -exec ls -ld --time-style=full-iso {} + | sort); }

source="$folder/a source" user_build=$folder/user
chmod 755 "$folder"
mkdir "$source" "$user_build"
(cd "$top" && tar -cf - --exclude=./.git --exclude='./build*' \
  --exclude=./autom4te.cache --exclude=./configure .) | (cd "$source" && tar -xf -)
if [ "$(id -u)" -eq 0 ] && ! as_user true 2>/dev/null; then
  echo "no other user can be tried here"
else
  hide_sudo
  [ "${1:-}" = long ] || stand_in
  chmod -R a+rX,a-w "$source"
  [ "$(id -u)" -ne 0 ] || chown 65534:65534 "$user_build"
  tree >"$folder/before"

  [ "${1:-}" = long ] || packages installed
  if as_user env PATH="$folder/bin" HOME="$user_build" "$source/quickstart" build \
      --build "$user_build/build" ${ODE_SOURCE:+--ode-source "$ODE_SOURCE"} \
      >"$folder/out" 2>&1; then
    passed=$((passed + 1))
  else
    echo "a read-only source with a space in its path is not built:"
    cat "$folder/out"
    failed=$((failed + 1))
  fi
  holds "$user_build/build/ode-mlcp is ready" "$folder/out"
  tree >"$folder/after"
  if cmp -s "$folder/before" "$folder/after"; then
    passed=$((passed + 1))
  else
    echo "written into the source:"
    diff "$folder/before" "$folder/after"
    failed=$((failed + 1))
  fi
  # the copy has what is generated
  [ -x "$user_build/build/source/configure" ] && passed=$((passed + 1)) ||
    failed=$((failed + 1))

  packages missing
  as_user env PATH="$folder/bin" "$source/quickstart" build \
    --build "$user_build/other" >"$folder/out" 2>&1 && failed=$((failed + 1))
  holds "not root and no sudo here; install first: build-essential" "$folder/out"
  # the source itself is no place to build for one who may not write there
  as_user env PATH="$folder/bin" "$source/quickstart" build >"$folder/out" 2>&1 &&
    failed=$((failed + 1))
  holds "name another folder with --build" "$folder/out"
  chmod -R u+w "$source"
fi

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
