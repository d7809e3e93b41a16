package verdict

// Paired returns the interval of the mean of paired differences at a level such
// as 0.95, after Student's t. It is not OK with fewer than two differences;
// where all are equal it has no width.
func Paired(differences []float64, level float64) Interval {
	n := len(differences)
	if n < 2 {
		return Interval{}
	}
	mean := meanOf(differences)
	half := student(n-1, (1+level)/2) * errorOf(differences)
	return Interval{Lo: mean - half, Hi: mean + half, OK: true}
}
