package sim

import (
	"pgregory.net/rapid"

	"routesim/sim/engine"
)

// drawOtherEngine gives a scenario's fleet another kind of engine and several
// data-parallel ranks, or leaves it as it is.
func drawOtherEngine(t *rapid.T, s *scenario) {
	backend := oneOf(t, "engine", engine.VLLM, engine.TRTLLM, engine.SGLang, engine.SGLang)
	ranks := oneOf[int32](t, "ranks", 1, 1, 2, 3)
	for i := range s.cfg.Fleet {
		p := &s.cfg.Fleet[i].Engine
		if backend == engine.SGLang {
			p.EnableChunkedPrefill = true
			p.SGLang = drawSGLang(t, p.BlockSize*ranks)
		}
		p.Backend, p.DPSize = backend, ranks
	}
}

func drawSGLang(t *rapid.T, page int32) engine.SGLangParams {
	return engine.SGLangParams{
		LPM:                      rapid.Bool().Draw(t, "lpm"),
		MaxPrefillTokens:         oneOf[int32](t, "max prefill", 16384, 500, 60),
		ChunkedPrefillSize:       page * oneOf[int32](t, "chunk", 8192, 64, 8, 1),
		ClipMaxNewTokens:         oneOf[int32](t, "clip", 4096, 20, 3, 1),
		ScheduleConservativeness: oneOf(t, "conservativeness", 1, 0, 0.1, 1.3),
	}
}
