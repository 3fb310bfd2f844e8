package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"quern.dev/geo/tiff"
	"quern.dev/geo/tiff/remote"
)

// cog returns a COG of 2000 x 1500 pixels and its pixels.
func cog(t testing.TB) (file, pixels []byte) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "image.tif")
	h := tiff.Header{Width: 2000, Height: 1500, Bands: 1, Type: tiff.Uint8, Photometric: tiff.MinIsBlack}
	pixels = make([]byte, h.Width*h.Height)
	for i := range pixels {
		pixels[i] = byte(i*i>>8 + i>>11)
	}
	w, err := tiff.Create(name, h, tiff.Options{COG: true, BlockWidth: 128, BlockHeight: 128})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRows(context.Background(), tiff.Rows{Pixels: pixels}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if file, err = os.ReadFile(name); err != nil {
		t.Fatal(err)
	}
	return file, pixels
}

// server serves a file with ranges, and counts requests and bytes.
type server struct {
	*httptest.Server
	requests, sent atomic.Int64
}

type counter struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c counter) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}

func serve(t testing.TB, file func() []byte, before func(n int64, w http.ResponseWriter, r *http.Request) bool) *server {
	s := new(server)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := s.requests.Add(1)
		if before != nil && before(n, w, r) {
			return
		}
		b := file()
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(b)))
		http.ServeContent(counter{w, &s.sent}, r, "image.tif", time.Time{}, bytes.NewReader(b))
	}))
	t.Cleanup(s.Close)
	return s
}

func TestAFewTilesNeedAFewRequests(t *testing.T) {
	file, pixels := cog(t)
	s := serve(t, func() []byte { return file }, nil)
	ctx := context.Background()
	f, err := remote.Open(ctx, s.URL, remote.Options{PageBytes: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	image, err := tiff.NewFile(f, f.Size(), tiff.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if n := s.requests.Load(); n > 2 {
		t.Errorf("opening took %d requests", n)
	}
	r := tiff.Region{X: 700, Y: 500, Width: 256, Height: 256}
	for range 2 { // the second time, all is cached
		got, err := tiff.Read[uint8](ctx, image.Image(), r)
		if err != nil {
			t.Fatal(err)
		}
		for y := range r.Height {
			if at := (y+r.Y)*2000 + r.X; !bytes.Equal(got[y*r.Width:][:r.Width], pixels[at:][:r.Width]) {
				t.Fatalf("row %d differs", y)
			}
		}
	}
	if n := s.requests.Load(); n > 6 {
		t.Errorf("%d requests for 9 tiles", n)
	}
	if sent := s.sent.Load(); sent > int64(len(file))/2 {
		t.Errorf("%d of %d bytes were sent", sent, len(file))
	}
}

func TestTheWholeFileIsReadInLargeRequestsAndASmallCache(t *testing.T) {
	file, pixels := cog(t)
	s := serve(t, func() []byte { return file }, nil)
	ctx := context.Background()
	f, err := remote.Open(ctx, s.URL, remote.Options{PageBytes: 4 << 10, CacheBytes: 40 << 10, RequestBytes: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	image, err := tiff.NewFile(f, f.Size(), tiff.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := tiff.Read[uint8](ctx, image.Image(), image.Image().All())
	if err != nil || !bytes.Equal(got, pixels) {
		t.Fatalf("the pixels differ: %v", err)
	}
	if n, most := s.requests.Load(), int64(len(file)/(256<<10)+8); n > most {
		t.Errorf("%d requests; %d would do", n, most)
	}
	all, err := io.ReadAll(io.NewSectionReader(f, 0, f.Size()))
	if err != nil || !bytes.Equal(all, file) {
		t.Errorf("ReadAt differs: %v", err)
	}
}

func TestFailuresThatPassAreRepeated(t *testing.T) {
	file, _ := cog(t)
	s := serve(t, func() []byte { return file }, func(n int64, w http.ResponseWriter, r *http.Request) bool {
		switch n % 3 {
		case 1:
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return true
		case 2: // a response that ends early
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-99/%d", len(file)))
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(file)))
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(file[:10])
			return true
		}
		return false
	})
	f, err := remote.Open(context.Background(), s.URL, remote.Options{Pause: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	if f.Size() != int64(len(file)) {
		t.Errorf("size %d", f.Size())
	}
}

func TestFailuresAreErrors(t *testing.T) {
	file, _ := cog(t)
	changed := false
	current := func() []byte {
		if changed {
			return file[:len(file)-1]
		}
		return file
	}
	ctx := context.Background()
	quick := remote.Options{Pause: time.Microsecond, PageBytes: 4096}
	t.Run("a file that changes", func(t *testing.T) {
		s := serve(t, current, nil)
		f, err := remote.Open(ctx, s.URL, quick)
		if err != nil {
			t.Fatal(err)
		}
		changed = true
		if _, err := f.ReadAt(make([]byte, 10), 100000); !errors.Is(err, remote.ErrChanged) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a server without ranges", func(t *testing.T) {
		s := serve(t, current, func(_ int64, w http.ResponseWriter, _ *http.Request) bool {
			_, _ = w.Write(file)
			return true
		})
		if _, err := remote.Open(ctx, s.URL, quick); !errors.Is(err, remote.ErrNoRanges) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a file that is not there", func(t *testing.T) {
		s := serve(t, current, func(_ int64, w http.ResponseWriter, r *http.Request) bool {
			http.NotFound(w, r)
			return true
		})
		if _, err := remote.Open(ctx, s.URL, quick); err == nil || s.requests.Load() != 1 {
			t.Errorf("error %v after %d requests", err, s.requests.Load())
		}
	})
	t.Run("a server that is always busy", func(t *testing.T) {
		s := serve(t, current, func(_ int64, w http.ResponseWriter, r *http.Request) bool {
			http.Error(w, "busy", http.StatusBadGateway)
			return true
		})
		if _, err := remote.Open(ctx, s.URL, quick); err == nil || s.requests.Load() != 4 {
			t.Errorf("error %v after %d requests", err, s.requests.Load())
		}
	})
	t.Run("a cancelled context", func(t *testing.T) {
		s := serve(t, current, nil)
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := remote.Open(cancelled, s.URL, quick); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a path instead of an address", func(t *testing.T) {
		if _, err := remote.Open(ctx, "/tmp/image.tif", quick); err == nil {
			t.Error("no error")
		}
	})
}
