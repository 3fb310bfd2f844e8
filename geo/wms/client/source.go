package client

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"quern.dev/geo/tiff"
)

// Options of all sources. Zero fields have the stated defaults.
type Options struct {
	Client *http.Client // http.DefaultClient
	// Header is sent with every request, for example for authorization.
	Header http.Header
	// Parallel is the number of requests at the same time: 8.
	Parallel int
	// Attempts is how often a request is made until it succeeds: 4.
	Attempts int
	// Pause is the time before the second attempt, which doubles for each further one: 200 ms.
	Pause time.Duration
	// Timeout of a request: 60 s.
	Timeout time.Duration
	// CacheBytes is how much is kept of what was received: 64 MiB.
	CacheBytes int64
	// AnswerBytes is the size of the largest answer that is accepted: 16 MiB.
	AnswerBytes int64
}

func (o Options) complete() Options {
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	o.Parallel, o.Attempts = cmp.Or(max(o.Parallel, 0), 8), cmp.Or(max(o.Attempts, 0), 4)
	o.Pause, o.Timeout = cmp.Or(max(o.Pause, 0), 200*time.Millisecond), cmp.Or(max(o.Timeout, 0), time.Minute)
	o.CacheBytes, o.AnswerBytes = cmp.Or(max(o.CacheBytes, 0), 64<<20), cmp.Or(max(o.AnswerBytes, 0), 16<<20)
	return o
}

// Source is an image on a server.
type Source struct {
	*tiff.File
	r *reader
}

// Close makes reading fail.
func (s *Source) Close() error {
	s.r.cancel(tiff.ErrClosed)
	return s.File.Close()
}

// grid is an image in tiles on a server, in several resolutions.
type grid struct {
	epsg       int
	geographic bool
	x, y       float64 // of the upper left corner
	levels     []level
	tile       int // width and height of tiles in pixels
	// absent means that a tile which does not exist is transparent.
	absent bool
}

// level is a resolution of a grid: the first one is the finest.
type level struct {
	width, height int     // pixels
	pixel         float64 // size of a pixel in units of the system
	url           func(column, row int) string
}

func (l *level) across(tile int) int { return (l.width + tile - 1) / tile }
func (l *level) down(tile int) int   { return (l.height + tile - 1) / tile }

// reader has the tiles of a grid.
type reader struct {
	opt    Options
	g      *grid
	ctx    context.Context
	cancel context.CancelCauseFunc
	slots  chan struct{}

	mu     sync.Mutex
	tiles  map[tileID]*list.Element
	recent *list.List // of *tile, the most recently used first
	room   int64
}

type tileID struct{ level, index int }

type tile struct {
	id     tileID
	done   chan struct{}
	pixels []byte
	err    error
}

// open makes a source of a grid.
func open(ctx context.Context, g *grid, o Options) (*Source, error) {
	r := &reader{opt: o.complete(), g: g, tiles: map[tileID]*list.Element{}, recent: list.New()}
	r.room = r.opt.CacheBytes
	r.slots = make(chan struct{}, r.opt.Parallel)
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	v, err := g.virtual()
	if err == nil {
		v.Read, v.Parallel = r.read, r.opt.Parallel
		var f *tiff.File
		if f, err = tiff.NewVirtual(v); err == nil {
			return &Source{f, r}, nil
		}
	}
	r.cancel(nil)
	return nil, err
}

// tileBytes is the size of a tile in memory.
func (g *grid) tileBytes() int { return g.tile * g.tile * 4 }

// read reads a block, which is a tile.
func (r *reader) read(ctx context.Context, b tiff.VirtualBlock, dst []byte) error {
	l := &r.g.levels[b.Level]
	pixels, err := r.tile(ctx, tileID{b.Level, b.Y/r.g.tile*l.across(r.g.tile) + b.X/r.g.tile})
	copy(dst, pixels)
	return err
}

// tile returns the pixels of a tile. One goroutine requests it; others that want it wait.
func (r *reader) tile(ctx context.Context, id tileID) ([]byte, error) {
	r.mu.Lock()
	if e, ok := r.tiles[id]; ok {
		r.recent.MoveToFront(e)
		r.mu.Unlock()
		t := e.Value.(*tile)
		select {
		case <-t.done:
			if t.err == nil || !errors.Is(t.err, context.Canceled) {
				return t.pixels, t.err
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		return r.request(ctx, id) // the other one was canceled
	}
	t := &tile{id: id, done: make(chan struct{})}
	e := r.recent.PushFront(t)
	r.tiles[id] = e
	size := int64(r.g.tileBytes())
	for r.room -= size; r.room < 0 && r.recent.Len() > 1; r.room += size {
		last := r.recent.Remove(r.recent.Back()).(*tile)
		delete(r.tiles, last.id)
	}
	r.mu.Unlock()
	t.pixels, t.err = r.request(ctx, id)
	close(t.done)
	if t.err != nil { // the next one tries again
		r.mu.Lock()
		if r.tiles[id] == e {
			r.recent.Remove(e)
			delete(r.tiles, id)
			r.room += size
		}
		r.mu.Unlock()
	}
	return t.pixels, t.err
}
