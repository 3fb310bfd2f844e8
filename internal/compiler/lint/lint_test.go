package lint_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/lint"
	"quern.dev/internal/ptxas"
	"quern.dev/internal/testmodule"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func findings(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := frontend.Text(t.Context(), filepath.Base(file), string(text))
	if err != nil {
		t.Fatal(err)
	}
	prog, err := p.Lower()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, k := range prog.Kernels {
		list, err := check(p, k)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			b.WriteString(f.String() + "\n")
		}
	}
	return b.String()
}

func check(p *frontend.Package, k *ir.Kernel) ([]lint.Finding, error) {
	compiled, err := compiler.Compile(context.Background(), k)
	if err != nil {
		return nil, err
	}
	return lint.Check(p, compiled)
}

// withoutAssembler hides the installed assembler, so that findings about registers are
// estimates.
func withoutAssembler(t *testing.T) {
	find := ptxas.Find
	ptxas.Find = func() (string, error) { return "", ptxas.ErrNotFound }
	t.Cleanup(func() { ptxas.Find = find })
}

func TestSlowKernelsAreFound(t *testing.T) {
	testmodule.NeedSource(t)
	withoutAssembler(t)
	const golden = "testdata/slow.golden"
	got := findings(t, "testdata/slow.go")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("have\n%s\nwant\n%s", got, want)
	}
}

func TestFastKernelsAreLeftAlone(t *testing.T) {
	testmodule.NeedSource(t)
	if got := findings(t, "testdata/fast.go"); got != "" {
		t.Errorf("have\n%s", got)
	}
}

// plain lists the rules that plainly written kernels of bench/parity/kernels break, with and
// without bounds checks.
var plain = map[string][]string{
	"needle":       {"uncoalesced", "bank conflict"},
	"fft256":       {"bank conflict"},
	"atax1":        {"uncoalesced"},
	"particlesAOS": {"divided accesses"},
	"kmers":        {"uncoalesced"},
}

func TestTunedKernelsOfTheRepositoryAreLeftAlone(t *testing.T) {
	testmodule.NeedSource(t)
	withoutAssembler(t)
	packages, err := frontend.Load(context.Background(), "../../..", "./examples/photo", "./examples/saxpy", "./bench/kernels", "./bench/parity/kernels")
	if err != nil {
		t.Fatal(err)
	}
	kernels := 0
	for _, p := range packages {
		prog, err := p.Lower()
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range prog.Kernels {
			list, err := check(p, k)
			if err != nil {
				t.Fatal(err)
			}
			kernels++
			rules := plain[strings.TrimSuffix(k.Name, "Unchecked")]
			for _, f := range list {
				if !slices.Contains(rules, f.Rule) {
					t.Error(f)
				}
			}
			if len(list) < len(rules) {
				t.Errorf("kernel %s breaks %d rules, want %q", k.Name, len(list), rules)
			}
		}
	}
	if kernels < 20 {
		t.Errorf("only %d kernels", kernels)
	}
}

const spilling = `package p

import "quern.dev/kernel"

//quern:kernel block=1024 maxregs=24
func much(t kernel.Thread, x []float32) {
	i := t.Global()
	var v [40]float32
	for k := range 40 {
		v[k] = x[i+k*1024]
	}
	for r := range 40 {
		for k := range 40 {
			v[k] = v[k]*v[(k+1)%40] + v[r]
		}
	}
	for k := range 40 {
		x[i+k*1024] = v[k]
	}
}
`

// Values that take two registers each unless int fits 32 bits.
const spillingWide = `package p

import "quern.dev/kernel"

//quern:kernel block=256 maxregs=48
func offsets(t kernel.Thread, n int, x, out []float32) {
	i := t.Global()
	if i >= n {
		return
	}
	var at [18]int
	for k := range 18 {
		at[k] = (i*(2*k+1) + k*n) % len(x)
	}
	sum := float32(0)
	for r := range n {
		for k := range 18 {
			sum += x[at[k]]
			at[k] = at[(k+5)%18] + r
			if at[k] >= len(x) {
				at[k] -= len(x)
			}
		}
	}
	out[i] = sum
}
`

func TestSpillsAreFound(t *testing.T) {
	for _, test := range []struct{ name, text, counted, estimated string }{
		{"of all variants", spilling, "24 registers are not enough: each thread writes", "words are live at once, and a thread has 24 registers"},
		{"of the wide variant", spillingWide, "in launches whose indices do not fit 32 bits, 48 registers are not enough", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			spills := func(text, want string) {
				t.Helper()
				p, err := frontend.Text(t.Context(), "p.go", text)
				if err != nil {
					t.Fatal(err)
				}
				prog, err := p.Lower()
				if err != nil {
					t.Fatal(err)
				}
				list, err := check(p, prog.Kernels[0])
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range list {
					if f.Rule == "spills" && strings.Contains(f.Text, want) {
						return
					}
				}
				t.Errorf("want a finding with %q; have %v", want, list)
			}
			t.Run("counted", func(t *testing.T) {
				if _, err := ptxas.Find(); err != nil {
					t.Skip(err)
				}
				spills(test.text, test.counted)
			})
			if test.estimated == "" {
				return
			}
			t.Run("estimated", func(t *testing.T) {
				withoutAssembler(t)
				spills(test.text, test.estimated)
			})
		})
	}
}
