#!/bin/sh
# Compile a source through the installed ode_mlcp.pc and run it, by itself and
# under the installed command.
#
#   PKG_CONFIG=.. PKG_CONFIG_PATH=.. CC=.. [DESTDIR=..] \
#     installed_consumer.sh SOURCE FOLDER COMMAND
set -eu
source=$1
folder=$2
command=$3

# below DESTDIR the paths in the .pc file are not yet true
PKG_CONFIG_SYSROOT_DIR=${DESTDIR:-}
export PKG_CONFIG_SYSROOT_DIR

flags=$($PKG_CONFIG --cflags --libs ode_mlcp)
# shellcheck disable=SC2086 # compiler and flags are lists of words
$CC -Wall -Wextra -Werror "$source" -o "$folder/installed_consumer" $flags -lm

# a run path is not rewritten below DESTDIR: name the folder for these runs
if [ -n "$PKG_CONFIG_SYSROOT_DIR" ]; then
  libraries=$DESTDIR$($PKG_CONFIG --variable=libdir ode_mlcp |
    sed "s|^$DESTDIR||")
  LD_LIBRARY_PATH=$libraries:$libraries/ode-mlcp
  export LD_LIBRARY_PATH
fi
"$folder/installed_consumer"

rm -f "$folder/stats.json"
"$command" run --stats "$folder/stats.json" -- "$folder/installed_consumer"
grep '"steps": *[1-9]' "$folder/stats.json"
