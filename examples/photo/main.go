// Photo develops a photograph on a GPU, or on all CPU cores: it sharpens it,
// equalizes its tones and rotates it, in linear light. Without -in it first
// renders a 3840x2160 scene.
//
//	go run ./examples/photo
//	go run ./examples/photo -in holiday.jpg -angle 2.5 -out straight.png
//	go run ./examples/photo -verify
//
// Every step is a kernel in this directory, written in Go. The program prints how
// long each of them took.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"quern.dev/gpu"
)

// Exit codes.
const (
	exitOK = iota
	exitFailed
	exitUsage
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run parses the arguments, runs the program and returns its exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	opt, err := parseOptions(args, stderr)
	var usage *usageError
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.As(err, &usage):
		return exitUsage // package flag has printed the error and the usage
	}
	if err == nil {
		p := startProgress(stderr)
		err = develop(ctx, opt, stdout, p)
		p.end()
	}
	if err != nil {
		if errors.Is(err, context.Canceled) {
			err = errors.New("interrupted; nothing was written")
		}
		fmt.Fprintf(stderr, "photo: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// develop processes the picture and prints the report.
func develop(ctx context.Context, opt options, stdout io.Writer, working *progress) (err error) {
	begin := time.Now()
	out, err := createOutput(opt.out)
	if err != nil {
		return err
	}
	defer out.discard()

	dev, err := gpu.Open(gpu.Config{Device: opt.device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()

	r := newReport(opt, dev, working)
	src := newScene(dev.Backend())
	if opt.in != "" {
		err = r.step("decode", func() (err error) {
			src, err = openPicture(opt.in, dev.Backend())
			return err
		})
		if err != nil {
			return err
		}
	}

	p, err := newPipeline(dev, opt, src)
	if err != nil {
		return err
	}
	p.working = working
	defer func() { err = errors.Join(err, p.close()) }()
	r.picture = p.String()

	if opt.in != "" {
		if err := r.step("upload", func() error { return p.upload(ctx) }); err != nil {
			return err
		}
	}
	if r.stages, err = p.measure(ctx); err != nil {
		return err
	}
	r.sumKernels()
	if opt.verify {
		if err := r.step("verify", func() error { return verify(ctx, p, r.stages) }); err != nil {
			return err
		}
	}
	var result picture
	err = r.step("download", func() (err error) {
		result, err = p.download(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if err := r.step("encode", func() error { return out.write(ctx, result) }); err != nil {
		return err
	}
	r.total = time.Since(begin)
	working.end()
	if err := r.print(stdout); err != nil {
		return err
	}
	return r.mismatch()
}
