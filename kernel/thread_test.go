package kernel_test

import (
	"strings"
	"testing"

	"quern.dev/kernel"
)

func TestThreadIndices(t *testing.T) {
	th := kernel.Thread{
		ThreadIdx: kernel.Dim3{X: 3, Y: 2, Z: 1},
		BlockIdx:  kernel.Dim3{X: 5, Y: 6, Z: 7},
		BlockDim:  kernel.Dim3{X: 16, Y: 4, Z: 2},
		GridDim:   kernel.Dim3{X: 10, Y: 10, Z: 10},
	}
	x2, y2 := th.Global2()
	x3, y3, z3 := th.Global3()
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"Global", th.Global(), 83},
		{"x of Global2", x2, 83},
		{"y of Global2", y2, 26},
		{"x of Global3", x3, 83},
		{"y of Global3", y3, 26},
		{"z of Global3", z3, 15},
		{"Stride", th.Stride(), 160},
		{"Lane", th.Lane(), (3 + 2*16 + 64) % 32},
		{"Warp", th.Warp(), (3 + 2*16 + 64) / 32},
	} {
		if c.got != c.want {
			t.Errorf("%s is %d, want %d", c.name, c.got, c.want)
		}
	}
}

func TestDim3(t *testing.T) {
	for _, c := range []struct {
		dim    kernel.Dim3
		count  int
		String string
	}{
		{kernel.Dim3{X: 32, Y: 8, Z: 1}, 256, "32x8x1"},
		{kernel.Dim3{X: 256}, 256, "256x0x0"},
		{kernel.Dim3{}, 0, "0x0x0"},
	} {
		if got := c.dim.Count(); got != c.count {
			t.Errorf("%v holds %d, want %d", c.dim, got, c.count)
		}
		if got := c.dim.String(); got != c.String {
			t.Errorf("String is %q, want %q", got, c.String)
		}
	}
}

func TestSyncOfASingleThread(t *testing.T) {
	kernel.Thread{}.Sync()
	kernel.Thread{BlockDim: kernel.Dim3{X: 1, Y: 1, Z: 1}}.Sync()

	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "kernel.Each") {
			t.Errorf("Sync in a block of 64 without an executor: recovered %q", text)
		}
	}()
	kernel.Thread{BlockDim: kernel.Dim3{X: 64}}.Sync()
}
