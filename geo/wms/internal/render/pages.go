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
}

// pages is a cache of pages. Those that are in use stay.
type pages struct {
	mu     sync.Mutex
	all    map[pageID]*page
	idle   *list.List // of *page that nothing uses, the most recently used first
	free   []int      // slots
	hits   uint64
	misses uint64
}

func newPages(slots int) *pages {
	p := &pages{all: map[pageID]*page{}, idle: list.New()}
	for i := range slots {
		p.free = append(p.free, slots-1-i)
	}
	return p
}

// errCrowded is returned if all pages are in use.
var errCrowded = errors.New("render: all pages are in use")

// pin returns a page that stays until it is unpinned. fill makes it if it is new; others wait meanwhile.
func (p *pages) pin(ctx context.Context, id pageID, fill func(slot int) error) (*page, error) {
	p.mu.Lock()
	if g, ok := p.all[id]; ok {
		p.hits++
		if g.pins++; g.place != nil {
			p.idle.Remove(g.place)
			g.place = nil
		}
		p.mu.Unlock()
		select {
		case <-g.ready:
		case <-ctx.Done():
			p.unpin(g)
			return nil, context.Cause(ctx)
		}
		if g.err != nil {
			p.unpin(g)
			return nil, g.err
		}
		return g, nil
	}
	p.misses++
	slot, ok := p.take()
	if !ok {
		p.mu.Unlock()
		return nil, errCrowded
	}
	g := &page{id: id, slot: slot, pins: 1, ready: make(chan struct{})}
	p.all[id] = g
	p.mu.Unlock()
	g.err = errors.New("render: a page could not be made") // if fill panics
	defer func() {
		close(g.ready)
		if g.err != nil {
			p.unpin(g)
		}
	}()
	if g.err = fill(slot); g.err != nil {
		return nil, g.err
	}
	return g, nil
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

// unpin ends a use. A page that could not be made goes with its last use, so that it is tried again.
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
		if p.all[g.id] == g {
			delete(p.all, g.id)
		}
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
