package frontend

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quern.dev/internal/testmodule"
)

func TestActors(t *testing.T) {
	const before = `
-- a/a.go --
package a

import (
	"context"

	"quern.dev/kernel"
	"quern.dev/ring"
)

type total struct{ sum int64 }

`
	for _, tt := range []struct {
		name, source string
		kernels      []string
		errors       []string
	}{
		{
			name: "a handler is a kernel whose constructor may be missing",
			source: `
//quern:actor block=64
func add(t kernel.Thread, state *total, in *int32, out *int64) kernel.Action { return kernel.Reply }

func use(ctx context.Context, rt *ring.Runtime) (*ring.Actor[int32, int64], error) {
	return SpawnAdd(ctx, rt, ring.Options{})
}
`,
			kernels: []string{"a.addActor"},
		},
		{
			name: "types, options and names that do not fit",
			source: `
//quern:actor
func slices(t kernel.Thread, state *total, in *struct{ Name string }, out *[]int) kernel.Action { return kernel.Reply }

//quern:actor
func result(t kernel.Thread, state *total, in, out *int32) int { return 0 }

//quern:actor block=16x16
func flat(t kernel.Thread, state *total, in, out *int32) kernel.Action { return kernel.Reply }

//quern:actor blocks=7
func option(t kernel.Thread, state *total, in, out *int32) kernel.Action { return kernel.Reply }
`,
			errors: []string{
				`a/a.go:14:44: kernel slices: the message in is of type struct{Name string}; it is passed as its bytes: use numbers, bool, and structs and arrays of these`,
				`a/a.go:14:71: kernel slices: the reply out is of type []int; it is passed as its bytes: use numbers, bool, and structs and arrays of these`,
				`a/a.go:17:6: kernel result: a handler is declared as func result(t kernel.Thread, state *State, in *In, out *Out) kernel.Action`,
				`a/a.go:19:1: kernel flat: an actor's block has one dimension, of up to 32 threads or a multiple of 32`,
				`a/a.go:22:15: kernel option: unknown actor option "blocks=7"; the options are block=X[xY[xZ]], minblocks=N, maxregs=N, cluster=X[xY[xZ]], unchecked, fastmath, instantiate=T1,T2 and specialise=parameter:value1,value2`,
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := testmodule.New(t, before+tt.source)
			kernels, err := loadKernels(t, dir, "./...")
			var lines []string
			if err != nil {
				lines = strings.Split(strings.ReplaceAll(err.Error(), dir+"/", ""), "\n")
			}
			if diff := cmp.Diff(tt.errors, lines); diff != "" {
				t.Errorf("errors: -want +got:\n%s", diff)
			}
			if diff := cmp.Diff(tt.kernels, kernels); diff != "" {
				t.Errorf("kernels: -want +got:\n%s", diff)
			}
		})
	}
}
