package compiler

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"quern.dev/internal/archive"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/testmodule"
)

const one = `package p

import (
	"math"

	"quern.dev/kernel"
)

//quern:kernel
func root(t kernel.Thread, x []float64) {
	if i := t.Global(); i < len(x) {
		x[i] = math.Cbrt(x[i])
	}
}
`

const two = one + `
//quern:kernel
func square(t kernel.Thread, x []float64) {
	if i := t.Global(); i < len(x) {
		x[i] *= x[i]
	}
}
`

const generic = `package kernels

import "quern.dev/kernel"

//quern:kernel
func twice[T kernel.Number](t kernel.Thread, x []T) {
	if i := t.Global(); i < len(x) {
		x[i] += x[i]
	}
}
`

func TestTextChoosesTheKernel(t *testing.T) {
	testmodule.NeedGo(t)
	tests := []struct {
		name   string
		src    string
		kernel string
		want   string // name, or error
	}{
		{"the only kernel needs no name", one, "", "root"},
		{"a kernel by its name", two, "square", "square"},
		{"several kernels need a name", two, "", "kernels.go has several kernels ([root square]); name one"},
		{"a name that no kernel has", two, "cube", "kernels.go has no kernel cube; it has [root square]"},
		{"a file without kernels", "package p\n", "", "kernels.go has no kernels; mark one with //quern:kernel"},
		{"a generic kernel", generic, "twice", "kernels.go: kernel twice is generic; name an instance with its type arguments, such as twice[float32]"},
		{"an instance", generic, "twice[int8]", "twice[int8]"},
		{"a file that does not parse", "package p\nfunc", "", "kernels.go:2:5: expected 'IDENT', found 'EOF'"},
		{"an error in another kernel", two + "\n//quern:kernel\nfunc bad(t kernel.Thread) { go println() }\n", "root",
			"kernels.go:24:29: kernel bad: go statements are not supported in kernels; the grid already runs many threads: launch more of them"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k, err := Text(t.Context(), "kernels.go", tt.src, tt.kernel)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = k.IR.Name
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestAPanicNamesTheKernel(t *testing.T) {
	broken := &ir.Kernel{Name: "kk", Func: &ir.Func{Go: ir.GoRef{Package: "example.test/p"}, Body: []ir.Stmt{nil}}}
	tests := []struct {
		name  string
		debug string
		want  []string
	}{
		{"with what went wrong", "", []string{"internal error in kernel kk of package example.test/p: ", "nil statement", "; please report it"}},
		{"with the stack, if asked for", "1", []string{"internal error in kernel kk of package example.test/p: ", "compiler.Compile("}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(frontend.DebugVariable, tt.debug)
			_, err := Compile(t.Context(), broken)
			var fault *frontend.Fault
			if !errors.As(err, &fault) {
				t.Fatalf("error %v", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q in it", err, want)
				}
			}
			if stack := strings.Contains(err.Error(), "goroutine"); stack != (tt.debug != "") {
				t.Errorf("error %v has a stack: %t", err, stack)
			}
		})
	}
}

// The last variant has no launch conditions. Each module follows its section header.
func TestVariants(t *testing.T) {
	testmodule.NeedGo(t)
	k, err := Text(t.Context(), "kernels.go", one, "")
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range k.Variants {
		if last := i == len(k.Variants)-1; last != (len(v.Limits) == 0) {
			t.Errorf("variant %d of %d, %s, has %d launch conditions", i, len(k.Variants), v.Name, len(v.Limits))
		}
		if !slices.Contains(k.Modules(), archive.Module{Kernel: "root", Variant: v.Name, Text: v.Text}) {
			t.Errorf("the text of variant %s is not in the kernel's", v.Name)
		}
	}
}

func TestTextMayBeCalledFromManyGoroutines(t *testing.T) {
	testmodule.NeedGo(t)
	want, err := Text(t.Context(), "kernels.go", one, "")
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		group.Go(func() {
			k, err := Text(t.Context(), "kernels.go", strings.Replace(one, "x[i] =", fmt.Sprintf("x[i] = %d +", i), 1), "")
			switch {
			case err != nil:
				errs[i] = err
			case slices.Equal(k.Modules(), want.Modules()):
				errs[i] = fmt.Errorf("kernel %d is another's", i)
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}
