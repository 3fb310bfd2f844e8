package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"quern.dev/bench/parity/suite"
)

func TestTableListsKernelsAndMean(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out, regexp.MustCompile("saxpy|sha256"), suite.Small, time.Microsecond); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"saxpy", "sha256", "2 kernels, geometric mean", "(goal 1.15)", "above 1.6"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}
