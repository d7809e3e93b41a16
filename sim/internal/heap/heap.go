// Package heap keeps the earliest of many elements at hand.
package heap

// Heap is a binary heap with the earliest element at its root. The order must
// be total, so that what comes first does not depend on what came and went.
type Heap[T any, P interface {
	*T
	Before(*T) bool
}] []T

// Push adds an element.
func (h *Heap[T, P]) Push(x T) {
	s := append(*h, x)
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if !P(&s[i]).Before(&s[up]) {
			break
		}
		s[i], s[up] = s[up], s[i]
		i = up
	}
	*h = s
}

// Pop takes out the earliest element.
func (h *Heap[T, P]) Pop() T {
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
		if next+1 < len(s) && P(&s[next+1]).Before(&s[next]) {
			next++
		}
		if !P(&s[next]).Before(&s[i]) {
			break
		}
		s[i], s[next] = s[next], s[i]
		i = next
	}
	*h = s
	return top
}
