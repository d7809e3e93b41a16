#!/bin/sh
# Measures what the scripts of the command reach of its own packages, and fails
# below FLOOR percent of their statements: coverage.sh FLOOR.
set -eu
floor=${1:?usage: coverage.sh FLOOR, for example coverage.sh 82}
profile=$(mktemp)
trap 'rm -f "$profile"' EXIT
go test -count=1 -run 'TestScripts' -coverpkg=./cmd/... -coverprofile="$profile" ./cmd/routesim
awk -v floor="$floor" '
	NR > 1 {
		n[$1] = $2
		if ($3 > 0) hit[$1] = 1
	}
	END {
		for (block in n) {
			file = block
			sub(/:.*/, "", file)
			all[file] += n[block]; total += n[block]
			if (block in hit) { reached[file] += n[block]; sum += n[block] }
		}
		for (file in all) printf "%5.1f %%  %s\n", 100 * reached[file] / all[file], file | "sort -k3"
		close("sort -k3")
		if (total == 0) { print "coverage.sh: the profile is empty"; exit 1 }
		share = 100 * sum / total
		printf "%5.1f %%  of the statements of cmd (at least %d %% wanted)\n", share, floor
		exit share < floor
	}' "$profile"
