// Command libs measures the libraries and compares them with CuPy and torch in the same run.
//
//	CGO_ENABLED=0 go build -o .gpu/bench-libs ./bench/libs
//	.gpu/bench-libs [-device cuda] [-vendor] [library ...]
//
// The peers run as separate python3 programs if Python has them. With -vendor, blas, fft and
// sparse are measured a second time, on cuBLASLt, cuFFT and cuSPARSE through package cudalib;
// this needs no Python.
package main

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"quern.dev/cudalib"
	"quern.dev/gpu"
)

// library measures one library.
type library struct {
	name string
	run  func(ctx context.Context, dev *gpu.Device) error
}

var libraries []library

// register adds a library. Each file of the package registers one.
func register(name string, run func(ctx context.Context, dev *gpu.Device) error) {
	libraries = append(libraries, library{name, run})
}

func main() {
	log.SetFlags(0)
	device := flag.String("device", "", "the device; the best one by default")
	flag.BoolVar(&withVendor, "vendor", false, "measure cuBLASLt, cuFFT and cuSPARSE beside Quern's kernels")
	flag.BoolVar(&withPeers, "peers", true, "measure CuPy and torch, too")
	flag.Parse()
	dev, err := gpu.Open(gpu.Config{Device: *device})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(dev.Name())
	if withVendor {
		for _, l := range cudalib.Libraries(dev) {
			fmt.Println(l.Name, l.Version, l.Path)
			if l.Err != nil {
				fmt.Println(l.Err)
			}
		}
	}
	for _, l := range libraries {
		if flag.NArg() == 0 || slices.Contains(flag.Args(), l.name) {
			fmt.Printf("\n%s\n", l.name)
			err = errors.Join(err, l.run(context.Background(), dev))
		}
	}
	if err := errors.Join(err, dev.Close()); err != nil {
		log.Fatal(err)
	}
}

// measure returns the shortest time in seconds of the work that submit adds to the stream:
// of seven samples of at least 20 ms each.
func measure(ctx context.Context, s *gpu.Stream, submit func() error) (seconds float64, err error) {
	start, err := s.Device().NewEvent()
	if err != nil {
		return 0, err
	}
	defer start.Close()
	end, err := s.Device().NewEvent()
	if err != nil {
		return 0, err
	}
	defer end.Close()
	sample := func(times int) (time.Duration, error) {
		if err := s.Record(start); err != nil {
			return 0, err
		}
		for range times {
			if err := submit(); err != nil {
				return 0, err
			}
		}
		if err := s.Record(end); err != nil {
			return 0, err
		}
		if err := s.Synchronize(ctx); err != nil {
			return 0, err
		}
		return gpu.Elapsed(start, end)
	}
	if _, err := sample(3); err != nil { // loads kernels, fills the pool
		return 0, err
	}
	one, err := sample(3)
	if err != nil {
		return 0, err
	}
	times := 1 + int(20*time.Millisecond/max(one/3, time.Microsecond))
	best := math.Inf(1)
	for range 7 {
		d, err := sample(times)
		if err != nil {
			return 0, err
		}
		best = min(best, d.Seconds()/float64(times))
	}
	return best, nil
}

// withVendor and withPeers say what is compared.
var withVendor, withPeers bool

// vendorHeader heads the columns of vendor.
func vendorHeader() string {
	if !withVendor {
		return ""
	}
	return fmt.Sprintf(" %10s %8s", "vendor us", "relative")
}

// vendor measures again with the vendor's libraries on the default stream, if that is asked
// for, and returns two columns: the time, and the time divided by Quern's.
func vendor(dev *gpu.Device, own float64, run func() (seconds float64, err error)) string {
	if !withVendor {
		return ""
	}
	s := dev.DefaultStream()
	if err := cudalib.Use(s, cudalib.Vendor); err != nil {
		return " " + err.Error()
	}
	defer cudalib.Use(s, cudalib.Quern)
	seconds, err := run()
	if err != nil {
		return " " + err.Error()
	}
	return fmt.Sprintf(" %10.1f %8.2f", seconds*1e6, seconds/own)
}

//go:embed *.py
var scripts embed.FS

// peer runs one of the package's Python programs and returns the figures that it prints,
// one JSON object {"name": value, ...} per line. The error says if Python or a library is
// missing.
func peer(ctx context.Context, script string) (map[string]float64, error) {
	if !withPeers {
		return nil, errors.New("-peers=false")
	}
	source, err := scripts.ReadFile(script)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "python3", "-")
	cmd.Stdin = strings.NewReader(string(source))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", script, err)
	}
	figures := make(map[string]float64)
	for line := range strings.Lines(string(out)) {
		if err := json.Unmarshal([]byte(line), &figures); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", script, line, err)
		}
	}
	return figures, nil
}
