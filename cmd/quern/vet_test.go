package main

import (
	"strings"
	"testing"
)

const columns = `
-- columns/columns.go --
package columns

import "quern.dev/kernel"

//quern:kernel
func sum(t kernel.Thread, w, h int, in, out []float32) {
	if i := t.Global(); i < h {
		for x := range w {
			out[i] += in[i*w+x]
		}
	}
}
`

func TestVetReportsSlowCode(t *testing.T) {
	enter(t, filters+columns)
	for _, flag := range []string{"--perf", "-perf"} {
		code, stdout, stderr := quern(t, "vet", flag, "./...")
		if code != 1 || stdout != "3 kernels in 2 packages: 1 finding\n" {
			t.Errorf("exit code %d, standard output %q", code, stdout)
		}
		if want := "columns/columns.go:9:14: kernel sum: uncoalesced: neighbouring threads access elements of in that are w apart: "; !strings.HasPrefix(stderr, want) {
			t.Errorf("standard error %q, want %q", stderr, want)
		}
	}
	expect(t, 0, "2 kernels in 1 package: no problems\n", "", "vet", "-perf", "./filters")
}

func TestVetNamesHandlers(t *testing.T) {
	enter(t, `
-- sums/sums.go --
package sums

import "quern.dev/kernel"

type table struct{ Rows [64][32]float32 }

//quern:actor
func add(t kernel.Thread, state *table, in *int32, out *float32) kernel.Action {
	*out += state.Rows[t.ThreadIdx.X][*in&31]
	return kernel.Reply
}
`)
	code, _, stderr := quern(t, "vet", "-perf", "./...")
	if want := "sums/sums.go:9:10: handler add: uncoalesced: "; code != 1 || !strings.HasPrefix(stderr, want) {
		t.Errorf("exit code %d, standard error %q, want %q", code, stderr, want)
	}
}

func TestVetDoesNotReportCodeOfLibraries(t *testing.T) {
	enter(t, `
-- sends/sends.go --
package sends

import (
	"quern.dev/kernel"
	"quern.dev/ring/actor"
)

type route struct{ To actor.Ref[parcel] }

type parcel struct {
	Number int64
	Weight float64
}

//quern:actor
func forward(t kernel.Thread, c *actor.Context, state *route, in *parcel, out *parcel) kernel.Action {
	if t.ThreadIdx.X == 0 {
		actor.Send(t, c, state.To, in)
	}
	return kernel.Done
}
`)
	expect(t, 0, "1 kernel in 1 package: no problems\n", "", "vet", "-perf", "./...")
}
