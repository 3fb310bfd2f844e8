package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/gpu"
)

// soak is a run on one device.
type soak struct {
	dev      *gpu.Device
	pool     *gpu.Pool
	hostPool *gpu.HostPool
	streams  []*gpu.Stream
	options  options
	most     int // maximum elements per buffer

	rounds, launches, copies atomic.Int64
	bytes                    atomic.Int64 // copied
}

// mostElements returns the size of the largest buffers: what a device can process in a few
// milliseconds.
func mostElements(b gpu.Backend) int {
	switch b {
	case gpu.CUDA:
		return 1 << 20
	case gpu.Sim:
		return 1 << 10
	default:
		return 1 << 16
	}
}

// poolShare is the capacity of the pools, in buffers of the largest size per goroutine. It
// covers the buffers of one round, rounded up as pools do, but is so small that memory is
// released and allocated again.
const poolShare = atOnce + 2

func newSoak(ctx context.Context, d *gpu.Device, o options) (*soak, error) {
	s := &soak{dev: d, options: o, most: mostElements(d.Backend())}
	var err error
	limit := int64(o.goroutines) * poolShare * max(4*int64(s.most), 4096)
	if s.pool, err = d.NewPool(gpu.PoolConfig{Limit: limit, ReleaseThreshold: limit / 8}); err != nil {
		return nil, err
	}
	if s.hostPool, err = d.NewHostPool(gpu.PoolConfig{Limit: limit, ReleaseThreshold: limit / 8}); err != nil {
		return nil, errors.Join(err, s.close())
	}
	for range o.streams {
		stream, err := d.NewStream(ctx)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.streams = append(s.streams, stream)
	}
	return s, nil
}

func (s *soak) close() error {
	var errs []error
	for _, stream := range s.streams {
		errs = append(errs, stream.Close())
	}
	return errors.Join(append(errs, s.pool.Close(), s.hostPool.Close())...)
}

// run uses the device until the duration is over or something is wrong.
func (s *soak) run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.duration)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	watch := &watch{soak: s}
	var group sync.WaitGroup
	for g := range s.options.goroutines {
		group.Go(func() {
			w := &worker{soak: s, random: rand.New(rand.NewPCG(s.options.seed, uint64(g)))}
			for n := 0; ctx.Err() == nil; n++ {
				if err := w.round(); err != nil {
					stop(fmt.Errorf("goroutine %d, round %d: %w", g, n, err))
					return
				}
				s.rounds.Add(1)
			}
		})
	}
	watch.until(ctx)
	group.Wait()
	cause := context.Cause(ctx)
	if errors.Is(cause, context.DeadlineExceeded) || errors.Is(cause, context.Canceled) {
		cause = nil
	}
	if cause == nil {
		cause = watch.verdict()
	}
	return errors.Join(cause, s.settled())
}

// settled returns an error if the rounds have left something behind.
func (s *soak) settled() error {
	if err := s.dev.Synchronize(context.Background()); err != nil {
		return err
	}
	return errors.Join(empty("the pool", s.pool), empty("the host pool", s.hostPool))
}

// empty returns an error if a pool still has buffers in use.
func empty(what string, p interface {
	Stats() gpu.PoolStats
	Trim() error
}) error {
	if st := p.Stats(); st.Buffers != 0 || st.Used != 0 {
		return fmt.Errorf("%s reports %d buffers with %d bytes in use, want none", what, st.Buffers, st.Used)
	}
	if err := p.Trim(); err != nil {
		return err
	}
	if st := p.Stats(); st.Reserved != 0 {
		return fmt.Errorf("%s keeps %d bytes after Trim", what, st.Reserved)
	}
	return nil
}

// String returns the counts so far.
func (s *soak) String() string {
	st := s.pool.Stats()
	return fmt.Sprintf("%-7s %8d rounds, %9d launches, %9d copies of %7.1f GB; pool: %5.1f MB used, %5.1f reserved, %5.1f at most, %4.1f %% hits",
		s.dev.ID(), s.rounds.Load(), s.launches.Load(), s.copies.Load(), float64(s.bytes.Load())/1e9,
		float64(st.Used)/1e6, float64(st.Reserved)/1e6, float64(st.HighWater)/1e6,
		100*float64(st.Hits)/float64(max(1, st.Hits+st.Misses)))
}

// interval returns the time between two lines of progress: a tenth of the duration, at
// most 10 s.
func (o *options) interval() time.Duration {
	return max(time.Millisecond, min(o.duration/10, 10*time.Second))
}
