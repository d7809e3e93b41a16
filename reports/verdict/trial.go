package verdict

// trial is what confirming a verdict needs of the judgement on the first seeds.
type trial struct{ judge *judge }

// spread is how far an interval reaches to either side of its mean, in the units
// of a Diff.
type spread struct {
	below, above float64
	ok           bool
}
