//go:build !bootstrap

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"quern.dev/geo/raster"
	"quern.dev/geo/wms"
	"quern.dev/gpu"
	"quern.dev/monitor"
)

// serving holds the options of quern geo serve.
type serving struct {
	listen, url, title, device    string
	systems                       []int
	timeout, maxAge               time.Duration
	cache, pages, blocks          int64
	size, concurrent, jpegQuality int
	exact, asJSON, quiet          bool
}

func geoServeCommand() *cobra.Command {
	var v serving
	cmd := &cobra.Command{
		Use:   "serve DIR|FILE...",
		Short: "Serve images as maps: WMS, WMTS, XYZ tiles",
		Long: `serve is a map server. It reprojects and colors images on the GPU, or on all cores
without one, when a map is asked for.

A file is a layer. In a folder, each image is a layer, and each folder in it: with
a time dimension if all names contain a date, such as 2026-01-31 or 20260131T1200, and
otherwise of all files side by side. A file that cannot be shown is left out with a
warning, and /health names layers without any. Files with overviews (quern geo translate
-of COG) are fast at every scale.

  /                       a page with a map
  /wms                    WMS 1.3.0 and 1.1.1
  /wmts                   WMTS 1.0.0; resources below /wmts/1.0.0/
  /LAYER/{z}/{x}/{y}.png  XYZ tiles, also .png8, .jpg and {y}@2x.png
  /LAYER/tile.json        TileJSON
  /metrics, /health       for Prometheus, and for load balancers

Every request takes BANDS=3,2,1, RESCALE=LOW,HIGH and RAMP=NAME, besides the parameters
of its standard. Ramps: ` + strings.Join(wms.Ramps(), ", ") + `.
They are styles too: STYLES=NAME in WMS, STYLE=NAME in WMTS, either for XYZ tiles.
Layers of heights also have the styles ` + strings.Join(wms.Shadings(), ", ") + `, with
AZIMUTH, ALTITUDE and ZFACTOR.`,
		Example: `  quern geo serve images/
  quern geo serve --listen :8080 --device cuda scene.tif dem.tif`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errUsage{errors.New("no arguments: want folders or files"), cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return v.run(ctx, args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&v.listen, "listen", "127.0.0.1:8080", "address and port; :8080 for all interfaces")
	flags.StringVar(&v.url, "url", "", "address of the server for clients; that of the request if empty")
	flags.StringVar(&v.title, "title", "", "title of the service")
	flags.StringVar(&v.device, "device", "", "device: cuda, cuda:1, cpu or sim; the best one if empty")
	flags.IntSliceVar(&v.systems, "epsg", nil, "codes of more coordinate systems to serve maps in")
	flags.DurationVar(&v.timeout, "timeout", 30*time.Second, "how long a request may take")
	flags.DurationVar(&v.maxAge, "max-age", time.Hour, "how long clients may keep a tile; -1s for not at all")
	flags.Int64Var(&v.cache, "cache", 128, "memory for tiles in MiB; -1 for none")
	flags.Int64Var(&v.pages, "pages", 512, "device memory for colors of images in MiB")
	flags.Int64Var(&v.blocks, "blocks", 256, "memory for decoded blocks in MiB")
	flags.IntVar(&v.size, "max-size", 4096, "width and height of the largest map in pixels")
	flags.IntVar(&v.concurrent, "concurrent", 0, "how many maps are made at a time; two per core if 0")
	flags.IntVar(&v.jpegQuality, "quality", 80, "quality of JPEG, from 1 to 100")
	flags.BoolVar(&v.exact, "exact", false, "compute the exact position of each pixel")
	flags.BoolVar(&v.asJSON, "json", false, "log in JSON")
	flags.BoolVarP(&v.quiet, "quiet", "q", false, "log errors only")
	return cmd
}

func (v *serving) run(ctx context.Context, paths []string, stdout, stderr io.Writer) (err error) {
	layers, err := wms.FindImages(raster.IsImage, paths...)
	if err != nil {
		return err
	}
	dev, err := gpu.Open(gpu.Config{Device: v.device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	options := &slog.HandlerOptions{}
	if v.quiet {
		options.Level = slog.LevelWarn
	}
	var handler slog.Handler = slog.NewTextHandler(stderr, options)
	if v.asJSON {
		handler = slog.NewJSONHandler(stderr, options)
	}
	logger := slog.New(handler)
	megabytes := func(n int64) int64 {
		if n < 0 {
			return -1
		}
		return n << 20
	}
	unusable := func(l wms.Layer, err error) error {
		logger.Warn("not served", "layer", l.Name, "error", err)
		return nil
	}
	s, err := wms.New(dev, wms.Config{Title: v.title, Layers: layers, Open: openRaster, Unusable: unusable, Systems: v.systems, URL: v.url, MaxWidth: v.size, MaxHeight: v.size, Concurrent: v.concurrent,
		Timeout: v.timeout, MaxAge: v.maxAge, TileCache: megabytes(v.cache), PageMemory: megabytes(v.pages), BlockMemory: megabytes(v.blocks),
		Exact: v.exact, Quality: v.jpegQuality, Logger: logger})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	l, err := net.Listen("tcp", v.listen)
	if err != nil {
		return fmt.Errorf("%w; --listen names another address", err)
	}
	v.greet(stdout, l.Addr(), dev, s.Layers())
	return serveUntil(ctx, l, v.handler(s, dev), logger, v.timeout)
}

// handler adds the device's metrics to those of the server.
func (v *serving) handler(s *wms.Server, dev *gpu.Device) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", monitor.Handler(s.WritePrometheus, monitor.Devices(dev)))
	mux.Handle("/", s)
	return mux
}

// greet says where to look.
func (v *serving) greet(w io.Writer, at net.Addr, dev *gpu.Device, names []string) {
	base := v.url
	if base == "" {
		base = "http://" + at.String()
		if a, ok := at.(*net.TCPAddr); ok && a.IP.IsUnspecified() {
			base = fmt.Sprintf("http://localhost:%d", a.Port)
		}
	}
	base = strings.TrimSuffix(base, "/")
	n, first := len(names), names[0]
	if n > 12 {
		names = append(names[:12:12], fmt.Sprintf("and %d more", n-12))
	}
	fmt.Fprintf(w, "%s on %s (%s): %s\n\n", count(n, "layer"), dev.ID(), dev.Name(), strings.Join(names, ", "))
	fmt.Fprintf(w, "  map    %s/\n", base)
	fmt.Fprintf(w, "  WMS    %s/wms?SERVICE=WMS&REQUEST=GetCapabilities\n", base)
	fmt.Fprintf(w, "  WMTS   %s/wmts/1.0.0/WMTSCapabilities.xml\n", base)
	fmt.Fprintf(w, "  XYZ    %s/%s/{z}/{x}/{y}.png\n\nCtrl+C ends the server.\n", base, first)
}

// serveUntil serves until ctx ends, and lets the requests under way finish.
func serveUntil(ctx context.Context, l net.Listener, h http.Handler, logger *slog.Logger, timeout time.Duration) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, WriteTimeout: timeout + 30*time.Second,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn)}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}
