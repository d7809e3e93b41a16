package accuracy

import "routesim/models"

// batch is a step with one prompt, or with decoding sequences.
func batch(prompt, seqs, context int64) models.Batch {
	b := models.Batch{PrefillContext: prompt, PrefillPairs: prompt * (prompt + 1) / 2, DecodeSeqs: seqs, DecodeContext: context, ScheduledTokens: prompt + seqs}
	if prompt > 0 {
		b.PrefillSeqs = 1
	}
	return b
}
