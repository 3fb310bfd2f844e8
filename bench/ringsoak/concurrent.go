package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
)

// invert is launched while the actors run.
//
//quern:kernel
func invert(t kernel.Thread, x []uint32) {
	if i := t.Global(); i < len(x) {
		x[i] = ^x[i]
	}
}

// loads is the number of kernels to load. All are loaded before the first half of the run
// is over.
const loads = 50

// loaded is the source text of a kernel that is loaded while the actors run. The number
// makes each kernel new.
const loaded = `package loaded

import "quern.dev/kernel"

//quern:kernel
func add(t kernel.Thread, x []uint32) {
	if i := t.Global(); i < len(x) {
		x[i] += %d
	}
}
`

// work does one operation of the rest of a program on a device with actors.
func (s *soak) work(ctx context.Context, r *rand.Rand) error {
	var err error
	switch n := r.IntN(40); {
	case n == 0 && r.IntN(8) == 0:
		err = s.load(uint32(r.IntN(loads)))
	case n < 10:
		err = s.pinned(r)
	default:
		err = s.launch(ctx, r)
	}
	s.concurrent.Add(1)
	time.Sleep(time.Duration(r.IntN(10)) * time.Millisecond)
	return err
}

// pinned allocates and frees page-locked memory.
func (s *soak) pinned(r *rand.Rand) error {
	b, err := gpu.AllocHost[uint32](s.dev, 1+r.IntN(1<<14))
	if err != nil {
		return err
	}
	return b.Close()
}

// launch allocates memory, has a kernel change it, and frees it.
func (s *soak) launch(_ context.Context, r *rand.Rand) error {
	x := make([]uint32, 1+r.IntN(1<<10))
	for i := range x {
		x[i] = r.Uint32()
	}
	return s.changed(x, func(v uint32) uint32 { return ^v }, func(on *gpu.Stream, b *gpu.Buffer[uint32]) error {
		return LaunchInvert(on, gpu.Linear(len(x)), b)
	})
}

// load compiles and launches a kernel, which stays loaded.
func (s *soak) load(n uint32) error {
	k, err := s.dev.Compile(context.Background(), fmt.Sprintf(loaded, n), "add")
	if err != nil {
		return err
	}
	return s.changed(make([]uint32, 100), func(v uint32) uint32 { return v + n }, func(on *gpu.Stream, b *gpu.Buffer[uint32]) error {
		return k.Launch(on, gpu.Linear(100), b)
	})
}

// changed compares the result of a launch on x with want.
func (s *soak) changed(x []uint32, want func(uint32) uint32, launch func(*gpu.Stream, *gpu.Buffer[uint32]) error) (err error) {
	on, err := s.dev.NewStream(context.Background())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, on.Close()) }()
	b, err := gpu.Upload(on, x)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if err := launch(on, b); err != nil {
		return err
	}
	got := make([]uint32, len(x))
	if err := gpu.Download(context.Background(), on, got, b); err != nil {
		return err
	}
	for i := range x {
		if got[i] != want(x[i]) {
			return fmt.Errorf("element %d is %#x after the launch, want %#x", i, got[i], want(x[i]))
		}
	}
	return nil
}

// toggle deactivates an actor for a moment.
func (s *soak) toggle(_ context.Context, r *rand.Rand) error {
	m := s.actors[r.IntN(len(s.actors))]
	err := m.actor.Deactivate()
	time.Sleep(time.Millisecond)
	if err == nil {
		err = m.actor.Activate()
	}
	if unsettled(err) { // it has failed
		err = nil
	}
	time.Sleep(20 * time.Millisecond)
	return err
}

// visit spawns an actor, has it handle some messages and terminates it.
func (s *soak) visit(_ context.Context, r *rand.Rand) error {
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	m, err := s.spawn(ctx, "", ring.Options{Capacity: 1 + r.IntN(100)})
	if err != nil {
		return err
	}
	n := 1 + r.IntN(50)
	for range n {
		if err := s.tellOne(m, r); err != nil {
			return err
		}
	}
	got, err := m.read(ctx)
	if want := m.accepted.ledger(); err != nil || got != want {
		return fmt.Errorf("actor %s: %v, %w, want %v", m.actor.Name(), got, err, want)
	}
	if f, err := m.actor.Terminate(ctx); err != nil || f != (ring.Termination{}) {
		return fmt.Errorf("terminate actor %s: %+v, %w", m.actor.Name(), f, err)
	}
	s.visitors.Add(1)
	time.Sleep(200 * time.Millisecond)
	return nil
}
