package render

import (
	"container/list"
	"context"
	"errors"
	"sync"
)

// pageID is a page of a level of a source.
type pageID struct {
	source      *Source
	level, x, y int
}

// page is a place in the memory for pages.
type page struct {
	id    pageID
	slot  int
	pins  int // maps that use it
	ready chan struct{}
	err   error // set before ready is closed
	place *list.Element

	wanted int // requests that wait for it, the one that makes it included
	stop   context.CancelCauseFunc
}

// pages is a cache of pages. Those that are in use stay.
type pages struct {
	mu     sync.Mutex
	all    map[pageID]*page
	idle   *list.List // of *page that nothing uses, the most recently used first
	free   []int      // slots
	slots  int
	hits   uint64
	misses uint64
}

func newPages(slots int) *pages {
	p := &pages{all: map[pageID]*page{}, idle: list.New(), slots: slots}
	for i := range slots {
		p.free = append(p.free, slots-1-i)
	}
	return p
}

// errCrowded is returned if all pages are in use.
var errCrowded = errors.New("render: all pages are in use")

// pin returns a page that stays until it is unpinned. fill makes it if it is new; others wait meanwhile. The context of fill
// ends when no request wants the page any more.
func (p *pages) pin(ctx context.Context, id pageID, fill func(ctx context.Context, slot int) error) (*page, error) {
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		p.mu.Lock()
		g, ok := p.all[id]
		if !ok {
			p.misses++
			m, err := p.begin(ctx, id)
			p.mu.Unlock()
			if err != nil {
				return nil, err
			}
			if err := p.make(ctx, m, fill); err != nil {
				if ctx.Err() != nil {
					return nil, context.Cause(ctx)
				}
				return nil, err
			}
			return m.g, nil
		}
		p.hits++
		if g.pins++; g.place != nil {
			p.idle.Remove(g.place)
			g.place = nil
		}
		g.wanted++
		p.mu.Unlock()
		select {
		case <-g.ready:
		case <-ctx.Done():
			p.leave(g, context.Cause(ctx))
			p.unpin(g)
			return nil, context.Cause(ctx)
		}
		if g.err == nil {
			return g, nil
		}
		err := g.err
		p.unpin(g)
		if !errors.Is(err, errUnwanted) {
			return nil, err
		}
		// All others gave up before this request came.
	}
}

// errUnwanted is the error of a page that no request wanted any more.
var errUnwanted = errors.New("render: no request waits for the page")

// making is a page, and the context in which it is made.
type making struct {
	g   *page
	ctx context.Context
}

// begin adds a page. The caller has the lock.
func (p *pages) begin(ctx context.Context, id pageID) (m making, err error) {
	slot, ok := p.take()
	if !ok {
		return m, errCrowded
	}
	m.g = &page{id: id, slot: slot, pins: 1, wanted: 1, ready: make(chan struct{})}
	m.ctx, m.g.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	p.all[id] = m.g
	return m, nil
}

// make makes a page. The request that makes it may end while others wait: it goes on then.
func (p *pages) make(ctx context.Context, m making, fill func(ctx context.Context, slot int) error) error {
	g := m.g
	stay := context.AfterFunc(ctx, func() { p.leave(g, context.Cause(ctx)) })
	g.err = errors.New("render: a page could not be made") // if fill panics
	defer func() {
		stay()
		if g.err != nil {
			p.forget(g)
		}
		close(g.ready)
		if g.err != nil {
			p.unpin(g)
		}
		g.stop(nil)
	}()
	err := fill(m.ctx, g.slot)
	if g.err = err; err != nil && m.ctx.Err() != nil {
		g.err = errUnwanted
	}
	return err
}

// leave says that a request does not want a page any more, for a reason.
func (p *pages) leave(g *page, why error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.wanted--; g.wanted == 0 {
		g.stop(why)
	}
}

// forget makes the next request make the page again.
func (p *pages) forget(g *page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[g.id] == g {
		delete(p.all, g.id)
	}
}

// take returns a slot that is free, or becomes free because an idle page goes.
func (p *pages) take() (int, bool) {
	if n := len(p.free); n > 0 {
		slot := p.free[n-1]
		p.free = p.free[:n-1]
		return slot, true
	}
	last := p.idle.Back()
	if last == nil {
		return 0, false
	}
	g := p.idle.Remove(last).(*page)
	delete(p.all, g.id)
	return g.slot, true
}

// unpin ends a use. The memory of a page that could not be made is free after its last use.
func (p *pages) unpin(g *page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.pins--; g.pins > 0 {
		return
	}
	select {
	case <-g.ready:
	default:
		return // the one that makes it has its own pin
	}
	if g.err != nil {
		p.free = append(p.free, g.slot)
		return
	}
	g.place = p.idle.PushFront(g)
}

func (p *pages) unpinAll(all []*page) {
	for _, g := range all {
		p.unpin(g)
	}
}

// counts returns how often a page was there, how often it had to be made, and how many there are.
func (p *pages) counts() (hits, misses uint64, kept int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hits, p.misses, len(p.all)
}

// unused reports whether all pages are idle, and all other slots free.
func (p *pages) unused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idle.Len() == len(p.all) && p.idle.Len()+len(p.free) == p.slots
}
