package main

import (
	"flag"
	"fmt"
	"io"

	"quern.dev/gpu"
)

// options are the command-line options.
type options struct {
	in, alerts string
	device     string
	sensors    int
	readings   int64 // 0: endless; negative: depends on the device
	rate       float64
	period     int
	threshold  float64
	seed       uint64
}

// usageError reports a command line that cannot be parsed.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// maxSensors is the maximum number of actors.
const maxSensors = 4096

// parseOptions parses and validates the command line. If it cannot be parsed, it
// prints the error and the usage to stderr.
func parseOptions(args []string, stderr io.Writer) (options, error) {
	var opt options
	f := flag.NewFlagSet("anomaly", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&opt.in, "in", "", "CSV `file` with readings, - for standard input (default: a synthetic stream)")
	f.StringVar(&opt.alerts, "alerts", "", "CSV `file` to write every alert to, - for standard output")
	f.StringVar(&opt.device, "device", "", "`device` to run on: cuda:0, cpu, sim (default: the best one available)")
	f.IntVar(&opt.sensors, "sensors", 32, "number of sensors in the synthetic stream")
	f.Int64Var(&opt.readings, "readings", -1, "number of readings in the synthetic stream, 0 for endless (default: a few seconds' worth)")
	f.Float64Var(&opt.rate, "rate", 200_000, "readings per second in the synthetic stream, 0 for as many as possible")
	f.IntVar(&opt.period, "period", 96, "readings per season of a sensor, 1 if it has no season")
	f.Float64Var(&opt.threshold, "threshold", 5, "distance from the forecast, in standard deviations, above which a reading is an anomaly")
	f.Uint64Var(&opt.seed, "seed", 1, "random seed of the synthetic stream")
	if err := f.Parse(args); err != nil {
		return opt, &usageError{err}
	}
	if f.NArg() > 0 {
		err := fmt.Errorf("unexpected argument %q; use -in to name a file", f.Arg(0))
		fmt.Fprintf(stderr, "anomaly: %v\n", err)
		return opt, &usageError{err}
	}
	return opt, opt.check()
}

// check returns an error for the first option that is out of range. The
// comparisons are false for NaN.
func (opt *options) check() error {
	switch {
	case opt.sensors < 1 || opt.sensors > maxSensors:
		return fmt.Errorf("-sensors %d: want 1 to %d", opt.sensors, maxSensors)
	case opt.readings < -1:
		return fmt.Errorf("-readings %d: want a number of readings, or 0 for an endless stream", opt.readings)
	case !(opt.rate >= 0 && opt.rate <= 1e9):
		return fmt.Errorf("-rate %v: want 0 to 1e9 readings per second", opt.rate)
	case opt.period < 1 || opt.period > maxPeriod:
		return fmt.Errorf("-period %d: want 1 to %d readings, the capacity of a detector", opt.period, maxPeriod)
	case !(opt.threshold > 0 && opt.threshold <= 1e6):
		return fmt.Errorf("-threshold %v: want a number of standard deviations above 0", opt.threshold)
	}
	return nil
}

// setDefaults sets the length of the synthetic stream if the user has not: ten
// seconds; two on the simulator, which interprets every instruction.
func (opt *options) setDefaults(b gpu.Backend) {
	if opt.readings >= 0 {
		return
	}
	opt.readings = 2_000_000
	if b == gpu.Sim {
		opt.sensors, opt.readings = min(opt.sensors, 4), 20_000
	}
}
