package ring

import (
	"errors"
	"fmt"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring/internal/loop"
)

// ResidencyError means that an actor has no room on a GPU beside those that are
// active: a block that does not fit would not run before another one leaves.
type ResidencyError struct {
	Actor           string
	Active          int // actors
	PerProcessor    int // actors like this one that a multiprocessor holds
	Multiprocessors int // for actors: one less than the GPU has, which is left to other kernels
}

// Error says how many would fit.
func (e *ResidencyError) Error() string {
	return fmt.Sprintf("ring: no room for actor %s beside %d active ones: of actors like it, %d fit on each of the %d multiprocessors for actors; deactivate or terminate some",
		e.Actor, e.Active, e.PerProcessor, e.Multiprocessors)
}

// Where more actors are active than can be resident, each leaves after crowdedLife,
// or when it has had no message for crowdedIdle, so that others get their turn.
const (
	crowdedLife = 2 * time.Millisecond
	crowdedIdle = 20 * time.Microsecond
)

// inhabit sets how many actors of the cohort a multiprocessor holds.
func (c *cohort) inhabit() error {
	if !c.resident {
		return nil
	}
	o, err := c.program.Kernel.Occupancy(c.rt.dev, gpu.Dim3{X: c.program.Threads}, c.sharedBytes())
	if err == nil && o.Blocks == 0 {
		err = invalid("a block of %d threads with %d bytes of shared memory fits on no multiprocessor; take a smaller Batch", c.program.Threads, c.sharedBytes())
	}
	c.perProcessor = o.Blocks
	return err
}

// fewCells is the bytes of messages in shared memory that always fit.
const fewCells = 4 << 10

// fitBatch lowers the number of messages that an actor takes at once to what its
// block has shared memory for.
func (rt *Runtime) fitBatch(p *Program, s *loop.Shape) error {
	cell := cellBytes(s)
	if int(s.Batch)*cell <= fewCells {
		return nil
	}
	uses, err := p.Kernel.Resources(rt.dev)
	if err != nil {
		return err
	}
	room := rt.dev.Attributes().SharedPerBlock
	for _, u := range uses {
		room = min(room, rt.dev.Attributes().SharedPerBlock-u.Shared)
	}
	if cell > room-16 {
		return invalid("a message of %s and its reply take %d bytes of shared memory, a block has %d for them; leave the data in buffers and send payloads", p.Name, cell, room)
	}
	s.Batch = min(s.Batch, uint32((room-16)/cell))
	s.RawAt = rawAt(s)
	return nil
}

// sharedBytes is the dynamic shared memory of a block.
func (c *cohort) sharedBytes() int {
	return 16*int(c.shape.RawAt) + 8*int(c.shape.Batch*c.shape.InStep)
}

// room reports whether one more actor of the cohort can be resident.
func (rt *Runtime) room(c *cohort, name string) error {
	if !rt.resident {
		return nil
	}
	parts, active := []part{{1, c.perProcessor}}, 0
	for _, other := range rt.all() {
		other.mu.Lock()
		n := 0
		for _, a := range other.actors {
			if a.runs() {
				n++
			}
		}
		other.mu.Unlock()
		parts, active = append(parts, part{n, other.perProcessor}), active+n
	}
	processors := max(1, rt.dev.Attributes().Multiprocessors-1)
	fit := fits(parts, processors)
	if fit || rt.config.Bounded {
		return rt.crowd(!fit)
	}
	return &ResidencyError{Actor: name, Active: active, PerProcessor: c.perProcessor, Multiprocessors: processors}
}

// crowd notes whether more actors are active than can be resident.
func (rt *Runtime) crowd(crowded bool) error {
	if rt.crowded.Swap(crowded) == crowded {
		return nil
	}
	var errs []error
	for _, c := range rt.all() {
		errs = append(errs, restart(c))
	}
	return errors.Join(errs...)
}

// part is actors of which each takes an equal part of a multiprocessor.
type part struct{ actors, perProcessor int }

// fits reports whether actors take no more than so many multiprocessors, in parts
// of 64.
func fits(parts []part, processors int) bool {
	taken := 0
	for _, p := range parts {
		if p.actors > 0 {
			taken += (p.actors*64 + p.perProcessor - 1) / p.perProcessor
		}
	}
	return taken <= 64*processors
}
