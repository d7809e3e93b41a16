#!/bin/sh
# Runs every fuzz target of the module for TIME (go test's -fuzztime), one after
# the other: fuzz.sh TIME. New findings land in the package's testdata/fuzz and
# are replayed by the ordinary tests from then on.
set -eu
time=${1:?usage: fuzz.sh TIME, for example fuzz.sh 60s}
ran=0
packages=$(go list ./...)
for package in $packages; do
	listed=$(go test -list '^Fuzz' "$package")
	for target in $(printf '%s\n' "$listed" | grep '^Fuzz' || true); do
		echo "fuzz $package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "$package"
		ran=$((ran + 1))
	done
done
if [ "$ran" -eq 0 ]; then
	echo "fuzz.sh: found no fuzz target" >&2
	exit 1
fi
echo "$ran fuzz targets, $time each"
