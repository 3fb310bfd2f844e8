package frontend

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/testmodule"
)

const constantsSource = `
-- a/a.go --
package a

import (
	"math/bits"

	"quern.dev/kernel"
)

const (
	side             = 16
	threads    int32 = 2 * side
	registers        = 0x40
	cols, rows       = 8, 4
)

//quern:kernel block=threads minblocks=side/4
func one(t kernel.Thread, x []int32) {}

//quern:kernel block=cols,rows,2 maxregs=registers cluster=rows/2
func three(t kernel.Thread, x []int32) {}

//quern:kernel block=(side+side)*2,1
func expression(t kernel.Thread, x []int32) {}

//quern:kernel block=bits.UintSize
func imported(t kernel.Thread, x []int32) {}

//quern:kernel block=16x2
func numbers(t kernel.Thread, x []int32) {}

var _ = bits.Len

type total struct{ sum int64 }

//quern:actor block=threads*2 minblocks=rows
func add(t kernel.Thread, state *total, in *int32, out *int64) kernel.Action { return kernel.Reply }
`

func TestNumbersOfDirectivesMayBeConstants(t *testing.T) {
	testmodule.NeedSource(t)
	dir := testmodule.New(t, constantsSource)
	packages, err := Load(t.Context(), dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	prog, err := packages[0].Lower()
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]ir.Options{}
	for _, k := range prog.Kernels {
		k.Options.Variants = 0
		have[k.Name] = k.Options
	}
	want := map[string]ir.Options{
		"one":        {Block: [3]int{32, 1, 1}, MinBlocks: 4},
		"three":      {Block: [3]int{8, 4, 2}, MaxRegs: 64, Cluster: [3]int{2, 1, 1}},
		"expression": {Block: [3]int{64, 1, 1}},
		"imported":   {Block: [3]int{64, 1, 1}},
		"numbers":    {Block: [3]int{16, 2, 1}},
		"addActor":   {Block: [3]int{64, 1, 1}, MinBlocks: 4},
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("-want +have:\n%s", diff)
	}
}
