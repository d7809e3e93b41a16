//go:build !mutant

package main

// mutant marks the version of a program with a fault put in on purpose.
const mutant = ""
