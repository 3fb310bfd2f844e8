// Anomaly finds anomalies in a live stream of sensor readings. Each sensor has an actor on the
// device that learns the sensor's normal behavior and reports readings that deviate from it.
// An actor on the host counts these alerts, measures their latency and writes them to a file.
//
//	go run ./examples/anomaly                                     a synthetic stream with known anomalies
//	go run ./examples/anomaly -in readings.csv -alerts alerts.csv
//	tail -n +1 -f readings.csv | go run ./examples/anomaly -in -
//	go run ./examples/anomaly -device cpu -readings 0             until Ctrl-C
//
// The first row of a CSV file names its columns. "sensor" and "value" are required. "anomaly"
// (0 or 1) marks known anomalies, to measure the quality of the alerts. Other columns are
// ignored.
//
// Every reading and every alert is accounted for. The program fails if one is lost.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// Exit codes.
const (
	exitOK = iota
	exitFailed
	exitUsage
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second interrupt kills the program
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run parses the arguments, runs the program and returns its exit code.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	opt, err := parseOptions(args, stderr)
	var usage *usageError
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, &usage):
		return exitUsage // package flag has printed the error and the usage
	}
	if err == nil {
		err = watchStream(ctx, opt, stdin, stdout, stderr)
	}
	if err != nil {
		fmt.Fprintf(stderr, "anomaly: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// watchStream processes the stream until it ends or ctx is canceled, and prints a
// summary.
func watchStream(ctx context.Context, opt options, stdin io.Reader, stdout, stderr io.Writer) (err error) {
	alerts, err := createAlerts(opt.alerts, stdout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, alerts.close()) }()

	dev, err := gpu.Open(gpu.Config{Device: opt.device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	opt.setDefaults(dev.Backend())
	src, err := openSource(opt, stdin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.close()) }()

	rt, err := ring.New(dev, ring.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	m, err := newMonitor(ctx, rt, opt, alerts)
	if err != nil {
		return err
	}
	p := startProgress(stderr, m)
	streamed := m.stream(ctx, src)
	ended := m.end()
	p.end()
	interrupted := errors.Is(streamed, context.Canceled)
	if interrupted {
		streamed = nil
	}
	m.report(stdout, interrupted)
	return errors.Join(streamed, ended, m.account())
}
