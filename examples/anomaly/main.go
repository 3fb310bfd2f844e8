// Anomaly watches a live stream of sensor readings. Each sensor has an actor on
// the device, which learns what the sensor's readings are like and tells of those
// that are not like it; an actor on the host counts, times and writes down what they
// tell.
//
//	go run ./examples/anomaly                                     a made-up stream, with anomalies that are known
//	go run ./examples/anomaly -in readings.csv -alerts alerts.csv
//	tail -n +1 -f readings.csv | go run ./examples/anomaly -in -
//	go run ./examples/anomaly -device cpu -readings 0             until Ctrl-C
//
// The first row of a CSV file names its columns. "sensor" and "value" have to be
// there; "anomaly" (0 or 1) is the truth to compare with; others are not read.
//
// Every reading and every alert is accounted for: the program fails if one is lost.
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
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program.
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

// watchStream watches the stream to its end, or until ctx is cancelled, and prints
// a summary.
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
	opt.suit(dev.Backend())
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
