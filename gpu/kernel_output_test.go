package gpu

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

const helloSource = `package p

import "quern.dev/kernel"

//quern:kernel
func hello(t kernel.Thread, n int, x []int32) {
	for i := range n {
		kernel.Printf("%d %v %s\n", i, x[i] > 0, "x")
	}
}
`

func TestKernelsPrintToTheDevicesOutput(t *testing.T) {
	withCUDA(t, fakecuda.New(1))
	for _, id := range []string{"cpu", "sim", "cuda:0"} {
		t.Run(id, func(t *testing.T) {
			var printed bytes.Buffer
			d, err := Open(Config{Device: id, Output: &printed})
			if err != nil {
				t.Fatal(err)
			}
			k, err := d.Compile(t.Context(), helloSource, "hello")
			if err != nil {
				t.Fatal(err)
			}
			s, err := d.NewStream(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			x, err := Upload(s, []int32{1, -1})
			if err != nil {
				t.Fatal(err)
			}
			// The second fault must not lose the messages of the first one, nor the
			// other way round.
			for range 2 {
				printed.Reset()
				if err := k.Launch(s, Blocks(Dim3{X: 1}, Dim3{X: 1}), 3, x); err != nil {
					t.Fatal(err)
				}
				if _, ok := errors.AsType[*KernelError](s.Synchronize(context.Background())); !ok {
					t.Error("the index out of range was not reported")
				}
				if want := "0 true x\n1 false x\n"; printed.String() != want {
					t.Errorf("printed %q, want %q", printed.String(), want)
				}
			}
			// Close delivers messages that no wait has delivered.
			printed.Reset()
			if err := k.Launch(s, Blocks(Dim3{X: 1}, Dim3{X: 1}), 1, x); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(x.Close(), s.Close(), d.Close()); err != nil {
				t.Error(err)
			}
			if printed.String() != "0 true x\n" {
				t.Errorf("Close delivered %q", printed.String())
			}
		})
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	d, err := Open(Config{Device: "cpu", Output: brokenWriter{}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	k, err := d.Compile(t.Context(), helloSource, "hello")
	if err != nil {
		t.Fatal(err)
	}
	x, err := Upload(d.DefaultStream(), []int32{1})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := k.Launch(d.DefaultStream(), Blocks(Dim3{X: 1}, Dim3{X: 1}), 1, x); err != nil {
		t.Fatal(err)
	}
	if err := d.Synchronize(context.Background()); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("have %v", err)
	}
}
