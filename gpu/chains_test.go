package gpu_test

import (
	"fmt"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// Kernels may contain switches with thousands of cases.
func TestLongChains(t *testing.T) {
	const cases = 1500
	value := func(i int) int32 { return int32(i * 7919 % 100003) }
	chain := func(each func(b *strings.Builder, i int), before, after string) string {
		var b strings.Builder
		b.WriteString("package p\n\nimport \"quern.dev/kernel\"\n\n//quern:kernel\nfunc k(t kernel.Thread, x, y []int32) {\n\ti := t.Global()\n\tif i >= len(x) {\n\t\treturn\n\t}\n\tv := int32(-1)\n")
		b.WriteString(before)
		for i := range cases {
			each(&b, i)
		}
		b.WriteString(after + "\ty[i] = v\n}\n")
		return b.String()
	}
	texts := map[string]string{
		"switch": chain(func(b *strings.Builder, i int) { fmt.Fprintf(b, "\tcase %d:\n\t\tv = %d\n", 3*i, value(i)) }, "\tswitch x[i] {\n", "\t}\n"),
		"if": chain(func(b *strings.Builder, i int) { fmt.Fprintf(b, "if c == %d {\n\t\tv = %d\n\t} else ", 3*i, value(i)) },
			"\tc := x[i]\n\t", "{\n\t\tv = -1\n\t}\n"),
		"list": chain(func(b *strings.Builder, i int) {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprint(b, 3*i)
		}, "\tswitch x[i] {\n\tcase ", ":\n\t\tv = 7\n\t}\n"),
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for name, text := range texts {
			t.Run(name, func(t *testing.T) {
				k, err := d.Compile(t.Context(), text, "k")
				if err != nil {
					t.Fatal(err)
				}
				x, want := make([]int32, 3*cases+5), make([]int32, 3*cases+5)
				for i := range x {
					x[i], want[i] = int32(i), -1
					switch {
					case i%3 != 0 || i >= 3*cases:
					case name == "list":
						want[i] = 7
					default:
						want[i] = value(i / 3)
					}
				}
				in, out := gputest.Upload(t, d, x), gputest.Upload(t, d, make([]int32, len(x)))
				if err := k.Launch(d.DefaultStream(), gpu.Linear(len(x)), in, out); err != nil {
					t.Fatal(err)
				}
				gputest.Equal(t, gputest.Download(t, d, out), want)
			})
		}
	})
}
