package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// errPassing is a failure that may not happen again.
type errPassing struct{ error }

func (e errPassing) Unwrap() error { return e.error }

// request gets a range, which ends with the file, with several attempts.
func (f *File) request(ctx context.Context, offset, n int64) ([]byte, error) {
	pause := f.opt.Pause
	for attempt := 1; ; attempt++ {
		data, err := f.attempt(ctx, offset, n)
		var passing errPassing
		if err == nil || !errors.As(err, &passing) || attempt == f.opt.Attempts {
			return data, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, context.Cause(ctx)
		case <-timer.C:
		}
		pause *= 2
	}
}

func (f *File) attempt(ctx context.Context, offset, n int64) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url, nil)
	if err != nil {
		return nil, err
	}
	for name, values := range f.opt.Header {
		req.Header[name] = values
	}
	last := offset + n - 1
	if f.size >= 0 {
		last = min(last, f.size-1)
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, last))
	req.Header.Set("Accept-Encoding", "identity") // ranges of compressed data would be others
	resp, err := f.opt.Client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, errPassing{err}
	}
	defer resp.Body.Close()
	if err := f.check(resp, offset); err != nil {
		return nil, err
	}
	data := make([]byte, min(last+1, f.size)-offset)
	if _, err := io.ReadFull(resp.Body, data); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, errPassing{fmt.Errorf("the response ended early: %w", err)}
	}
	return data, nil
}

// check examines the status and whether the file is still the same. The first response sets
// its identity.
func (f *File) check(resp *http.Response, offset int64) error {
	switch {
	case resp.StatusCode == http.StatusOK:
		return ErrNoRanges
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500:
		return errPassing{fmt.Errorf("the server answers %s", resp.Status)}
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable && f.size >= 0:
		return ErrChanged
	case resp.StatusCode != http.StatusPartialContent:
		return fmt.Errorf("the server answers %s", resp.Status)
	}
	var first, last, size int64
	text := resp.Header.Get("Content-Range")
	if n, _ := fmt.Sscanf(text, "bytes %d-%d/%d", &first, &last, &size); n != 3 || first != offset || size <= offset {
		return fmt.Errorf("the server sends the range %q, where one from byte %d was asked for", text, offset)
	}
	etag, changed := resp.Header.Get("ETag"), resp.Header.Get("Last-Modified")
	if strings.HasPrefix(etag, "W/") {
		etag = "" // weak tags may differ between servers
	}
	if f.size < 0 {
		f.size, f.etag, f.changed = size, etag, changed
		return nil
	}
	if size != f.size || etag != f.etag || changed != f.changed {
		return ErrChanged
	}
	return nil
}
