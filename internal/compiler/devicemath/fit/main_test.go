package main

import (
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"

	"quern.dev/internal/compiler/devicemath"
)

// TestTheFunctionsUseTheseCoefficients fails if a fit was changed without the
// function, or the other way round.
func TestTheFunctionsUseTheseCoefficients(t *testing.T) {
	var source strings.Builder
	files, err := fs.Glob(devicemath.Source, "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := fs.ReadFile(devicemath.Source, name)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	for _, f := range fits {
		coefficients, worst := f.solve()
		// Half a unit is a quarter of an ULP, or an eighth for results that
		// are close to the next power of two.
		if worst*0x1p24 > 0.5 {
			t.Errorf("%s: the error is %.2g", f.name, worst*0x1p24)
		}
		for i, c := range coefficients {
			if text := fmt.Sprintf("%x", math.Abs(float64(c))); c != -0.5 && !strings.Contains(source.String(), text) {
				t.Errorf("%s: coefficient %d, %s, is not in the source", f.name, i, text)
			}
		}
	}
}
