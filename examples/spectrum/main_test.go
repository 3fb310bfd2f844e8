package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestRunOnEveryDevice(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		out := filepath.Join(t.TempDir(), "spectrum.png")
		var text bytes.Buffer
		if err := run(t.Context(), &text, dev, true, out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"110.0 Hz", "261.5 Hz", "440.0 Hz", "1234.5 Hz", "3000.0 Hz", "verified: 5 tones"} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("the output lacks %q:\n%s", want, &text)
			}
		}
		f, err := os.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, err := png.Decode(f)
		if err != nil {
			t.Fatal(err)
		}
		if m.Bounds().Dx() != pictureWidth || m.Bounds().Dy() != pictureHeight {
			t.Errorf("the picture is %v", m.Bounds())
		}
	})
}

func TestVerifyFindsErrors(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	clean, signal := signals()
	for name, change := range map[string]func(a *analysis){
		"an amplitude":          func(a *analysis) { a.amplitude[880] *= 1.1 },
		"a phase":               func(a *analysis) { a.phase[880] += 0.1 },
		"a tone too many":       func(a *analysis) { a.amplitude[50] = 1 },
		"the signal":            func(a *analysis) { a.roundTrip[7] += 0.01 },
		"the restored signal":   func(a *analysis) { clear(a.restored[:100]) },
		"a tone that is missed": func(a *analysis) { a.amplitude[880] = 0 },
	} {
		a, err := analyse(t.Context(), dev, signal)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.verify(clean, signal); err != nil {
			t.Fatal(err)
		}
		if change(a); a.verify(clean, signal) == nil {
			t.Errorf("verify does not notice %s", name)
		}
	}
}
