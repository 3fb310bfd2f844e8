package wms

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"quern.dev/geo/tiff"
	"quern.dev/geo/wms/internal/render"
	"quern.dev/gpu"
)

// Config says what a server serves. Zero fields have the stated defaults.
type Config struct {
	Title, Abstract string
	Layers          []Layer
	// Open opens the files of layers, and its errors name the file: tiff.Open by default. With raster.Open of package quern.dev/geo/raster, they may have other
	// formats.
	Open func(name string) (*tiff.File, error)
	// Unusable, if it is not nil, is called with the error of a file or a layer that cannot be shown, once for each. If it returns nil, the
	// file is left out, or the layer; an error that it returns ends New. If Unusable is nil, every error does. It is an error if no
	// layer is left.
	Unusable func(l Layer, err error) error
	// Systems are EPSG codes of coordinate systems of maps, besides 3857, 4326 and those of the layers.
	Systems []int
	// URL is the server's address for clients, such as https://maps.example.com/geo. By default it is that of the
	// request.
	URL string

	// MaxWidth and MaxHeight are the size of the largest map: 4096.
	MaxWidth, MaxHeight int
	// Concurrent is how many maps are made at a time: two per core. Queue is how many more may wait: 64 times that.
	// Further ones get status 503.
	Concurrent, Queue int
	// Timeout is how long a request may take: 30 s.
	Timeout time.Duration
	// MaxAge is how long clients and proxies may keep a tile: 1 hour; none if it is negative.
	MaxAge time.Duration
	// TileCache is how many bytes of answers are kept: 128 MiB; none if it is negative.
	TileCache int64
	// PageMemory is how many bytes of colors are kept on the device: 512 MiB.
	PageMemory int64
	// BlockMemory is how many bytes of decoded blocks of files are kept: 256 MiB.
	BlockMemory int64
	// Exact computes the position of each pixel; see the package comment.
	Exact bool
	// Quality of JPEG, from 1 to 100: 80.
	Quality int
	// Logger gets a line per request, at the level Info, and errors; none if it is nil.
	Logger *slog.Logger
}

