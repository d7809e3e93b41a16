#!/bin/sh
# Runs every fuzz target of the module for TIME (go test's -fuzztime), one after
# the other: fuzz.sh TIME. New findings land in the package's testdata/fuzz and
# are replayed by the ordinary tests from then on.
set -eu
time=${1:?usage: fuzz.sh TIME, for example fuzz.sh 60s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
ran=0

# fuzz TARGET PACKAGE. Now and then go test's coordinator reports its own end of
# time, "context deadline exceeded", as the failure of a target that found
# nothing: that is no finding. A finding names the file of its input.
fuzz() {
	status=0
	go test -run '^$' -fuzz "^$1\$" -fuzztime "$time" "$2" >"$log" 2>&1 || status=$?
	cat "$log"
	if [ "$status" -eq 0 ]; then return; fi
	if grep -q '^    context deadline exceeded$' "$log" && ! grep -Eq 'Failing input written|panic|fatal error' "$log"; then
		echo "fuzz.sh: $1 ran out of time without a finding"
		return
	fi
	exit "$status"
}

packages=$(go list ./...)
for package in $packages; do
	listed=$(go test -list '^Fuzz' "$package")
	for target in $(printf '%s\n' "$listed" | grep '^Fuzz' || true); do
		echo "fuzz $package $target"
		fuzz "$target" "$package"
		ran=$((ran + 1))
	done
done
if [ "$ran" -eq 0 ]; then
	echo "fuzz.sh: found no fuzz target" >&2
	exit 1
fi
echo "$ran fuzz targets, $time each"
