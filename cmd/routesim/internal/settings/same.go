package settings

import (
	"slices"

	"routesim/sim/engine"
	"routesim/sim/router"
)

// Texts goes through the settings that a replay honours with their values as
// texts, in table order. Where a value is that of another run, whose texts are
// given in the same order, its text is taken from there.
func (r *Resolved) Texts(of *Run, texts []string, yield func(s *Setting, text string)) {
	i := 0
	for _, s := range r.table.list {
		if s.Support != Honoured {
			continue
		}
		if texts != nil && same(s.Ref(&r.Run), s.Ref(of)) {
			yield(s, texts[i])
		} else {
			yield(s, s.Get(&r.Run).Text)
		}
		i++
	}
}

// same reports whether two fields of a setting's kind hold the same value. For
// kinds that it does not know they count as different.
func same(p, q any) bool {
	switch p := p.(type) {
	case *float64:
		return *p == *q.(*float64)
	case **float64:
		a, b := *p, *q.(**float64)
		return a == b || a != nil && b != nil && *a == *b
	case *int:
		return *p == *q.(*int)
	case *int64:
		return *p == *q.(*int64)
	case *int32:
		return *p == *q.(*int32)
	case *uint64:
		return *p == *q.(*uint64)
	case *bool:
		return *p == *q.(*bool)
	case *string:
		return *p == *q.(*string)
	case *[]WorkerGroup:
		return slices.EqualFunc(*p, *q.(*[]WorkerGroup), func(a, b WorkerGroup) bool {
			return a.Count == b.Count && a.Profile == b.Profile && slices.Equal(a.Fields, b.Fields)
		})
	case *router.Mode:
		return *p == *q.(*router.Mode)
	case *router.QueuePolicy:
		return *p == *q.(*router.QueuePolicy)
	case *engine.PreemptionMode:
		return *p == *q.(*engine.PreemptionMode)
	case *engine.Backend:
		return *p == *q.(*engine.Backend)
	}
	return false
}
