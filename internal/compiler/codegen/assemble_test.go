package codegen

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"quern.dev/internal/archive"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/generate"
	"quern.dev/internal/overlay"
	"quern.dev/internal/ptxas"
	"quern.dev/internal/testmodule"
)

const registersFile = "testdata/registers.golden"

// module is PTX text to assemble. Its name consists of a directory, a kernel and a
// variant. Devices that run other, if that is not empty, do not run it.
type module struct{ name, text, other string }

// modules returns the modules of this package's kernels and of every other package in
// the repository. Those of packages with generated files are read from these, which the tests of
// the packages compare with what the compiler writes.
func modules(t *testing.T) []module {
	t.Helper()
	var out []module
	for _, s := range sources(t) {
		for _, k := range s.kernels {
			for _, v := range k.Variants {
				out = append(out, module{"codegen " + k.IR.Name + " " + v.Name, v.Text, ""})
			}
		}
	}
	root := testmodule.Root(t)
	all, _, err := overlay.Packages(root)
	if err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // what the compiler allocates soon becomes garbage
	packages, err := frontend.Load(t.Context(), root, append(all, "./...")...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		for _, m := range generatedModules(t, p) {
			name := strings.TrimPrefix(p.Path, "quern.dev/") + " " + m.Kernel + " " + m.Variant
			if m.Older {
				name += " older"
			}
			other := ""
			if newest := ptxas.Architectures[len(ptxas.Architectures)-1]; m.Older && !ptxas.Runs(out[len(out)-1].text, newest) {
				other = out[len(out)-1].text
			}
			out = append(out, module{name, m.Text, other})
		}
	}
	return out
}

