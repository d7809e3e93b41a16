package verdict

// trial is what confirming a verdict needs of the judgement on the first seeds.
type trial struct {
	options Options
	// traffic holds, by point, how far the objective's difference to the default
	// moves with the traffic; nil where that is not known.
	traffic []spread
}

// spread is the half-width of an interval to either side of its mean, in the
// units of a Diff.
type spread struct {
	below, above float64
	ok           bool
}
