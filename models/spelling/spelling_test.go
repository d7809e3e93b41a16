package spelling

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"worker", "workers", 1}, {"seed", "seeds", 1},
		{"kitten", "sitting", 3}, {"router-mode", "router-mdoe", 2}, {"abc", "abc", 0},
	} {
		if d, e := Distance(c.a, c.b), Distance(c.b, c.a); d != c.want || e != c.want {
			t.Errorf("%q and %q: %d and %d apart, want %d", c.a, c.b, d, e, c.want)
		}
	}
}
