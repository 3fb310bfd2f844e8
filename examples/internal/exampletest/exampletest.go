// Package exampletest has what the tests of the examples share.
package exampletest

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// Run runs an example, and fails unless it succeeds and prints all of the texts.
func Run(t *testing.T, run func(ctx context.Context, w io.Writer) error, texts ...string) {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range texts {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, &out)
		}
	}
}

// Picture returns the picture in a PNG file.
func Picture(t *testing.T, path string) image.Image {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// EndsWhenInterrupted fails unless an example returns the error of its context if that is
// canceled.
func EndsWhenInterrupted(t *testing.T, run func(ctx context.Context, w io.Writer, dev *gpu.Device) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := run(ctx, io.Discard, gputest.Open(t, gpu.Config{Device: "cpu"})); !errors.Is(err, context.Canceled) {
		t.Errorf("the error of an interrupted run is %v", err)
	}
}

// Refuses fails unless an example's error names an option.
func Refuses(t *testing.T, option string, run func(ctx context.Context, w io.Writer) error) {
	t.Helper()
	if err := run(t.Context(), io.Discard); err == nil || !strings.Contains(err.Error(), option) {
		t.Errorf("the error is %v, want one about %s", err, option)
	}
}
