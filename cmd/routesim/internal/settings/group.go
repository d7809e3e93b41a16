package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"routesim/models"
	"routesim/models/profile"
	"routesim/sim"
	"routesim/sim/engine"
)

// DefaultProfile models the workers of a run that names no other model.
const DefaultProfile = "h100/vllm/llama-3.1-70b/tp4"

// Modelled is a group of workers with every number known.
type Modelled struct {
	sim.Group
	Profile *profile.Profile // nil: a timing model
	Speedup float64          // divides the durations of the profile's steps; 0 counts as 1
	// Capacity is what the KV pool was computed from; nil where its size was
	// given, or the workers have no profile.
	Capacity   *profile.Capacity
	ContextCut bool   // the context limit is the pool, which is smaller than the model's context
	LimitFrom  string // where MaxModelLen comes from
}

// Sped returns the timing of the group with durations divided by one more
// ratio. Only profiles take one.
func (g *Modelled) Sped(ratio float64) (models.StepModel, error) {
	if g.Profile == nil {
		return g.Timing, nil
	}
	own := g.Speedup
	if own == 0 {
		own = 1
	}
	return g.Profile.StepModel(own * ratio)
}

// orDefault replaces AutoValue.
func orDefault(v *int32, auto int32) {
	if *v == AutoValue {
		*v = auto
	}
}

func (g *Modelled) fromTiming(r *Run) (err error) {
	e, def := &g.Engine, engine.DefaultsOf(g.Engine.Backend)
	orDefault(&e.NumGPUBlocks, def.NumGPUBlocks)
	orDefault(&e.MaxNumSeqs, def.MaxNumSeqs)
	orDefault(&e.MaxNumBatchedTokens, def.MaxNumBatchedTokens)
	g.LimitFrom = "max_model_len"
	if e.MaxModelLen == AutoValue {
		g.LimitFrom = "default"
	}
	orDefault(&e.MaxModelLen, def.MaxModelLen)
	g.GPUs = int32(max(r.TensorParallel, 1))
	g.Timing, err = models.ParseTiming(r.Timing, models.TimingOptions{
		CapacityTokens:     int64(e.NumGPUBlocks) * int64(e.BlockSize),
		SpeedupRatio:       r.SpeedupRatio,
		DecodeSpeedupRatio: r.DecodeSpeedupRatio,
	})
	if err != nil {
		return fmt.Errorf("--timing: %w", err)
	}
	return nil
}

// profileError names the setting in an error of a profile's file. One of a
// profile's name says so itself.
func (r *Run) profileError(err error) error {
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--profile: found no file %s, expected a profile's FILE.yaml or NAME", r.Profile)
	case errors.As(err, &path):
		return fmt.Errorf("--profile: %s: %w, expected a profile's FILE.yaml", r.Profile, path.Err)
	case strings.HasSuffix(r.Profile, ".yaml") || strings.HasSuffix(r.Profile, ".yml"):
		return fmt.Errorf("--profile: %w", err)
	}
	return err
}

func (g *Modelled) fromProfile(r *Run) error {
	p, err := profile.Load(r.Profile)
	if err != nil {
		return r.profileError(err)
	}
	if err := p.CheckEngine(g.Engine.Backend.String()); err != nil {
		return err
	}
	if r.DecodeSpeedupRatio != 1 {
		return fmt.Errorf("decode-speedup-ratio: found %v with profile %s, expected 1 (a profile prices a step as a whole; speedup-ratio scales it)", r.DecodeSpeedupRatio, p.ID)
	}
	if r.TensorParallel != AutoValue && r.TensorParallel != p.TP {
		return fmt.Errorf("tensor-parallel-size: found %d with profile %s, expected %d or nothing (choose a profile of another tensor parallelism)", r.TensorParallel, p.ID, p.TP)
	}
	timing, err := p.StepModel(r.SpeedupRatio)
	if err != nil {
		return err
	}
	g.Profile, g.Timing, g.GPUs, g.RequestMS, g.Speedup = p, timing, int32(p.TP), p.RequestMS(), r.SpeedupRatio
	d := p.Defaults()
	def := engine.DefaultsOf(g.Engine.Backend)
	orDefault(&g.Engine.MaxNumSeqs, known(d.MaxNumSeqs, def.MaxNumSeqs))
	orDefault(&g.Engine.MaxNumBatchedTokens, known(d.MaxNumBatchedTokens, def.MaxNumBatchedTokens))
	if g.Engine.NumGPUBlocks != AutoValue {
		return g.limitByPool()
	}
	return g.computePool(r)
}

// known returns a profile's default of sequences or tokens, or the engine's own
// where the profile states none (0).
func known(v int64, otherwise int32) int32 {
	if v <= 0 {
		return otherwise
	}
	return int32(min(v, math.MaxInt32))
}

// given returns a setting as the profile takes it: 0 stands for its default,
// also where there is no limit, which no engine reserves memory for.
func given(v int32) int64 {
	if v == engine.Unlimited {
		return 0
	}
	return int64(max(v, 0))
}

// limitByPool sets the context limit of workers whose pool is known: what was
// given, or the model's context as far as whole blocks of the pool hold it.
func (g *Modelled) limitByPool() error {
	p, e := g.Profile, &g.Engine
	context, pool := p.MaxModelLen(), int64(e.NumGPUBlocks)*int64(e.BlockSize)
	switch {
	case e.MaxModelLen != AutoValue:
		g.LimitFrom = "max_model_len"
		if context > 0 && int64(e.MaxModelLen) > context {
			return fmt.Errorf("profile %s: max_model_len: found %d tokens, expected at most %d, the context length of %s (%s)",
				p.ID, e.MaxModelLen, context, p.Model, p.ContextSource)
		}
	case context == 0:
		g.LimitFrom, e.MaxModelLen = "none known", 0
	case pool < context:
		g.LimitFrom, g.ContextCut, e.MaxModelLen = "KV pool", true, int32(pool)
	default:
		g.LimitFrom, e.MaxModelLen = p.ContextSource, int32(context)
	}
	return nil
}

// computePool sets the pool and the context limit.
func (g *Modelled) computePool(r *Run) error {
	p, e := g.Profile, &g.Engine
	s := profile.Settings{
		MaxNumSeqs: given(r.Engine.MaxNumSeqs), MaxNumBatchedTokens: given(r.Engine.MaxNumBatchedTokens),
		MaxModelLen: given(e.MaxModelLen),
	}
	if r.Utilization != nil {
		s.Utilization = *r.Utilization
	}
	c, err := p.KVCapacity(s)
	if err != nil {
		return err
	}
	blocks := c.Tokens / int64(e.BlockSize)
	if blocks < 1 {
		return fmt.Errorf("block-size: found %d tokens with profile %s, expected at most its KV capacity of %d tokens", e.BlockSize, p.ID, c.Tokens)
	}
	g.Capacity, e.NumGPUBlocks = c, int32(min(blocks, math.MaxInt32))
	return g.limitByPool()
}