func (c *Config) complete() {
	if c.Open == nil {
		c.Open = tiff.Open
	}
	if c.Unusable == nil {
		c.Unusable = func(_ Layer, err error) error { return err }
	}
	c.Title = cmp.Or(c.Title, "Quern maps")
	c.MaxWidth, c.MaxHeight = cmp.Or(c.MaxWidth, 4096), cmp.Or(c.MaxHeight, 4096)
	c.Concurrent = cmp.Or(c.Concurrent, 2*runtime.GOMAXPROCS(0))
	c.Queue = cmp.Or(c.Queue, 64*c.Concurrent)
	c.Timeout = cmp.Or(c.Timeout, 30*time.Second)
	c.MaxAge = cmp.Or(c.MaxAge, time.Hour)
	c.TileCache = cmp.Or(c.TileCache, 128<<20)
	c.Quality = cmp.Or(c.Quality, 80)
	c.URL = strings.TrimSuffix(c.URL, "/")
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// Server is an HTTP handler; see the package comment for its paths. It is safe for concurrent use.
type Server struct {
	config   Config
	renderer *render.Renderer
	layers   map[string]*layer
	order    []*layer
	missing  []string // names of layers that cannot be shown
	systems  []*system
	cache    *tileCache // or nil
	slots    chan struct{}
	waiting  atomic.Int64
	metrics  metrics
	version  string // of the capabilities: the time when the server started, so that later ones are greater
}

// Layers returns the names of the layers that are served, in the order of Config.Layers.
func (s *Server) Layers() []string {
	names := make([]string, len(s.order))
	for i, l := range s.order {
		names[i] = l.Name
	}
	return names
}

// New opens the files of the layers. The device must stay open until Close.
func New(dev *gpu.Device, c Config) (*Server, error) {
	c.complete()
	if len(c.Layers) == 0 {
		return nil, failf(ErrConfig, "a layer is required")
	}
	if c.MaxWidth < 1 || c.MaxHeight < 1 || c.MaxWidth > 1<<14 || c.MaxHeight > 1<<14 || c.Concurrent < 1 || c.Queue < 0 || c.Timeout < 0 || c.Quality < 1 || c.Quality > 100 {
		return nil, failf(ErrConfig, "a limit is out of range: maps have up to 16384 x 16384 pixels, and JPEG a quality from 1 to 100")
	}
	s := &Server{config: c, layers: map[string]*layer{}, slots: make(chan struct{}, c.Concurrent), version: formatTime(time.Now().UTC().Truncate(time.Second))}
	if c.TileCache > 0 {
		s.cache = newTileCache(c.TileCache)
	}
	err := s.addSystems(append([]int{3857, 4326}, c.Systems...)...)
	if err == nil {
		s.renderer, err = render.New(dev, render.Options{Pages: c.PageMemory, Blocks: c.BlockMemory, Lanes: c.Concurrent})
	}
	if err == nil {
		err = s.open()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// open opens the layers. Those that cannot be shown are left out, unless Config.Unusable has another opinion.
func (s *Server) open() error {
	var reasons []error
	for _, config := range s.config.Layers {
		if s.layers[config.Name] != nil {
			return failf(ErrConfig, "two layers have the name %s", config.Name)
		}
		var end error
		unusable := func(_ Layer, err error) error {
			reasons = append(reasons, err)
			end = s.config.Unusable(config, err)
			return end
		}
		l, err := openLayer(config, s.config.Open, unusable)
		if err == nil && l != nil {
			err = s.check(l)
		}
		switch {
		case err != nil:
			if l != nil {
				err = errors.Join(err, l.close())
			}
			if end != nil || unusable(config, err) != nil {
				return end
			}
			s.missing = append(s.missing, config.Name)
		case l == nil:
			s.missing = append(s.missing, config.Name)
		default:
			s.order = append(s.order, l)
			s.layers[l.Name] = l
		}
	}
	if len(s.order) == 0 {
		return errors.Join(failf(ErrConfig, "no layer can be shown"), errors.Join(reasons...))
	}
	return nil
}

// addSystems adds the systems of EPSG codes, unless they are there.
func (s *Server) addSystems(codes ...int) error {
	for _, code := range codes {
		if slices.ContainsFunc(s.systems, func(known *system) bool { return known.crs.Code() == code }) {
			continue
		}
		system, err := newSystem(code)
		if err != nil {
			return err
		}
		s.systems = append(s.systems, system)
	}
	return nil
}

// check gives a layer the renderer, and finds out before the first request that it cannot be drawn.
func (s *Server) check(l *layer) error {
	l.renderer = s.renderer
	k, err := l.look(Rendering{})
	if err != nil {
		return err
	}
	for _, f := range l.frames {
		_, err := k.viewsOf(f, s.systems[0])
		if err = errors.Join(err, k.drawn()); err != nil {
			return fmt.Errorf("wms: layer %s: %w", l.Name, err)
		}
	}
	if l.own == nil {
		return nil
	}
	return s.addSystems(l.own.Code())
}

// Close closes the files and frees the memory. No request may be under way: shut the HTTP server down first.
func (s *Server) Close() error {
	var errs []error
	if s.renderer != nil {
		errs = append(errs, s.renderer.Close())
	}
	for _, l := range s.order {
		errs = append(errs, l.close())
	}
	s.order = nil
	return errors.Join(errs...)
}

// recorder remembers the status and the size of a response.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	begin := time.Now()
	out := &recorder{ResponseWriter: w}
	operation := "other"
	s.metrics.inFlight.Add(1)
	defer func() {
		if v := recover(); v != nil {
			if v == http.ErrAbortHandler {
				panic(v)
			}
			s.metrics.panics.Add(1)
			s.config.Logger.Error("panic", "url", q.URL.String(), "value", v, "stack", string(debug.Stack()))
			if out.status == 0 {
				http.Error(out, "internal error", http.StatusInternalServerError)
			}
		}
		took := time.Since(begin)
		s.metrics.inFlight.Add(-1)
		s.metrics.add(operation, out.status, took, out.bytes)
		if s.config.Logger.Enabled(q.Context(), slog.LevelInfo) {
			s.config.Logger.LogAttrs(q.Context(), slog.LevelInfo, "request", slog.String("operation", operation), slog.String("method", q.Method), slog.String("url", q.URL.RequestURI()),
				slog.Int("status", out.status), slog.Int64("bytes", out.bytes), slog.Duration("took", took), slog.String("remote", q.RemoteAddr))
		}
	}()
	header := out.Header()
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("X-Content-Type-Options", "nosniff")
	switch q.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		header.Set("Access-Control-Allow-Methods", "GET, HEAD")
		out.WriteHeader(http.StatusNoContent)
		return
	default:
		header.Set("Allow", "GET, HEAD, OPTIONS")
		http.Error(out, "method not allowed; use GET or HEAD", http.StatusMethodNotAllowed)
		return
	}
	ctx, cancel := context.WithTimeoutCause(q.Context(), s.config.Timeout, errTimeout)
	defer cancel()
	operation = s.route(out, q.WithContext(ctx))
}

var (
	errTimeout = errors.New("the request took too long")
	errBusy    = errors.New("the server has too many requests")
)

// route serves a path and returns the name of the operation.
func (s *Server) route(w http.ResponseWriter, q *http.Request) string {
	parts := strings.Split(strings.Trim(q.URL.Path, "/"), "/")
	switch {
	case parts[0] == "":
		s.servePage(w, q)
		return "page"
	case parts[0] == "wms" && len(parts) == 1:
		return s.serveWMS(w, q)
	case parts[0] == "wmts":
		return s.serveWMTS(w, q, parts[1:])
	case parts[0] == "metrics" && len(parts) == 1:
		s.serveMetrics(w)
		return "metrics"
	case parts[0] == "health" && len(parts) == 1:
		s.serveHealth(w)
		return "health"
	case parts[0] == "layers.json" && len(parts) == 1:
		s.serveLayers(w, q)
		return "layers"
	case len(parts) == 2 && parts[1] == "tile.json":
		s.serveTileJSON(w, q, parts[0])
		return "tilejson"
	case len(parts) == 4:
		s.serveXYZ(w, q, parts)
		return "tile"
	}
	http.NotFound(w, q)
	return "other"
}

// serveHealth says that the server lives, and which layers it does not show; the reasons went to Config.Unusable.
func (s *Server) serveHealth(w http.ResponseWriter) {
	text := "ok\n"
	for _, name := range s.missing {
		text += "not shown: " + name + "\n"
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, text) // fails only if the client has disconnected
}

// enter waits for a slot to make a map, and returns how to leave it.
func (s *Server) enter(ctx context.Context) (leave func(), err error) {
	select {
	case s.slots <- struct{}{}:
		return s.leave, nil
	default:
	}
	if s.waiting.Add(1) > int64(s.config.Queue) {
		s.waiting.Add(-1)
		s.metrics.rejected.Add(1)
		return nil, errBusy
	}
	defer s.waiting.Add(-1)
	select {
	case s.slots <- struct{}{}:
		return s.leave, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *Server) leave() { <-s.slots }

// exceptionOf makes an exception of an error.
func exceptionOf(err error) *Exception {
	var e *Exception
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, errBusy):
		return &Exception{Code: codeNone, Text: "the server is busy; try again", status: http.StatusServiceUnavailable, cause: err}
	case errors.Is(err, errTimeout), errors.Is(err, context.DeadlineExceeded):
		return &Exception{Code: codeNone, Text: "the request took too long; ask for a smaller map", status: http.StatusServiceUnavailable, cause: err}
	case errors.Is(err, context.Canceled):
		return &Exception{Code: codeNone, Text: "the request was canceled", status: statusClosed, cause: err}
	}
	return &Exception{Code: codeNone, Text: "the map could not be made; the server's log says why", status: http.StatusInternalServerError, cause: err}
}

