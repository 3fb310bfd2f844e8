package main

import (
	"flag"
	"fmt"
	"io"

	"quern.dev/gpu"
)

// options are what the command line says.
type options struct {
	in, alerts string
	device     string
	sensors    int
	readings   int64 // 0: no end; below 0: as many as suit the device
	rate       float64
	period     int
	threshold  float64
	seed       uint64
}

// usageError is a command line that cannot be parsed.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// maxSensors is the number of actors that the program makes, at most.
const maxSensors = 4096

// parseOptions parses and checks the command line. It prints the usage, and
// what is wrong with a command line that it cannot parse, to stderr.
func parseOptions(args []string, stderr io.Writer) (options, error) {
	var opt options
	f := flag.NewFlagSet("anomaly", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&opt.in, "in", "", "CSV `file` with readings, - for the standard input (default: a made-up stream)")
	f.StringVar(&opt.alerts, "alerts", "", "CSV `file` to write every alert to, - for the standard output")
	f.StringVar(&opt.device, "device", "", "`device` to run on: cuda:0, cpu, sim (default: the best there is)")
	f.IntVar(&opt.sensors, "sensors", 32, "sensors of the made-up stream")
	f.Int64Var(&opt.readings, "readings", -1, "readings of the made-up stream, 0 for no end (default: some seconds' worth)")
	f.Float64Var(&opt.rate, "rate", 200_000, "readings a second of the made-up stream, 0 for as many as possible")
	f.IntVar(&opt.period, "period", 96, "readings of a sensor's season, 1 if it has none")
	f.Float64Var(&opt.threshold, "threshold", 5, "standard deviations from the forecast beyond which a reading is strange")
	f.Uint64Var(&opt.seed, "seed", 1, "where the made-up stream begins")
	if err := f.Parse(args); err != nil {
		return opt, &usageError{err}
	}
	if f.NArg() > 0 {
		err := fmt.Errorf("unexpected argument %q; a file is given with -in", f.Arg(0))
		fmt.Fprintf(stderr, "anomaly: %v\n", err)
		return opt, &usageError{err}
	}
	return opt, opt.check()
}

// check reports the first option whose value is out of range. The comparisons
// are false for NaN.
func (opt *options) check() error {
	switch {
	case opt.sensors < 1 || opt.sensors > maxSensors:
		return fmt.Errorf("-sensors %d: want 1 to %d", opt.sensors, maxSensors)
	case opt.readings < -1:
		return fmt.Errorf("-readings %d: want a number of readings, or 0 for no end", opt.readings)
	case !(opt.rate >= 0 && opt.rate <= 1e9):
		return fmt.Errorf("-rate %v: want 0 to 1e9 readings a second", opt.rate)
	case opt.period < 1 || opt.period > maxPeriod:
		return fmt.Errorf("-period %d: want 1 to %d readings, for which a detector has room", opt.period, maxPeriod)
	case !(opt.threshold > 0 && opt.threshold <= 1e6):
		return fmt.Errorf("-threshold %v: want a number of standard deviations above 0", opt.threshold)
	}
	return nil
}

// suit sets how long the made-up stream is, if that is not said: ten seconds; on
// the simulator, which interprets every instruction, two.
func (opt *options) suit(b gpu.Backend) {
	if opt.readings >= 0 {
		return
	}
	opt.readings = 2_000_000
	if b == gpu.Sim {
		opt.sensors, opt.readings = min(opt.sensors, 4), 20_000
	}
}
