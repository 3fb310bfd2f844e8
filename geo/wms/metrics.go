package wms

import (
	"io"
	"net/http"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"quern.dev/internal/prometheus"
)

// limits of the histogram of times, in seconds.
var timeLimits = [...]float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30}

// metrics counts what the server has done.
type metrics struct {
	inFlight, rejected, panics atomic.Int64

	mu    sync.Mutex
	kinds map[kind]*counts
}

// kind is an operation and a status.
type kind struct {
	operation string
	status    int
}

type counts struct {
	requests, bytes int64
	seconds         float64
	buckets         [len(timeLimits)]int64
}

func (m *metrics) add(operation string, status int, took time.Duration, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kinds == nil {
		m.kinds = map[kind]*counts{}
	}
	k := kind{operation, status}
	c := m.kinds[k]
	if c == nil {
		c = new(counts)
		m.kinds[k] = c
	}
	c.requests, c.bytes, c.seconds = c.requests+1, c.bytes+bytes, c.seconds+took.Seconds()
	if i := sort.SearchFloat64s(timeLimits[:], took.Seconds()); i < len(timeLimits) {
		c.buckets[i]++
	}
}

// WritePrometheus writes counts in the text format of Prometheus. It is a source for monitor.Handler.
func (s *Server) WritePrometheus(w io.Writer) error {
	p := prometheus.NewWriter(w)
	gauge := func(name, kind, help string, v float64) {
		p.Family(name, kind, help)
		p.Sample(name, v)
	}
	gauge("quern_wms_layers", "gauge", "Layers that are served.", float64(len(s.order)))
	gauge("quern_wms_layers_missing", "gauge", "Layers that cannot be shown; /health names them.", float64(len(s.missing)))
	gauge("quern_wms_in_flight", "gauge", "Requests under way.", float64(s.metrics.inFlight.Load()))
	gauge("quern_wms_waiting", "gauge", "Requests that wait for a slot.", float64(s.waiting.Load()))
	gauge("quern_wms_rejected_total", "counter", "Requests that got status 503 because too many waited.", float64(s.metrics.rejected.Load()))
	gauge("quern_wms_panics_total", "counter", "Requests that ended in a panic.", float64(s.metrics.panics.Load()))
	hits, misses, kept := s.renderer.Counts()
	gauge("quern_wms_page_hits_total", "counter", "Pages of colors that were in device memory.", float64(hits))
	gauge("quern_wms_page_misses_total", "counter", "Pages of colors that were made.", float64(misses))
	gauge("quern_wms_pages", "gauge", "Pages of colors in device memory.", float64(kept))
	if s.cache != nil {
		hits, misses, kept := s.cache.counts()
		gauge("quern_wms_tile_hits_total", "counter", "Answers from the cache.", float64(hits))
		gauge("quern_wms_tile_misses_total", "counter", "Answers that were made.", float64(misses))
		gauge("quern_wms_tiles", "gauge", "Answers in the cache.", float64(kept))
	}
	s.metrics.write(p)
	return p.Flush()
}

func (m *metrics) write(p *prometheus.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var kinds []kind
	for k := range m.kinds {
		kinds = append(kinds, k)
	}
	sort.Slice(kinds, func(i, j int) bool {
		a, b := kinds[i], kinds[j]
		return a.operation < b.operation || a.operation == b.operation && a.status < b.status
	})
	labels := func(k kind, more ...prometheus.Label) []prometheus.Label {
		return append([]prometheus.Label{{Name: "operation", Value: k.operation}, {Name: "status", Value: strconv.Itoa(k.status)}}, more...)
	}
	p.Family("quern_wms_response_bytes_total", "counter", "Bytes of bodies that were sent.")
	for _, k := range kinds {
		p.Sample("quern_wms_response_bytes_total", float64(m.kinds[k].bytes), labels(k)...)
	}
	const name = "quern_wms_request_seconds"
	p.Family(name, "histogram", "Time from the request to the end of the response.")
	for _, k := range kinds {
		c, sum := m.kinds[k], int64(0)
		for i, n := range c.buckets {
			sum += n
			p.Sample(name+"_bucket", float64(sum), labels(k, prometheus.Label{Name: "le", Value: prometheus.Decimal(timeLimits[i])})...)
		}
		p.Sample(name+"_bucket", float64(c.requests), labels(k, prometheus.Label{Name: "le", Value: "+Inf"})...)
		p.Sample(name+"_sum", c.seconds, labels(k)...)
		p.Sample(name+"_count", float64(c.requests), labels(k)...)
	}
}

func (s *Server) serveMetrics(w http.ResponseWriter) {
	w.Header().Set("Content-Type", prometheus.ContentType)
	w.Header().Set("Cache-Control", "no-store")
	if err := s.WritePrometheus(w); err != nil {
		s.config.Logger.Error("metrics", "error", err)
	}
}
