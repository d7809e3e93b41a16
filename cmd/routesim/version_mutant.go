//go:build mutant

package main

// mutant marks the version of a program with a fault put in on purpose, to see
// whether the gate notices it.
const mutant = "-mutant"
