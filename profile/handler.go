package profile

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// mostSeconds is the longest recording of a request.
const mostSeconds = 600

// Handler returns a handler that records on request. It belongs beside those of net/http/pprof:
//
//	mux.Handle("/debug/gpu/", profile.Handler())
//
// A path that ends with "profile" returns a profile for go tool pprof, one that ends with "trace"
// JSON for Perfetto, and one that ends with "report" a page with all that was found. The parameter
// seconds is the length of the recording; 5 without it, at most 600. A path that ends with a slash
// returns a page with links; others do not exist.
//
//	go tool pprof http://localhost:6060/debug/gpu/profile?seconds=10
//
// Like those of net/http/pprof, it shows the inside of a program: do not serve it to everyone.
func Handler() http.Handler { return http.HandlerFunc(serve) }

func serve(w http.ResponseWriter, q *http.Request) {
	var write func(*Recording, *bytes.Buffer) error
	var kind, name string
	switch path := q.URL.Path; path[strings.LastIndex(path, "/")+1:] {
	case "profile":
		kind, name = "application/octet-stream", "gpu.pb.gz"
		write = func(r *Recording, b *bytes.Buffer) error { return r.WriteProfile(b) }
	case "trace":
		kind, name = "application/json", "gpu.json"
		write = func(r *Recording, b *bytes.Buffer) error { return r.WriteTrace(b) }
	case "report":
		kind = "text/html; charset=utf-8"
		write = func(r *Recording, b *bytes.Buffer) error { return r.WriteReport(b) }
	case "":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, page)
		return
	default:
		http.Error(w, "want profile, trace or report", http.StatusNotFound)
		return
	}
	seconds := 5.0
	if text := q.FormValue("seconds"); text != "" {
		var err error
		if seconds, err = strconv.ParseFloat(text, 64); err != nil || !(seconds > 0 && seconds <= mostSeconds) {
			http.Error(w, fmt.Sprintf("seconds is %q; want more than 0, at most %d", text, mostSeconds), http.StatusBadRequest)
			return
		}
	}
	// The server's limit for writing a response must not end the recording.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // not every server has one
	r, err := Start(Config{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer r.Stop()
	select {
	case <-time.After(time.Duration(seconds * float64(time.Second))):
	case <-q.Context().Done():
		return
	}
	var b bytes.Buffer
	if err = r.Stop(); err == nil {
		err = write(r, &b)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind)
	if name != "" {
		w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(name))
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Write(b.Bytes()) // the client has gone if this fails
}

const page = `<!DOCTYPE html>
<html lang="en"><title>GPU</title>
<h1>GPU</h1>
<ul>
<li><a href="report?seconds=5">report?seconds=5</a>: timeline, kernels, lines, copies and memory, as a page
<li><a href="profile?seconds=5">profile?seconds=5</a>: time by call stack, for <code>go tool pprof</code>
<li><a href="trace?seconds=5">trace?seconds=5</a>: timeline, for <a href="https://ui.perfetto.dev">Perfetto</a>
</ul>
</html>
`
