package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"

	"quern.dev/bench/parity/nvrtc"
	"quern.dev/bench/parity/suite"
	"quern.dev/bench/parity/twins"
	"quern.dev/gpu"
	"quern.dev/internal/driver/cuda"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("parity: ")
	out := flag.String("o", "parity.json", "JSON `file` to write")
	library := flag.String("nvrtc", "", "`path` of libnvrtc.so, if it is not found automatically")
	only := flag.String("run", "", "`regular expression` of the kernels to measure")
	small := flag.Bool("small", false, "small sizes, to try out the program")
	dump := flag.String("dump", "", "`directory` for the PTX and cubins of the CUDA C kernels")
	submit := flag.Bool("submit", false, "measure the host time per launch instead, compared with the bare driver call")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	pattern, err := regexp.Compile(*only)
	if err == nil {
		err = run(ctx, options{*out, *library, pattern, *small, *dump, *submit})
	}
	if err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

type options struct {
	out, library string
	only         *regexp.Regexp
	small        bool
	dump         string
	submit       bool
}

func run(ctx context.Context, o options) (err error) {
	var calls *recorder
	if o.submit {
		if calls, err = newRecorder(); err != nil {
			return err
		}
		defer cuda.Substitute(calls)()
	}
	dev, err := gpu.Open(gpu.Config{Device: "cuda"})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	r, err := newRunner(ctx, dev, o.small)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if o.submit {
		return r.measureSubmissions(os.Stdout, calls, o.only.MatchString)
	}
	compiler, err := nvrtc.Open(o.library)
	if err != nil {
		return err
	}

	report := &report{Device: fmt.Sprintf("%s, driver %s", dev.Name(), dev.DriverVersion()), NVRTC: compiler.Version()}
	if err := r.measurePeaks(report); err != nil {
		return err
	}
	compiled := map[string]*nvrtc.Output{}
	for _, entry := range suite.All {
		if !o.only.MatchString(entry.Name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := r.measure(entry, func() (string, error) { return compile(compiler, compiled, dev, entry.Name, o.dump) })
		if err != nil {
			line = &result{Name: entry.Name, Error: err.Error()}
			log.Printf("%s: %v", entry.Name, err)
		}
		report.Results = append(report.Results, line)
	}
	report.summarize()
	if err := report.print(os.Stdout); err != nil {
		return err
	}
	data, err := json.MarshalIndent(report, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(o.out, append(data, '\n'), 0o644)
}

// compile returns the binary code of the file that contains the CUDA C kernel with the
// given name.
func compile(c *nvrtc.Compiler, done map[string]*nvrtc.Output, dev *gpu.Device, name, dump string) (string, error) {
	file, text, err := twins.Source(name)
	if err != nil {
		return "", err
	}
	if done[file] == nil {
		major, minor := dev.ComputeCapability()
		output, err := c.Compile(file, text, fmt.Sprintf("sm_%d%d", major, minor))
		if err != nil {
			return "", err
		}
		done[file] = output
		if dump != "" {
			err := errors.Join(
				os.WriteFile(filepath.Join(dump, file+".ptx"), []byte(output.PTX), 0o644),
				os.WriteFile(filepath.Join(dump, file+".cubin"), output.Cubin, 0o644))
			if err != nil {
				return "", err
			}
		}
	}
	return string(done[file].Cubin), nil
}