// statusClosed is the status in logs of requests whose client has left.
const statusClosed = 499

// base returns the address of the server for clients.
func (s *Server) base(q *http.Request) string {
	if s.config.URL != "" {
		return s.config.URL
	}
	scheme := "http"
	if q.TLS != nil {
		scheme = "https"
	}
	if p := q.Header.Get("X-Forwarded-Proto"); p == "http" || p == "https" {
		scheme = p
	}
	return scheme + "://" + q.Host
}

// answerWith sends an answer that clients may keep. tag identifies it.
func (s *Server) answerWith(w http.ResponseWriter, q *http.Request, a answer, tag string) {
	h := w.Header()
	h.Set("Content-Type", a.kind)
	if tag != "" {
		h.Set("ETag", tag)
		s.setAge(h)
	}
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	if q.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(a.body) // fails only if the client has disconnected
}

func (s *Server) setAge(h http.Header) {
	if s.config.MaxAge < 0 {
		h.Set("Cache-Control", "no-cache")
		return
	}
	h.Set("Cache-Control", "public, max-age="+strconv.Itoa(int(s.config.MaxAge.Seconds())))
}

// unchanged answers a request whose client has the answer already.
func (s *Server) unchanged(w http.ResponseWriter, q *http.Request, tag string) bool {
	have := q.Header.Get("If-None-Match")
	if have == "" {
		return false
	}
	for _, t := range strings.Split(have, ",") {
		if t = strings.TrimSpace(t); strings.TrimPrefix(t, "W/") == tag || t == "*" {
			w.Header().Set("ETag", tag)
			s.setAge(w.Header())
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}
