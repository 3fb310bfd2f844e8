package gpu

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"
)

// sumOf is what quern gen writes to quern_gen.go.
func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestCodeIsTiedToTheGoFile(t *testing.T) {
	text := saxpyInfo.Code.Text
	for _, test := range []struct {
		name string
		text string
		want string // in the error; empty if there is none
	}{
		{"the text that was written", text, ""},
		{"the text with lines that end with CR LF", strings.ReplaceAll(text, "\n", "\r\n"), ""},
		{"a text with another instruction", strings.Replace(text, "fma.rn", "fma.rz", 1), "quern_gen.go and quern_gen.ptx do not belong together: one of them was edited, merged or left behind; run go generate"},
		{"a text that was cut short", text[:len(text)/2], "do not belong together"},
		{"a text with a space more", strings.Replace(text, "\n", " \n", 1), "do not belong together"},
		{"conflict markers", "<<<<<<< HEAD\n" + text + "=======\n" + text + ">>>>>>> main\n", "quern_gen.ptx has the conflict markers of a merge; run"},
		{"conflict markers and CR LF", strings.ReplaceAll(text+"<<<<<<< HEAD\n", "\n", "\r\n"), "conflict markers"},
		{"nothing", "", "quern_gen.ptx is empty; run"},
	} {
		t.Run(test.name, func(t *testing.T) {
			info := saxpyInfo
			info.Code = &Code{Package: "example.com/vectors", Text: test.text, Sum: sumOf(text)}
			k, other := NewKernel(info), NewKernel(info)
			everyDevice(t, func(t *testing.T, d *Device) {
				s := d.DefaultStream()
				x, y := upload(t, s, ramp(8)...), upload(t, s, ramp(8)...)
				defer closeAll(t, x, y)
				for _, k := range []*Kernel{k, other} {
					err := launchSaxpy(k, s, Linear(8), 1, 8, x, y)
					if test.want == "" {
						do(t, err)
						continue
					}
					e, ok := errors.AsType[*CodeError](err)
					if !ok || e.Package != "example.com/vectors" || e.Kernel != "" {
						t.Fatalf("got %v, want a CodeError of the package", err)
					}
					if !strings.HasPrefix(err.Error(), "gpu: launch saxpy: package example.com/vectors: ") || !strings.Contains(err.Error(), test.want) {
						t.Errorf("got %q, want %q", err, test.want)
					}
				}
				do(t, s.Synchronize(context.Background()))
				if err := k.Prepare(d); (err == nil) != (test.want == "") {
					t.Errorf("prepare: %v", err)
				}
			})
		})
	}
}

func TestMissingCodeNamesFileKernelAndVariant(t *testing.T) {
	text := module("other", "narrow", "x") + module("scale[float32]", "narrow", "y") + module("scale[float32]", "narrow older", "z")
	info := KernelInfo{Name: "scale[float32]", Code: &Code{Package: "example.com/vectors", Text: text, Sum: sumOf(text)}}
	for variant, want := range map[string]string{"narrow": "y", "narrow older": "z\n"} {
		if got, err := info.section(variant); err != nil || got != want {
			t.Errorf("%s: %q, %v", variant, got, err)
		}
	}
	_, err := info.section("wide")
	e, ok := errors.AsType[*CodeError](err)
	if !ok || e.Kernel != "scale[float32]" || e.Variant != "wide" {
		t.Fatalf("got %v, want a CodeError of the kernel", err)
	}
	if want := "package example.com/vectors: quern_gen.ptx has no code for variant wide of kernel scale[float32]: the file is damaged or out of date; run go generate, or go tool quern gen"; e.Error() != want {
		t.Errorf("got  %s\nwant %s", e, want)
	}
}

func TestModulesAreFoundWithoutACopy(t *testing.T) {
	text := strings.Repeat(module("other", "wide", strings.Repeat("x", 1000)), 1000) + module("k", "wide", "here")
	code := &Code{Text: text, Sum: sumOf(text)}
	info := KernelInfo{Name: "k", Code: code}
	do(t, code.open())
	if n := testing.AllocsPerRun(10, func() { _, _ = info.section("wide") }); n > 1 { // the words that are looked up
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkCodeOpen is what the first launch of a kernel of a large package costs
// on top: the largest quern_gen.ptx of the repository.
func BenchmarkCodeOpen(b *testing.B) {
	text, err := os.ReadFile("../internal/conformance/actors/quern_gen.ptx")
	if err != nil {
		b.Skip(err)
	}
	code := string(text)
	sum := sumOf(code)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := (&Code{Text: code, Sum: sum}).open(); err != nil {
			b.Fatal(err)
		}
	}
}
