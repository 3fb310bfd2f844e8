package generate_test

import (
	"strings"
	"testing"
)

// places contains kernels that fail in their own package, in called functions of
// another package, and in functions of another package inlined into them.
const places = `
-- v2/sub.dir/sub.go --
package sub

import "quern.dev/kernel"

func Called(x []int32, i int) int32 {
	return x[i]
}

func Inlined(t kernel.Thread, x []int32) int32 {
	return x[t.Global()+7]
}
-- kernels/kernels.go --
package kernels

import (
	"example.test/demo/v2/sub.dir"
	"quern.dev/kernel"
)

//quern:kernel
func own(t kernel.Thread, x []int32) {
	x[t.Global()+5] = 1
}

//quern:kernel
func calls(t kernel.Thread, x []int32) {
	x[0] = sub.Called(x, 6)
}

//quern:kernel
func inlines(t kernel.Thread, x []int32) {
	x[0] = sub.Inlined(t, x)
}

//quern:actor
func accumulate(t kernel.Thread, sum, in, out *int32) kernel.Action {
	a := [2]int32{}
	if t.ThreadIdx.X == 0 {
		*out = a[*in]
	}
	return kernel.Reply
}
-- kernels/main.go --
package kernels

import (
	"context"
	"errors"
	"fmt"
	"log"

	"quern.dev/gpu"
	"quern.dev/ring"
)

func Run() {
	ctx := context.Background()
	for _, device := range []string{"cpu", "sim"} {
		d, err := gpu.Open(gpu.Config{Device: device})
		if err != nil {
			log.Fatal(err)
		}
		s := d.DefaultStream()
		x, err := gpu.Upload(s, make([]int32, 4))
		if err != nil {
			log.Fatal(err)
		}
		for _, launch := range []func(*gpu.Stream, gpu.Grid, *gpu.Buffer[int32]) error{LaunchOwn, LaunchCalls, LaunchInlines} {
			if err := launch(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 1}), x); err != nil {
				log.Fatal(err)
			}
			err := s.Synchronize(ctx)
			fault, ok := errors.AsType[*gpu.KernelError](err)
			if !ok {
				log.Fatal(err)
			}
			fmt.Printf("%s %s %v\n", fault.Kernel, fault.File, err)
		}
		rt, err := ring.New(d, ring.Config{})
		if err != nil {
			log.Fatal(err)
		}
		a, err := SpawnAccumulate(ctx, rt, ring.Options{Name: "sum"})
		if err != nil {
			log.Fatal(err)
		}
		_, err = a.Ask(ctx, 2)
		fault, ok := errors.AsType[*gpu.KernelError](err)
		if !ok {
			log.Fatal(err)
		}
		fmt.Printf("%s %s %v\n", fault.Kernel, fault.File, fault)
		rt.Close()
	}
}
-- main.go --
package main

import "example.test/demo/kernels"

func main() { kernels.Run() }
-- kernels/kernels_test.go --
package kernels

import "testing"

func Test(t *testing.T) { Run() }
`

func TestFailuresAreAtTheSamePlaceOnEveryDevice(t *testing.T) {
	dir := generated(t, places, 1)
	want := strings.Repeat(`own example.test/demo/kernels/kernels.go kernels/kernels.go:10: kernel own: index 5 out of range [0,4) in block (0,0,0) thread (0,0,0)
calls example.test/demo/v2/sub.dir/sub.go sub.dir/sub.go:6: kernel calls: index 6 out of range [0,4) in block (0,0,0) thread (0,0,0)
inlines example.test/demo/v2/sub.dir/sub.go sub.dir/sub.go:10: kernel inlines: index 7 out of range [0,4) in block (0,0,0) thread (0,0,0)
accumulate example.test/demo/kernels/kernels.go kernels/kernels.go:27: handler accumulate: index 2 out of range [0,2) in block (0,0,0) thread (0,0,0)
`, 2)
	if out, err := goCommand(t, dir, "run", "."); err != nil || out != want {
		t.Errorf("%v\ngot\n%swant\n%s", err, out, want)
	}
	// With coverage, the CPU runs the functions themselves.
	if out, err := goCommand(t, dir, "test", "-cover", "-v", "./kernels"); err != nil || !strings.Contains(out, want) {
		t.Errorf("%v\ngot\n%swant\n%s", err, out, want)
	}
}
