// Package record runs a program with a recording, for commands that report on it.
package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"quern.dev/internal/driver/sim"
	"quern.dev/internal/ptxvm"
	"quern.dev/internal/report"
	"quern.dev/internal/sampling"
	"quern.dev/internal/trace"
)

// Options say what to run.
type Options struct {
	Args           []string // the program and its arguments
	Env            []string // in addition to the environment
	Sample         bool     // record a sample if there are very many operations
	Count          bool     // count what kernels do on the simulator
	Lines          bool     // sample what warps do on GPUs
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Result is what a program did.
type Result struct {
	Recording *report.Recording
	CPU       []report.CPUSample
	CPUNote   string // why CPU is empty, or ""
	Counts    []ptxvm.KernelCount
	Samples   *sampling.Samples // nil if no GPU was sampled
	Failure   error             // how the program failed, or nil
	sources   report.Sources
}

// stopTime is how long an interrupted program may take to end.
const stopTime = 10 * time.Second

// Run runs a program until it ends. If ctx ends, the program is interrupted. An error means
// that there is no recording; a program that fails leaves one.
func Run(ctx context.Context, o Options) (*Result, error) {
	dir, err := os.MkdirTemp("", "quern-record-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	recording, counts, samples := filepath.Join(dir, "recording"), filepath.Join(dir, "counts.json"), filepath.Join(dir, "samples.json")

	cmd := exec.CommandContext(ctx, o.Args[0], o.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.Stdin, o.Stdout, o.Stderr
	cmd.Env = append(os.Environ(), o.Env...)
	cmd.Env = append(cmd.Env, trace.RecordVariable+"="+recording)
	if !o.Sample {
		cmd.Env = append(cmd.Env, trace.AllVariable+"=1")
	}
	if o.Count {
		cmd.Env = append(cmd.Env, sim.CountVariable+"="+counts)
	}
	if o.Lines {
		cmd.Env = append(cmd.Env, sampling.Variable+"="+samples)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopTime
	r := &Result{}
	if err := cmd.Run(); err != nil {
		if cmd.Process == nil {
			return nil, err // it did not start
		}
		r.Failure = fmt.Errorf("%s: %w", o.Args[0], err)
	}

	if r.Recording, err = report.ReadFiles(recording); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = fmt.Errorf("%s opened no device of quern.dev/gpu, so nothing was recorded", o.Args[0])
		}
		return nil, errors.Join(err, r.Failure)
	}
	if r.CPU, err = readCPU(recording); err != nil {
		r.CPUNote = "there is no profile of the CPU: " + err.Error()
	}
	if text, err := os.ReadFile(counts); err == nil {
		var c sim.Counts
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, fmt.Errorf("read counts: %w", err)
		}
		for _, k := range c.Kernels {
			if k.Launches > 0 {
				r.Counts = append(r.Counts, k)
			}
		}
	}
	if text, err := os.ReadFile(samples); err == nil {
		r.Samples = new(sampling.Samples)
		if err := json.Unmarshal(text, r.Samples); err != nil {
			return nil, fmt.Errorf("read samples: %w", err)
		}
	}
	r.sources = report.NewSources(r.Recording)
	FindSources(ctx, r.sources, r.Counts)
	if r.Samples != nil {
		findSources(ctx, r.sources, func(yield func(kernel, file string)) {
			for _, k := range r.Samples.Kernels {
				for _, l := range k.Lines {
					yield(k.Name, l.File)
				}
			}
		})
	}
	return r, nil
}

// Input returns what a report is made of.
func (r *Result) Input() report.Input {
	in := report.Input{Recording: r.Recording, CPU: r.CPU, CPUNote: r.CPUNote, Counts: r.Counts, Sources: r.sources}
	if r.Failure != nil {
		in.Exit = "The program failed: " + r.Failure.Error()
	}
	return in
}

// readCPU reads the files of a profile of the CPU. Those that are not complete are left out.
func readCPU(recording string) ([]report.CPUSample, error) {
	var list []report.CPUSample
	var failed error
	for n := 0; ; n++ {
		f, err := os.Open(trace.CPUProfile(recording, n))
		if err != nil {
			if n == 0 {
				failed = errors.New("the program has its own, or has just ended")
			}
			break
		}
		p, err := profile.Parse(f)
		f.Close()
		if err != nil {
			failed = errors.New("the program was killed, ended without closing its device, or closed it at once")
			continue
		}
		for _, s := range p.Sample {
			c := report.CPUSample{Nanoseconds: s.Value[len(s.Value)-1]}
			for _, l := range s.Location {
				for _, line := range l.Line {
					if line.Function != nil {
						c.Stack = append(c.Stack, report.Frame{Function: line.Function.Name, File: line.Function.Filename, Line: int(line.Line)})
					}
				}
			}
			list = append(list, c)
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	return nil, failed
}

// FindSources asks the go command where the packages of kernels are that the recording does not
// place. Without it, listings have no source.
func FindSources(ctx context.Context, s report.Sources, counts []ptxvm.KernelCount) {
	findSources(ctx, s, func(yield func(kernel, file string)) {
		for _, k := range counts {
			for _, l := range k.Lines {
				yield(k.Name, l.File)
			}
		}
	})
}

// findSources does the same for the files of kernels.
func findSources(ctx context.Context, s report.Sources, files func(yield func(kernel, file string))) {
	missing := map[string]bool{}
	files(func(kernel, file string) {
		pkg := report.KernelPackage(kernel)
		if slash := strings.LastIndexByte(file, '/'); slash >= 0 {
			pkg = file[:slash]
		}
		if file != "" && pkg != "" && !missing[pkg] && s.Find(pkg, file) == "" {
			missing[pkg] = true
		}
	})
	if len(missing) == 0 {
		return
	}
	args := append([]string{"list", "-e", "-f", "{{.ImportPath}}\t{{.Dir}}"}, slices.Sorted(maps.Keys(missing))...)
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if err != nil {
		return
	}
	for line := range strings.Lines(string(out)) {
		if path, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && dir != "" {
			s.Add(path, dir)
		}
	}
}
