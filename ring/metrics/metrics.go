// Package metrics serves the metrics of runtimes of actors to Prometheus. It is
// separate from package ring, so that programs without a web server do not link one.
//
//	http.Handle("/metrics", metrics.Handler(rt))
package metrics

import (
	"bytes"
	"net/http"

	"quern.dev/internal/prometheus"
	"quern.dev/ring"
)

// Handler returns an HTTP handler that responds with the output of
// [ring.WritePrometheus]. It is safe for concurrent use, even while runtimes are
// closed.
func Handler(runtimes ...*ring.Runtime) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed; use GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		var text bytes.Buffer
		if err := ring.WritePrometheus(&text, runtimes...); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", prometheus.ContentType)
		_, _ = w.Write(text.Bytes()) // fails only if the client has disconnected
	})
}
