// Command interleave runs tests with random yields and sleeps between the statements of
// packages whose correctness depends on how goroutines interleave. On two cores, it
// reproduces failures that otherwise need a larger machine.
//
//	go run ./internal/interleave -count 20 -- ./internal/conformance/routing -run TestRepliesFanOut
//
// It passes the arguments after -- to go test. The instrumented files are copies that go
// test reads through an overlay; the source tree does not change. The seed selects a few
// places where goroutines often sleep (probabilistic concurrency testing, Burckhardt and
// others, 2010). The same seed makes a failure likely to recur, but not certain.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// defaults lists the packages to instrument. Function names after a colon limit the
// instrumentation of a package to these functions.
const defaults = "ring internal/driver/sim internal/ptxvm:pointer"

func main() {
	packages := flag.String("packages", defaults, "directories to instrument, optionally as directory:function,function")
	count := flag.Int("count", 10, "number of runs, each with its own seed")
	seed := flag.Uint64("seed", 0, "seed of the first run; 0 chooses one at random")
	keep := flag.Bool("keep-going", false, "continue after a failed run")
	out := flag.String("o", "", "write the test binary to this file and do not run it")
	flag.Parse()
	if err := run(strings.Fields(*packages), *count, *seed, *keep, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "interleave:", err)
		os.Exit(1)
	}
}

func run(packages []string, count int, seed uint64, keep bool, out string, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no package to test; name it after --")
	}
	dir, err := os.MkdirTemp("", "interleave")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	overlay, err := instrument(dir, packages)
	if err != nil {
		return err
	}
	binary := filepath.Join(dir, "test")
	if out != "" {
		if binary, err = filepath.Abs(out); err != nil {
			return err
		}
	}
	build, rest := []string{"test", "-c", "-overlay", overlay, "-o", binary}, args[1:]
	if slices.Contains(rest, "-race") {
		build, rest = append(build, "-race"), slices.DeleteFunc(slices.Clone(rest), func(a string) bool { return a == "-race" })
	}
	if err := command("", nil, "go", append(build, args[0])...); err != nil || out != "" {
		return err
	}
	for i, a := range rest {
		if name, ok := strings.CutPrefix(a, "-"); ok && !strings.HasPrefix(name, "test.") {
			rest[i] = "-test." + name
		}
	}
	if seed == 0 {
		seed = rand.Uint64N(1 << 32)
	}
	failed := 0
	for i := range uint64(count) {
		if err := command(args[0], []string{"INTERLEAVE=" + strconv.FormatUint(seed+i, 10)}, binary, rest...); err != nil {
			fmt.Printf("interleave: failed with -seed %d -count 1\n", seed+i)
			if failed++; !keep {
				break
			}
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d runs failed", failed)
	}
	return nil
}

func command(dir string, env []string, name string, args ...string) error {
	c := exec.Command(name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), env...)
	return c.Run()
}

// instrument writes instrumented copies of the packages to dir. It returns the path of the
// overlay file for go test.
func instrument(dir string, packages []string) (string, error) {
	replace := map[string]string{}
	add := func(path string, text []byte) error {
		full, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		replace[full] = filepath.Join(dir, strconv.Itoa(len(replace))+".go")
		return os.WriteFile(replace[full], text, 0o600)
	}
	sites := 0
	for _, p := range packages {
		folder, only, _ := strings.Cut(p, ":")
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return "", err
		}
		name := ""
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				return "", err
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, f, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return "", err
			}
			name = file.Name.Name
			if err := add(f, insert(fset, file, text, only, &sites)); err != nil {
				return "", err
			}
		}
		if name == "" {
			return "", fmt.Errorf("no Go files in %s", folder)
		}
		if err := add(filepath.Join(folder, "zz_interleave.go"), []byte("package "+name+yield)); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, text, 0o600)
}

// insert returns the file with a call before each statement and before the second operand
// of && and ||. Line numbers do not change.
func insert(fset *token.FileSet, file *ast.File, text []byte, only string, sites *int) []byte {
	type call struct {
		at   int
		text string
	}
	var calls []call
	put := func(at token.Pos, format string) {
		calls = append(calls, call{fset.Position(at).Offset, fmt.Sprintf(format, *sites)})
		*sites++
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || f.Doc != nil && strings.Contains(f.Doc.Text()+comments(f.Doc), "//go:") {
			continue
		}
		if only != "" && !slices.Contains(strings.Split(only, ","), f.Name.Name) {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			var list []ast.Stmt
			switch n := n.(type) {
			case *ast.BlockStmt:
				list = n.List
			case *ast.CaseClause:
				list = n.Body
			case *ast.CommClause:
				list = n.Body
			case *ast.BinaryExpr:
				switch n.Op {
				case token.LAND:
					put(n.Y.Pos(), "interleaved(%d) && ")
				case token.LOR:
					put(n.Y.Pos(), "!interleaved(%d) || ")
				}
			}
			for _, s := range list {
				switch s.(type) {
				case *ast.CaseClause, *ast.CommClause:
				default:
					put(s.Pos(), "interleaved(%d);")
				}
			}
			return true
		})
	}
	slices.SortStableFunc(calls, func(x, y call) int { return x.at - y.at })
	var b strings.Builder
	from := 0
	for _, c := range calls {
		b.Write(text[from:c.at])
		b.WriteString(c.text)
		from = c.at
	}
	b.Write(text[from:])
	return []byte(b.String())
}

func comments(g *ast.CommentGroup) string {
	var b strings.Builder
	for _, c := range g.List {
		b.WriteString(c.Text + "\n")
	}
	return b.String()
}

// yield is added to each instrumented package. Goroutines often sleep for up to a
// millisecond at the few places that the seed selects, and rarely yield or sleep
// elsewhere.
const yield = `

import (
	"hash/maphash"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
)

var interleaveSeed = func() uint64 {
	n, err := strconv.ParseUint(os.Getenv("INTERLEAVE"), 10, 64)
	if err != nil {
		return maphash.Comparable(maphash.MakeSeed(), 0)
	}
	return n
}()

var interleaveSlow = func() (slow [1 << 14]bool) {
	r := rand.New(rand.NewPCG(interleaveSeed, 1))
	for i := range slow {
		slow[i] = r.Uint32()%100 == 0
	}
	return slow
}()

// interleaveSlept counts the sleeps at each place. They are limited, so that a run does
// not fail merely because it is slow.
var interleaveSlept [1 << 14]atomic.Int32

func interleaved(site int) bool {
	r := rand.Uint32()
	switch {
	case interleaveSlow[site%len(interleaveSlow)] && r%4 == 0 && interleaveSlept[site%len(interleaveSlept)].Add(1) < 500:
		time.Sleep(time.Duration(r>>2%1000) * time.Microsecond)
	case r%20000 == 0 && interleaveSlept[0].Add(1) < 2000:
		time.Sleep(time.Duration(r>>16%1000) * time.Microsecond)
	case r%64 == 0:
		runtime.Gosched()
	}
	return true
}
`