// generatedModules returns the modules of a package.
func generatedModules(t *testing.T, p *frontend.Package) []archive.Module {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.Dir, archive.File))
	if errors.Is(err, fs.ErrNotExist) { // not in the repository
		var out *generate.Output
		if out, err = generate.Package(p); err == nil {
			text = out.Archive
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(text) == 0 {
		return nil // no kernels
	}
	a, err := archive.Open(string(text))
	if err != nil {
		t.Fatal(err)
	}
	list, err := a.Modules()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// spilling matches the modules that may spill registers: a few for more blocks at a time or larger tiles, on
// architectures without their instructions those that hold tiles for groups, and some with indices
// of 64 bits, up to 48 bytes.
var spilling = regexp.MustCompile(`^(fft registers|blas/internal/kernels (gemm|product|tensor|group.* older)|` +
	`algo (sortPairs|sortLines|extremeFloatScanTiles|.*UniqueTiles|nonZeroKeepTiles)|bench/parity/kernels (lennardJones|attentionUnchecked wide)|` +
	`filter/internal/kernels (maskedExtreme|windowColumns).* wide|geo/tiff/device/internal/kernels (difference|join).* wide|` +
	`internal/conformance/(algo (joinScanRuns|withinRunTiles wide|.*UniqueTiles|bySizeSortPairTiles)|tensor (groups|product\[float64,float64,float64\] narrow|product.* older)))`)

// Every module assembles for every architecture from its target on, and no kernel spills
// registers, except those that spilling matches. Products of tiles run at the same time, except
// in kernels that may fault: their fault leaves while products are pending. The resources used
// on sm_90, local memory among them, are compared with the recorded ones. A module whose instructions are those
// recorded by -update has been assembled then, so -update does not assemble it again. Otherwise
// a thirty-second of these modules are assembled for sm_90, which shows whether ptxas is still the one
// that the file was made with. With -short, only the oldest and the newest architecture and sm_90
// count.
func TestModulesAssemble(t *testing.T) {
	if _, err := ptxas.Find(); err != nil {
		t.Skip(err)
	}
	const recorded = "sm_90"
	var mu sync.Mutex
	got := map[string]resources{}
	want := readRegisters(t)
	all := modules(t)
	t.Run("assemble", func(t *testing.T) {
		for _, m := range all {
			known := want[m.name].instructions == m.instructions()
			if known && (*update || !strings.HasPrefix(m.instructions(), "0") || m.instructions()[1]%2 != 0) {
				continue
			}
			t.Run(m.name, func(t *testing.T) {
				t.Parallel()
				used := resources{instructions: m.instructions()} // of a module for older devices only, no more
				for i, arch := range ptxas.Architectures {
					between := i > 0 && i < len(ptxas.Architectures)-1 && arch != recorded
					if !ptxas.Runs(m.text, arch) || m.other != "" && ptxas.Runs(m.other, arch) || known && arch != recorded || testing.Short() && between {
						continue
					}
					info, err := ptxas.Assemble(m.text, arch)
					if err != nil {
						t.Fatal(err)
					}
					if info.SpillStores+info.SpillLoads > 0 && !spilling.MatchString(m.name) {
						t.Errorf("%s: %d bytes of registers are spilled", arch, info.SpillStores+info.SpillLoads)
					}
					if info.Serialized && !strings.Contains(m.text, "$fault:") {
						t.Errorf("%s: the products of tiles are serialized", arch)
					}
					if arch == recorded {
						used = resources{info, m.instructions()}
					}
				}
				if !t.Failed() {
					mu.Lock()
					got[m.name] = used
					mu.Unlock()
				}
			})
		}
	})
	for _, m := range all {
		g, assembled := got[m.name]
		w, recorded := want[m.name]
		delete(want, m.name)
		switch {
		case !assembled: // it failed, is known, or is not among the tests that run
			if recorded {
				got[m.name] = w
			}
		case *update:
		case !recorded:
			t.Errorf("%s: %d registers, none recorded", m.name, g.Registers)
		case abs(g.Registers-w.Registers) > max(2, w.Registers/10):
			t.Errorf("%s: %d registers, %d recorded", m.name, g.Registers, w.Registers)
		case g.Stack != w.Stack || g.Shared != w.Shared:
			t.Errorf("%s: %d bytes of local and %d of shared memory, %d and %d recorded", m.name, g.Stack, g.Shared, w.Stack, w.Shared)
		}
	}
	if *update {
		writeRegisters(t, got)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		t.Errorf("%s is recorded, but there is no such module", name)
	}
	if t.Failed() {
		t.Log("where this is meant, record it with go test -update")
	}
}

// resources are what a module uses on sm_90, and a checksum of its instructions.
type resources struct {
	ptxas.Info
	instructions string
}

var positions = regexp.MustCompile(`(?m)^\s*(\.loc |\.file |//).*\n`)

// instructions returns a checksum of the module without comments and source positions.
func (m *module) instructions() string {
	sum := sha256.Sum256([]byte(positions.ReplaceAllString(m.text, "")))
	return hex.EncodeToString(sum[:8])
}

func abs(x int) int { return max(x, -x) }

const registersHead = "# What ptxas says that kernels use on sm_90: registers, then bytes of local and shared memory. The last column is a checksum of the instructions.\n"

func writeRegisters(t *testing.T, infos map[string]resources) {
	t.Helper()
	var b strings.Builder
	b.WriteString(registersHead)
	for _, name := range slices.Sorted(maps.Keys(infos)) {
		i := infos[name]
		fmt.Fprintf(&b, "%s %d %d %d %s\n", name, i.Registers, i.Stack, i.Shared, i.instructions)
	}
	if err := os.WriteFile(registersFile, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readRegisters(t *testing.T) map[string]resources {
	t.Helper()
	text, err := os.ReadFile(registersFile)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]resources{}
	for line := range strings.Lines(strings.TrimPrefix(string(text), registersHead)) {
		fields := strings.Fields(line)
		n := max(4, len(fields)) - 4 // the name contains spaces
		var i resources
		if _, err := fmt.Sscan(strings.Join(fields[n:], " "), &i.Registers, &i.Stack, &i.Shared, &i.instructions); err != nil {
			t.Fatalf("%s: %q: %v", registersFile, line, err)
		}
		out[strings.Join(fields[:n], " ")] = i
	}
	return out
}
