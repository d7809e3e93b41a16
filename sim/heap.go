package sim

// heap is a binary heap with the earliest element at its root. The order must
// be total, so that what comes first does not depend on what came and went.
type heap[T any, P interface {
	*T
	before(*T) bool
}] []T

func (h *heap[T, P]) push(x T) {
	s := append(*h, x)
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if !P(&s[i]).before(&s[up]) {
			break
		}
		s[i], s[up] = s[up], s[i]
		i = up
	}
	*h = s
}

func (h *heap[T, P]) pop() T {
	s := *h
	top := s[0]
	last := len(s) - 1
	s[0] = s[last]
	s = s[:last]
	for i := 0; ; {
		next := 2*i + 1
		if next >= len(s) {
			break
		}
		if next+1 < len(s) && P(&s[next+1]).before(&s[next]) {
			next++
		}
		if !P(&s[next]).before(&s[i]) {
			break
		}
		s[i], s[next] = s[next], s[i]
		i = next
	}
	*h = s
	return top
}
