// Package profileview shows GPU profiles: in lists, one by one, side by side
// and as figures.
package profileview

import "routesim/models"

// decode returns a step in which a number of sequences of equal length decode.
func decode(seqs, context int64) models.Batch {
	return models.Batch{DecodeSeqs: seqs, DecodeContext: seqs * context, ScheduledTokens: seqs}
}

// prefill returns a step that computes one chunk of a prompt after tokens that
// were cached or computed before.
func prefill(fresh, prefix int64) models.Batch {
	return models.Batch{
		PrefillSeqs: 1, PrefillContext: prefix + fresh, PrefillPrefix: prefix,
		PrefillPairs: fresh*prefix + fresh*(fresh+1)/2, ScheduledTokens: fresh,
	}
}

// mixed returns a step that does both.
func mixed(fresh, prefix, seqs, context int64) models.Batch {
	b, d := prefill(fresh, prefix), decode(seqs, context)
	b.DecodeSeqs, b.DecodeContext, b.ScheduledTokens = d.DecodeSeqs, d.DecodeContext, fresh+seqs
	return b
}

// probe is a step that tables show.
type probe struct {
	name  string
	batch models.Batch
}

// probes lists the steps that comparisons show.
func probes() []probe {
	return []probe{
		{"decode 1 x 1,024", decode(1, 1024)},
		{"decode 8 x 1,024", decode(8, 1024)},
		{"decode 32 x 1,024", decode(32, 1024)},
		{"decode 32 x 8,192", decode(32, 8192)},
		{"decode 128 x 1,024", decode(128, 1024)},
		{"decode 256 x 2,048", decode(256, 2048)},
		{"prefill 128", prefill(128, 0)},
		{"prefill 512", prefill(512, 0)},
		{"prefill 2,048", prefill(2048, 0)},
		{"prefill 8,192", prefill(8192, 0)},
		{"prefill 2,048 after 8,192", prefill(2048, 8192)},
		{"prefill 512 after 32,768", prefill(512, 32768)},
		{"prefill 2,048 + decode 32 x 1,024", mixed(2048, 0, 32, 1024)},
	}
}

// ms returns the time of a step.
func ms(m models.StepModel, b models.Batch) float64 {
	p, d := m.Step(&b)
	return p + d
}
