package monitor

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"quern.dev/internal/prometheus"
)

// Source writes metrics in the text format of Prometheus. Each name belongs to one source.
type Source func(w io.Writer) error

// Handler returns an HTTP handler for Prometheus that responds with the output of sources, in
// order. It is safe for concurrent use if the sources are.
//
// A program exports what only it knows together with the state of the machine:
//
//	sampler := monitor.StartSampler(ctx, time.Second)
//	http.Handle("/metrics", monitor.Handler(
//		sampler.WritePrometheus,            // GPUs and CPU, as quern export
//		monitor.Devices(dev),               // launches, copies, memory and pools of this process
//		rt.WritePrometheus,                 // actors and their queues: a *ring.Runtime
//	))
//
// If a source fails, the response is the error with status 500.
func Handler(sources ...Source) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method != http.MethodGet && q.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed; use GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		var text bytes.Buffer
		for _, write := range sources {
			if err := write(&text); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
		}
		w.Header().Set("Content-Type", prometheus.ContentType)
		_, _ = w.Write(text.Bytes()) // fails only if the client has disconnected
	})
}

// Sampler measures the machine in the background, so that a request does not wait for the
// driver. It is safe for concurrent use.
type Sampler struct {
	last  atomic.Pointer[Snapshot]
	first chan struct{} // closed when there is a snapshot, or never will be
}

// StartSampler measures the machine once per interval until ctx ends, as [Sample] does.
func StartSampler(ctx context.Context, interval time.Duration) *Sampler {
	s := &Sampler{first: make(chan struct{})}
	go func() {
		for snapshot := range Sample(ctx, interval) {
			if s.last.Swap(snapshot) == nil {
				close(s.first)
			}
		}
		if s.last.Load() == nil {
			close(s.first)
		}
	}()
	return s
}

// Last returns the last snapshot. It waits for the first one, and returns nil if ctx ended
// before it.
func (s *Sampler) Last() *Snapshot {
	<-s.first
	return s.last.Load()
}

// WritePrometheus writes the last snapshot; see [Snapshot.WritePrometheus]. It waits for the
// first one.
func (s *Sampler) WritePrometheus(w io.Writer) error {
	last := s.Last()
	if last == nil {
		return errClosed
	}
	return last.WritePrometheus(w)
}
