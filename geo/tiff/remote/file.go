package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"quern.dev/geo/tiff"
)

var (
	// ErrNoRanges is the error of a server that sends whole files only.
	ErrNoRanges = errors.New("the server does not send ranges")
	// ErrChanged is the error of a file that is no longer the one that was opened.
	ErrChanged = errors.New("the file has changed since it was opened")
)

// Options of [Open]. Zero fields have the stated defaults.
type Options struct {
	Client *http.Client // http.DefaultClient
	// Header is sent with every request, for example for authorization.
	Header http.Header
	// PageBytes is the unit of reading: 64 KiB.
	PageBytes int
	// CacheBytes is how much is kept: 64 MiB.
	CacheBytes int
	// RequestBytes is the largest size of one request: 8 MiB.
	RequestBytes int
	// Parallel is the number of requests at the same time: 8.
	Parallel int
	// Attempts is how often a request is made until it succeeds: 4.
	Attempts int
	// Pause is the time before the second attempt, which doubles for each further one: 100 ms.
	Pause time.Duration
}

func (o Options) withDefaults() Options {
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	for _, f := range []struct {
		field *int
		value int
	}{{&o.PageBytes, 64 << 10}, {&o.CacheBytes, 64 << 20}, {&o.RequestBytes, 8 << 20}, {&o.Parallel, 8}, {&o.Attempts, 4}} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	if o.Pause <= 0 {
		o.Pause = 100 * time.Millisecond
	}
	return o
}

// File is a file on a server. It is safe for concurrent use and needs no closing.
type File struct {
	opt           Options
	ctx           context.Context // of Open: limits ReadAt, which has none
	url           string
	size          int64
	etag, changed string // the identity of the file

	mu    sync.Mutex
	pages map[int64]*page
	used  int64 // counts uses of pages
}

// page is a cached part of the file.
type page struct {
	data []byte
	used int64
}

var _ tiff.RangeReader = (*File)(nil)

// Open asks for the first page of a file. ctx also ends later calls of ReadAt.
func Open(ctx context.Context, address string, opt Options) (*File, error) {
	if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("remote: open %q: not an address that begins with http:// or https://", address)
	}
	f := &File{opt: opt.withDefaults(), ctx: ctx, url: address, pages: map[int64]*page{}, size: -1}
	data, err := f.request(ctx, 0, int64(f.opt.PageBytes))
	if err != nil {
		return nil, fmt.Errorf("remote: open %s: %w", address, err)
	}
	f.keep(0, data)
	return f, nil
}

// Size returns the size of the file.
func (f *File) Size() int64 { return f.size }

// ReadAt implements [io.ReaderAt].
func (f *File) ReadAt(p []byte, offset int64) (int, error) {
	if offset < 0 || offset >= f.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), f.size-offset))
	if err := f.ReadRanges(f.ctx, []tiff.Range{{Offset: offset, Data: p[:n]}}); err != nil {
		return 0, err
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// ReadRanges implements [tiff.RangeReader].
func (f *File) ReadRanges(ctx context.Context, ranges []tiff.Range) error {
	pageBytes := int64(f.opt.PageBytes)
	have := map[int64][]byte{} // the pages that the ranges need
	var missing []int64
	f.mu.Lock()
	for _, r := range ranges {
		if r.Offset < 0 || int64(len(r.Data)) > f.size-r.Offset {
			f.mu.Unlock()
			return fmt.Errorf("remote: read %s: %d bytes at %d of a file of %d bytes", f.url, len(r.Data), r.Offset, f.size)
		}
		if len(r.Data) == 0 {
			continue
		}
		for i := r.Offset / pageBytes; i <= (r.Offset+int64(len(r.Data))-1)/pageBytes; i++ {
			if _, known := have[i]; known {
				continue
			}
			if p := f.pages[i]; p != nil {
				f.used++
				p.used = f.used
				have[i] = p.data
				continue
			}
			have[i] = nil
			missing = append(missing, i)
		}
	}
	f.mu.Unlock()
	if err := f.load(ctx, missing, have); err != nil {
		return fmt.Errorf("remote: read %s: %w", f.url, err)
	}
	for _, r := range ranges {
		for n := 0; n < len(r.Data); {
			at := r.Offset + int64(n)
			n += copy(r.Data[n:], have[at/pageBytes][at%pageBytes:])
		}
	}
	return nil
}

// load requests pages: neighbours together, and several requests at the same time.
func (f *File) load(ctx context.Context, missing []int64, have map[int64][]byte) error {
	slices.Sort(missing)
	perRequest := max(1, f.opt.RequestBytes/f.opt.PageBytes)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	slots := make(chan struct{}, f.opt.Parallel)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for len(missing) > 0 {
		n := 1
		for n < len(missing) && n < perRequest && missing[n] == missing[n-1]+1 {
			n++
		}
		run := missing[:n]
		missing = missing[n:]
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			data, err := f.request(ctx, run[0]*int64(f.opt.PageBytes), int64(n*f.opt.PageBytes))
			if err != nil {
				cancel(err)
				return
			}
			for _, i := range run {
				size := min(len(data), f.opt.PageBytes)
				part := data[:size:size]
				data = data[size:]
				f.keep(i, part)
				mu.Lock()
				have[i] = part
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// keep caches a page, and forgets those that were not used for the longest time.
func (f *File) keep(i int64, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.used++
	f.pages[i] = &page{data: data, used: f.used}
	limit := max(1, f.opt.CacheBytes/f.opt.PageBytes)
	if len(f.pages) <= limit {
		return
	}
	uses := make([]int64, 0, len(f.pages))
	for _, p := range f.pages {
		uses = append(uses, p.used)
	}
	slices.Sort(uses)
	oldest := uses[len(uses)-max(1, limit*3/4)] // a quarter at a time
	for i, p := range f.pages {
		if p.used < oldest {
			delete(f.pages, i)
		}
	}
}
