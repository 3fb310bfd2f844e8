package gpu_test

import (
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

const scaleSource = `package p

import "quern.dev/kernel"

//quern:kernel
func scale(t kernel.Thread, by float32, x []float32) {
	for i := t.Global(); i < len(x); i += t.Stride() {
		x[i] *= by
	}
}

//quern:kernel
func reverse(t kernel.Thread, x []int32) {
	if i := t.Global(); i < len(x)/2 {
		x[i], x[len(x)-1-i] = x[len(x)-1-i], x[i]
	}
}
`

func TestSourceTextIsCompiledAndRunOnEveryDevice(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		k, err := d.Compile(t.Context(), scaleSource, "scale")
		if err != nil {
			t.Fatal(err)
		}
		s, x := d.DefaultStream(), gputest.Upload(t, d, []float32{1, 2, 3, 4, 5})
		if err := k.Launch(s, gpu.Linear(5), float32(3), x); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, d, x), []float32{3, 6, 9, 12, 15})
		for _, c := range []struct {
			args []any
			want string
		}{
			{[]any{float32(3)}, "argument"},
			{[]any{3, x}, "by"},
			{[]any{float32(3), (*gpu.Buffer[float32])(nil)}, "x"},
		} {
			err := k.Launch(s, gpu.Linear(5), c.args...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Launch(%v) returned %v, want an error that names %s", c.args, err, c.want)
			}
		}
	})
}

func TestSourceTextThatIsWrongIsDiagnosed(t *testing.T) {
	d, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, c := range []struct{ name, src, kernel, want string }{
		{"a name that is not there", scaleSource, "scales", "no kernel scales"},
		{"several kernels and no name", scaleSource, "", "several kernels"},
		{"no kernels", "package p", "", "no kernels"},
		{"a syntax error", "package p\nfunc", "", "kernel.go:2"},
		{"a map", "package p\nimport \"quern.dev/kernel\"\n//quern:kernel\nfunc f(t kernel.Thread, x []int32) {\n\tm := map[int]int{}\n\t_ = m\n}", "f", "kernel.go:5:2: kernel f: maps are not supported"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := d.Compile(t.Context(), c.src, c.kernel); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Compile returned %v, want an error that says %q", err, c.want)
			}
		})
	}
}
