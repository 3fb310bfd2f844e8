package frontend

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quern.dev/internal/compiler/ir"
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
	"quern.dev/ring/actor"
)

var (
	_ actor.Context
	_ context.Context
	_ *ring.Runtime
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
			name: "a constructor that is missing may be the argument of a call",
			source: `
//quern:actor
func add(t kernel.Thread, state *total, in *int32, out *int64) kernel.Action { return kernel.Reply }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func use(ctx context.Context, rt *ring.Runtime) {
	a := must(SpawnAdd(ctx, rt, ring.Options{}))
	_ = a
}
`,
			kernels: []string{"a.addActor"},
		},
		{
			name: "a handler may take a context and payload memory, and have the names of the kernel's variables",
			source: `
type out struct{ shape int32 }

//quern:actor
func post(t kernel.Thread, c *actor.Context, state *total, in *int32, out *out) kernel.Action { return kernel.Reply }

//quern:actor
func data(t kernel.Thread, c *actor.Context, cells []out, state *total, in *int32, reply *int64) kernel.Action {
	cells[0].shape = *in
	return kernel.Reply
}
`,
			kernels: []string{"a.dataActor", "a.postActor"},
		},
		{
			name: "shared variables are the handler's own",
			source: `
func sum(t kernel.Thread, v int32) int32 {
	cells := kernel.Shared[[32]int32](t)
	cells[t.ThreadIdx.X] = v
	t.Sync()
	return cells[0]
}

//quern:actor
func add(t kernel.Thread, state *total, in, out *int32) kernel.Action {
	last := kernel.Shared[int32](t)
	*last = sum(t, *in)
	return kernel.Done
}
`,
			kernels: []string{"a.addActor"},
		},
		{
			name: "shared variables of a handler in a loop, or where the messages are",
			source: `
//quern:actor
func loops(t kernel.Thread, state *total, in, out *int32) kernel.Action {
	for range *in {
		*kernel.Shared[int32](t) = 1
	}
	return kernel.Done
}

func cells(t kernel.Thread) []int32 { return kernel.Dynamic[int32](t) }

//quern:actor
func dynamic(t kernel.Thread, state *total, in, out *int32) kernel.Action {
	*out = cells(t)[0]
	return kernel.Done
}
`,
			errors: []string{
				`a/a.go:23:4: handler loops: kernel.Shared is inside a loop; declare the shared variable before it`,
				`a/a.go:28:46: handler dynamic: kernel.Dynamic in the handler of an actor: the dynamic shared memory holds its messages; declare a variable with kernel.Shared`,
			},
		},
		{
			name: "contexts and payload memory that do not fit",
			source: `
//quern:actor
func other(t kernel.Thread, c *total, state *total, in, out *int32) kernel.Action { return kernel.Reply }

//quern:actor
func bare(t kernel.Thread, cells []float32, state *total, in, out *int32) kernel.Action { return kernel.Reply }

//quern:actor
func swapped(t kernel.Thread, cells []float32, c *actor.Context, state *total, in, out *int32) kernel.Action { return kernel.Reply }

//quern:actor
func array(t kernel.Thread, c *actor.Context, cells [4]float32, state *total, in, out *int32) kernel.Action { return kernel.Reply }

//quern:actor
func text(t kernel.Thread, c *actor.Context, cells []string, state *total, in, out *int32) kernel.Action { return kernel.Reply }

//quern:actor
func nothing(t kernel.Thread, c *actor.Context, cells []struct{}, state *total, in, out *int32) kernel.Action { return kernel.Reply }

//quern:actor
func seven(t kernel.Thread, c *actor.Context, cells []int32, more []int32, state *total, in, out *int32) kernel.Action { return kernel.Reply }
`,
			errors: []string{
				`a/a.go:21:29: handler other: a handler with 5 parameters takes its context as the second, c *actor.Context of package quern.dev/ring/actor, not *total`,
				`a/a.go:24:6: handler bare: a handler takes the payload memory after the context: func bare(t kernel.Thread, c *actor.Context, data []float32, state *State, in *In, out *Out) kernel.Action`,
				`a/a.go:27:6: handler swapped: a handler takes the payload memory after the context: func swapped(t kernel.Thread, c *actor.Context, data []float32, state *State, in *In, out *Out) kernel.Action`,
				`a/a.go:30:6: handler array: a handler is declared as func array(t kernel.Thread, state *State, in *In, out *Out) kernel.Action; after the thread it may take c *actor.Context, and after that data []P`,
				`a/a.go:33:46: handler text: the payload memory cells has elements of type string, which cannot be passed as bytes; use numbers, bool, and structs and arrays of these`,
				`a/a.go:36:49: handler nothing: the payload memory cells has elements of type struct{}, which cannot be passed as bytes; use numbers, bool, and structs and arrays of these`,
				`a/a.go:39:6: handler seven: a handler is declared as func seven(t kernel.Thread, state *State, in *In, out *Out) kernel.Action; after the thread it may take c *actor.Context, and after that data []P`,
			},
		},
		{
			name: "states without bytes, and messages that do not fit into shared memory",
			source: `
//quern:actor
func stateless(t kernel.Thread, state *struct{}, in, out *int32) kernel.Action { return kernel.Reply }

//quern:actor
func empty(t kernel.Thread, state *total, in, out *struct{}) kernel.Action { return kernel.Reply }

//quern:actor
func large(t kernel.Thread, state *total, in *[100][1000]int16, out *[40000]uint8) kernel.Action { return kernel.Reply }
`,
			errors: []string{
				`a/a.go:21:33: handler stateless: the state state is of type struct{}, which has no bytes; a handler without a state takes one that it does not use, as in state *uint8`,
				`a/a.go:27:6: handler large: the message and the reply have 240000 bytes together; they are in the shared memory of the actor's block, which has room for 231424; keep large data in payload memory, and put references to it into messages`,
			},
		},
		{
			name: "directives and names that clash",
			source: `
//quern:actor
//quern:actor block=64
func twice(t kernel.Thread, state *total, in, out *int32) kernel.Action { return kernel.Reply }

//quern:actor
//quern:kernel
func both(t kernel.Thread, state *total, in, out *int32) kernel.Action { return kernel.Reply }

//quern:actor
func add(t kernel.Thread, state *total, in, out *int32) kernel.Action { return kernel.Reply }

func addActor() {}

//quern:actor
func sum(t kernel.Thread, state *total, in, out *int32) kernel.Action { return kernel.Reply }

func SpawnSum() {}
`,
			errors: []string{
				`a/a.go:21:1: handler twice: twice has two //quern:actor directives; put all options on one`,
				`a/a.go:25:1: handler both: both is the handler of an actor and a kernel; leave one of the directives out`,
				`a/a.go:29:6: handler add: quern_gen.go would declare addActor again, after a.go:31:6; rename one of them`,
				`a/a.go:34:6: handler sum: quern_gen.go would declare SpawnSum again, after a.go:36:6; rename one of them`,
			},
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
				`a/a.go:21:44: handler slices: the message in is of type struct{Name string}; it is passed as its bytes: use numbers, bool, and structs and arrays of these`,
				`a/a.go:21:71: handler slices: the reply out is of type []int; it is passed as its bytes: use numbers, bool, and structs and arrays of these`,
				`a/a.go:24:6: handler result: a handler is declared as func result(t kernel.Thread, state *State, in *In, out *Out) kernel.Action; after the thread it may take c *actor.Context, and after that data []P`,
				`a/a.go:26:1: handler flat: an actor's block has one dimension, of up to 32 threads or a multiple of 32`,
				`a/a.go:29:15: handler option: unknown actor option "blocks=7"; the options are block=X[xY[xZ]], minblocks=N, maxregs=N, unchecked and fastmath`,
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

func TestAPackageOwnsTheCodeInItsFiles(t *testing.T) {
	testmodule.NeedSource(t)
	packages, err := Load(context.Background(), "../../..", "./bench/ringsoak")
	if err != nil {
		t.Fatal(err)
	}
	p := packages[0]
	for file, want := range map[string]bool{"tally.go": true, "serve.go": false} {
		if got := p.Owns(ir.Pos{File: file, Line: 1, Col: 1}); got != want {
			t.Errorf("%s: have %t", file, got)
		}
	}
}
