package gpu

import (
	"context"
	"slices"
)

// visit orders work that is about to be added to s, which uses the memory, with
// the work of other streams on it. The caller holds the memory. Work that is
// recorded in a graph is not added to a stream yet: what runs it calls visitAll.
func (m *memory) visit(s *Stream) error {
	b := m.inner().block
	if b == nil || !b.pool.async || b.home == s || s.drv == nil || s.capture.Load() != nil {
		return nil
	}
	return b.visit(s)
}

// inner is the memory of which m is a view, or m.
func (m *memory) inner() *memory {
	if m.parent != nil {
		return m.parent
	}
	return m
}

func (b *block) visit(s *Stream) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if slices.Contains(b.visitors, s) {
		return nil
	}
	follow := b.follow
	if s.dev != b.pool.dev {
		follow = b.settle
	}
	if err := follow(s); err != nil {
		return err
	}
	// The memory may be in use for longer than many streams.
	b.visitors = append(slices.DeleteFunc(b.visitors, (*Stream).isDrained), s)
	return nil
}

// follow makes s wait for what was asked of the block's stream so far: before the
// block was acquired, it may have had other work there.
func (b *block) follow(s *Stream) error {
	if b.settled {
		return nil
	}
	if !b.home.lease.Acquire() {
		<-b.home.drained
		return nil
	}
	defer b.home.release()
	e, err := b.pool.event()
	if err != nil {
		return err
	}
	defer b.pool.reuse(e)
	if err := b.home.drv.Record(e); err != nil {
		return err
	}
	return s.drv.Wait(e)
}

// visitAll is visit for uses that do not say which streams they are on: it waits
// for the work that the memory may have had, and its release waits for all
// streams.
func (m *memory) visitAll() error {
	b := m.inner().block
	if b == nil || !b.pool.async {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.settle(nil); err != nil {
		return err
	}
	b.everywhere = true
	return nil
}

// settle waits for what was asked of the block's stream so far.
func (b *block) settle(*Stream) error {
	if b.settled {
		return nil
	}
	if b.home.lease.Acquire() {
		defer b.home.release()
		if err := b.home.drv.Synchronize(context.Background()); err != nil {
			return err
		}
	} else {
		<-b.home.drained
	}
	b.settled = true
	return nil
}

// orderRelease makes events of the work that other streams than the block's have
// with it. If there is one of which no event can be made now, it returns a
// function that waits for its work, and is to be called again afterwards.
func (p *Pool) orderRelease(b *block) (wait func()) {
	if b.everywhere {
		for _, s := range p.dev.workingStreams() {
			if s != b.home && !slices.Contains(b.visitors, s) {
				b.visitors = append(b.visitors, s)
			}
		}
		b.everywhere = false
	}
	for len(b.visitors) > 0 {
		last := len(b.visitors) - 1
		s := b.visitors[last]
		b.visitors[last] = nil
		b.visitors = b.visitors[:last]
		switch {
		case !s.lease.Acquire():
			if !s.isDrained() {
				return func() { <-s.drained }
			}
		case s.dev != p.dev || p.recordRelease(b, s) != nil:
			return func() {
				s.drv.Synchronize(context.Background())
				s.release()
			}
		default:
			s.release()
		}
	}
	return nil
}

func (p *Pool) recordRelease(b *block, s *Stream) error {
	e, err := p.event()
	if err != nil {
		return err
	}
	if err := s.drv.Record(e); err != nil {
		p.reuse(e)
		return err
	}
	b.pending = append(b.pending, e)
	b.stays = b.stays || s.detached
	return nil
}
