#!/bin/sh
# Runs the property tests with DRAWS draws each instead of the usual 100:
# properties.sh DRAWS [SEED]. The seed is 1 unless given, so that a change and not
# luck decides the outcome; 0 draws a new one.
set -eu
draws=${1:?usage: properties.sh DRAWS [SEED], for example properties.sh 1000 0}
seed=${2:-1}
packages=$(go list -f '{{.ImportPath}} {{.TestImports}} {{.XTestImports}}' ./... |
	grep -F 'pgregory.net/rapid' | cut -d ' ' -f 1)
# A property test is one that calls rapid.Check itself.
# shellcheck disable=SC2046 # one argument per file
names=$(awk '/^func /{name = $2; sub(/\(.*/, "", name)} /rapid\.Check\(/{print name}' \
	$(grep -rl --include='*_test.go' 'rapid\.Check(' .) | sort -u)
others=$(printf '%s\n' "$names" | grep -v '^Test' || true)
if [ -n "$others" ]; then
	echo "properties.sh: call rapid.Check in a test itself, not in:" $others >&2
	exit 1
fi
echo "$(printf '%s\n' "$names" | wc -l) property tests, $draws draws each"
# shellcheck disable=SC2086 # one argument per package
go test -count=1 -timeout 15m $packages -run "^($(printf '%s' "$names" | tr '\n' '|'))\$" \
	-rapid.checks="$draws" -rapid.seed="$seed"
