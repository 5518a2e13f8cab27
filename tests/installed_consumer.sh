#!/bin/sh
# Compile a source through the installed ode_mlcp.pc, and through find_package where
# there is a cmake, and run it, by itself and under the installed command.
#
#   PKG_CONFIG=.. PKG_CONFIG_PATH=.. CC=.. \
#     installed_consumer.sh SOURCE FOLDER COMMAND
set -eu
source=$1
folder=$2
command=$3

# paths in the .pc file are relative to it: true below DESTDIR, too
flags=$($PKG_CONFIG --cflags --libs ode_mlcp)
# shellcheck disable=SC2086 # compiler and flags are lists of words
$CC -Wall -Wextra -Werror "$source" -o "$folder/installed_consumer" $flags -lm
"$folder/installed_consumer"

rm -f "$folder/stats.json"
"$command" run --stats "$folder/stats.json" -- "$folder/installed_consumer"
grep '"steps": *[1-9]' "$folder/stats.json"
"$command" compare --output "$folder/report" --no-repeat --steppers step,ah -- \
  "$folder/installed_consumer" >"$folder/compare.out"
grep -q '"name": "ah"' "$folder/report/report.json"

command -v cmake >/dev/null || exit 0
mkdir -p "$folder/cmake"
cp "$source" "$folder/cmake/consumer.c"
cat >"$folder/cmake/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.13)
project(consumer C)
find_package(ode_mlcp 0.1 REQUIRED)
add_executable(consumer consumer.c)
target_link_libraries(consumer ode_mlcp::ode_mlcp m)
CMAKE
libraries=$($PKG_CONFIG --variable=libdir ode_mlcp)
cmake -S "$folder/cmake" -B "$folder/cmake/build" -DCMAKE_C_COMPILER="${CC%% *}" \
  -Dode_mlcp_DIR="$libraries/cmake/ode_mlcp" >"$folder/cmake/log"
cmake --build "$folder/cmake/build" >>"$folder/cmake/log"
"$folder/cmake/build/consumer"
