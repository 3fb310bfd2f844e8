package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/archive"
)

func TestCodeIsTiedToTheGoFile(t *testing.T) {
	is := *saxpyInfo.Code.Archive
	for _, test := range []struct {
		name string
		file string
		want string // in the error; empty if there is none
	}{
		{"the file that was written", is, ""},
		{"a file with another instruction", *codeOf(module("saxpy", "narrow", strings.Replace(saxpyPTX(""), "fma.rn", "fma.rz", 1))).Archive, "quern_gen.go and quern_gen.zip do not belong together: one of them was edited, merged or left behind; run go generate"},
		{"a file that was cut short", is[:len(is)/2], "quern_gen.zip is damaged (zip: not a valid zip file); run"},
		{"a file that was taken for text", strings.ReplaceAll(is, "\x00", "\r\x00"), "quern_gen.zip is damaged"},
		{"conflict markers", "<<<<<<< HEAD\n" + is + "=======\n" + is + ">>>>>>> main\n", "quern_gen.zip has the conflict markers of a merge; run"},
		{"nothing", "", "quern_gen.zip is empty; run"},
	} {
		t.Run(test.name, func(t *testing.T) {
			info := saxpyInfo
			info.Code = &compiled.Code{Package: "example.com/vectors", Archive: &test.file, Sum: saxpyInfo.Code.Sum}
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
					e, ok := errors.AsType[*compiled.CodeError](err)
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

// A changed bit in the compressed data is detected when a module is read.
func TestDamagedModulesAreErrors(t *testing.T) {
	code := codeOf(module("saxpy", "narrow", saxpyPTX("")), module("saxpy", "wide", saxpyPTX("")))
	is := *code.Archive
	at := strings.Index(is, "0.ptx") + len("0.ptx") + 40
	is = is[:at] + string(is[at]^4) + is[at+1:]
	info := saxpyInfo
	info.Code = &compiled.Code{Package: "example.com/vectors", Archive: &is, Sum: code.Sum}
	k := kernelInfo{Kernel: info}
	_, err := k.module("narrow", 0)
	if e, ok := errors.AsType[*compiled.CodeError](err); !ok || e.Variant != "narrow" || !strings.Contains(err.Error(), "quern_gen.zip is damaged (") {
		t.Errorf("got %v", err)
	}
}

// declared returns a kernel as a generated file declares it, and its code.
func declared(t *testing.T, info compiled.Kernel) *Kernel {
	t.Helper()
	info.Package = "example.com/vectors"
	data, err := archive.Write([]archive.Kernel{{Name: info.Name, Info: info.Info()}}, []archive.Module{module("saxpy", "narrow", saxpyPTX("")), module("saxpy", "wide", saxpyPTX(""))})
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	a, err := archive.Open(text)
	if err != nil {
		t.Fatal(err)
	}
	code := &compiled.Code{Package: info.Package, Archive: &text, Sum: a.Sum()}
	return &Kernel{Declared: compiled.Declaration{Name: info.Name, Code: code, Host: info.Host}}
}

func TestDeclaredKernelsAreReadWhenTheyAreUsed(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		k := declared(t, saxpyInfo)
		if k.Name() != "saxpy" || k.described.Load() {
			t.Errorf("%s is read too early", k.Name())
		}
		s := d.DefaultStream()
		x, y := upload(t, s, ramp(8)...), upload(t, s, ramp(8)...)
		defer closeAll(t, x, y)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if k.String() != "example.com/vectors.saxpy" || !slices.Equal(k.Params(), saxpyInfo.Params) {
					t.Errorf("%s has the parameters %v", k, k.Params())
				}
			})
		}
		all.Wait()
		do(t, launchSaxpy(k, s, Linear(8), 1, 8, x, y))
		do(t, s.Synchronize(context.Background()))
	})
}

func TestDeclaredKernelsThatAreNotDescribed(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		k := declared(t, saxpyInfo)
		k.Declared.Name = "other"
		_, err := k.Begin(d.DefaultStream(), Linear(8))
		if e, ok := errors.AsType[*compiled.CodeError](err); !ok || e.Kernel != "other" || !strings.Contains(err.Error(), "gpu: launch other: package example.com/vectors: quern_gen.zip does not describe kernel other: the file is damaged or out of date; run go generate") {
			t.Errorf("got %v", err)
		}
		if err := k.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestMissingCodeNamesFileKernelAndVariant(t *testing.T) {
	info := kernelInfo{Kernel: compiled.Kernel{Name: "scale[float32]", Code: codeOf(module("other", "narrow", "x"), module("scale[float32]", "narrow", "y"), forOlder(module("scale[float32]", "narrow", "z")))}}
	if got, err := info.module("narrow", 0); err != nil || got != "y" {
		t.Errorf("%q, %v", got, err)
	}
	_, err := info.module("wide", 0)
	e, ok := errors.AsType[*compiled.CodeError](err)
	if !ok || e.Kernel != "scale[float32]" || e.Variant != "wide" {
		t.Fatalf("got %v, want a CodeError of the kernel", err)
	}
	if want := "package example.com/vectors: quern_gen.zip has no code for variant wide of kernel scale[float32]: the file is damaged or out of date; run go generate, or go tool quern gen"; e.Error() != want {
		t.Errorf("got  %s\nwant %s", e, want)
	}
}

// BenchmarkCodeOpen measures the additional cost of the first launch of a kernel, in
// a package with 100 kernels of which one is used.
func BenchmarkCodeOpen(b *testing.B) {
	var modules []archive.Module
	for i := range 100 {
		for _, variant := range []string{"coarse", "proven", "narrow", "wide"} {
			modules = append(modules, module(fmt.Sprint("kernel", i), variant, strings.Repeat(saxpyPTX(fmt.Sprint("// ", i)), 3)))
		}
	}
	code := codeOf(modules...)
	b.SetBytes(int64(len(*code.Archive)))
	b.ReportAllocs()
	for b.Loop() {
		c := &compiled.Code{Archive: code.Archive, Sum: code.Sum}
		if _, err := c.Module("kernel50", "narrow", false, "kernel50"); err != nil {
			b.Fatal(err)
		}
	}
}
