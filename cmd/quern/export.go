package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"quern.dev/monitor"
)

func exportCommand() *cobra.Command {
	listen, interval := ":9400", time.Second
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Serve metrics of the GPUs to Prometheus",
		Long: `export serves http://HOST:9400/metrics, with the state of all GPUs of this machine.
Names and labels are those of NVIDIA's DCGM exporter, so its dashboards work; what
DCGM has no name for, and the CPU, begins with quern_. docs/grafana.json is a
dashboard.

The GPUs are read once per --interval, in the background, so a request does not
wait for the driver. Without a GPU, export says why there is none and serves the
CPU. Launches, copies, pools and actors are known to the program that has them: it
exports them with package quern.dev/monitor (monitor.Handler).

The server has no authentication. --listen 127.0.0.1:9400 serves this machine only.`,
		Example: `  quern export
  quern export --listen 127.0.0.1:9401 --interval 5s`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkInterval(interval); err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			return export(ctx, cmd.ErrOrStderr(), listen, interval)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", listen, "address to serve, as HOST:PORT or :PORT")
	cmd.Flags().DurationVar(&interval, "interval", interval, "time between two readings")
	return cmd
}

// export serves metrics until ctx ends.
func export(ctx context.Context, messages io.Writer, address string, interval time.Duration) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return listenError(address, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sampler := monitor.StartSampler(ctx, interval)
	first := sampler.Last()
	if first == nil { // ctx has ended
		return l.Close()
	}
	announce(messages, l.Addr(), first)

	mux := http.NewServeMux()
	mux.Handle("/metrics", monitor.Handler(sampler.WritePrometheus))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, indexPage) // fails only if the client has disconnected
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, WriteTimeout: 30 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("export: %w", err)
	case <-ctx.Done():
	}
	end, cancelEnd := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancelEnd()
	if err := server.Shutdown(end); err != nil {
		return server.Close()
	}
	return nil
}

const indexPage = `<!DOCTYPE html>
<html lang="en"><title>quern export</title>
<h1>quern export</h1>
<p><a href="metrics">metrics</a> for Prometheus
</html>
`

// announce says what is served.
func announce(w io.Writer, at net.Addr, s *monitor.Snapshot) {
	fmt.Fprintf(w, "quern export: serving http://%s/metrics with %d GPUs\n", at, len(s.GPUs))
	var none *monitor.UnavailableError
	if errors.As(s.Err, &none) {
		fmt.Fprintf(w, "quern export: no NVIDIA GPU: %v; %s. Serving the CPU.\n", none.Err, none.Advice())
	}
}

// listenError says what to do about an address that cannot be served.
func listenError(address string, err error) error {
	advice := "want HOST:PORT or :PORT"
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		advice = "another program, perhaps the DCGM exporter, uses the port; choose another one with --listen"
	case errors.Is(err, syscall.EACCES):
		advice = "this user may not use the port; choose one above 1023 with --listen"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		advice = "the address is not one of this machine"
	}
	return fmt.Errorf("export: listen on %s: %w; %s", address, err, advice)
}
