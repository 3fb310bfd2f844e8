package lint_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/internal/compiler/frontend"
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
	p, err := frontend.Text(filepath.Base(file), string(text))
	if err != nil {
		t.Fatal(err)
	}
	prog, err := p.Lower()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, k := range prog.Kernels {
		list, err := lint.Check(k)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			b.WriteString(f.String() + "\n")
		}
	}
	return b.String()
}

func TestSlowKernelsAreFound(t *testing.T) {
	testmodule.NeedSource(t)
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

func TestTunedKernelsOfTheRepositoryAreLeftAlone(t *testing.T) {
	testmodule.NeedSource(t)
	packages, err := frontend.Load(context.Background(), "../../..", "./examples/photo", "./examples/saxpy", "./bench/...")
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
			list, err := lint.Check(k)
			if err != nil {
				t.Fatal(err)
			}
			kernels++
			for _, f := range list {
				if p.Owns(k.Name, f.Pos) {
					t.Error(f)
				}
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

func TestSpillsAreFoundWhereThereIsAnAssembler(t *testing.T) {
	if _, err := ptxas.Find(); err != nil {
		t.Skip(err)
	}
	p, err := frontend.Text("p.go", spilling)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := p.Lower()
	if err != nil {
		t.Fatal(err)
	}
	list, err := lint.Check(prog.Kernels[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Rule != "spills" || !strings.Contains(list[0].Text, "24 registers are not enough") {
		t.Errorf("have %v", list)
	}
}
