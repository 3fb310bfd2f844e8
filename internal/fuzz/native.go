package fuzz

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/gohost"
	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/fuzz/batch"
)

// Native runs programs as plain Go and as the Go of the cpu device. It puts many programs
// into one binary, because building one takes longer than running it. It needs the go
// command and this repository.
type Native struct {
	Root string // root directory of the repository
}

// programsPath is the import path that the go command sees for the programs.
const programsPath = "internal/fuzz/programs"

// Check runs programs. It returns the mismatch of each, nil if there is none.
func (n *Native) Check(ctx context.Context, cases []*Case) ([]*Mismatch, error) {
	out := make([]*Mismatch, len(cases))
	refs := make([]*reference, len(cases))
	files := map[string]string{}
	for i, c := range cases {
		source := c.renamed(i)
		k, err := lower(fmt.Sprintf("p%d.go", i), source)
		if err == nil {
			refs[i], err = c.refer(k)
		}
		var text string
		if err == nil {
			text, err = hostFile(i, k)
		}
		if err != nil {
			out[i] = &Mismatch{c, "cpu compile", err.Error()}
			continue
		}
		files[fmt.Sprintf("p%d.go", i)] = defined(source)
		files[fmt.Sprintf("h%d.go", i)] = text
	}
	for {
		if len(files) == 0 {
			return out, nil
		}
		binary, log, err := n.build(ctx, files)
		if err != nil {
			return nil, err
		}
		if log == "" {
			defer os.RemoveAll(filepath.Dir(binary))
			return out, n.run(ctx, binary, cases, refs, out)
		}
		// The compiler stops after several errors. Omit the programs that it names, and
		// build the others.
		found := false
		for _, m := range blamed.FindAllStringSubmatch(log, -1) {
			i, _ := strconv.Atoi(m[2])
			_, there := files["p"+m[2]+".go"]
			if there {
				out[i], found = &Mismatch{cases[i], "cpu build", m[4]}, true
				delete(files, "p"+m[2]+".go")
				delete(files, "h"+m[2]+".go")
			}
			if m[1] == "p" && m[3] != "" {
				out[i] = &Mismatch{cases[i], "go build", m[4]} // the program was never valid
			}
		}
		for _, m := range unencodable.FindAllStringSubmatch(log, -1) {
			if _, there := files["p"+m[1]+".go"]; there {
				i, _ := strconv.Atoi(m[1])
				out[i], found = nil, true
				refs[i] = nil
				delete(files, "p"+m[1]+".go")
				delete(files, "h"+m[1]+".go")
			}
		}
		if !found {
			return nil, fmt.Errorf("go build: %s", log)
		}
	}
}

// cuts matches the functions that only convert a float to an integer. In Go the result for
// values out of range is unspecified.
var cuts = regexp.MustCompile(`(func cut[a-z]+[0-9]*P[0-9]+\(x float[0-9]+\) (\w+) \{\s+return )\w+\(x\)`)

// defined replaces the conversions in a program by those that kernels define.
func defined(source string) string {
	return cuts.ReplaceAllString(source, "${1}kernel.ToInteger[${2}](x)")
}

// blamed matches a Go compiler error in the files of a program. An error without a column
// comes from a line directive, that is, from the Go code for the CPU.
var blamed = regexp.MustCompile(`\b([ph])(\d+)\.go:\d+:(\d+:)? (.*)`)

// unencodable matches the Go compiler's error about an index so large that no instruction
// can encode it without optimization. Such a program cannot be run.
var unencodable = regexp.MustCompile(`offset too large in .*\bp(\d+)\.go:`)

// hostFile returns the program's kernel compiled for the CPU, with the functions that call
// both forms.
func hostFile(id int, k *ir.Kernel) (_ string, err error) {
	defer frontend.Catch(&err, k.Name, k.Name)
	im := gohost.NewImports("main")
	text, err := gohost.Emit(k, im)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "package main\n\nimport (\n")
	for _, spec := range im.Specs() {
		fmt.Fprintf(&b, "\t%s\n", spec)
	}
	fmt.Fprintf(&b, ")\n\n%s", text)
	return b.String(), nil
}

// mainFile returns a main program that runs the programs in files.
func mainFile(files map[string]string) (string, error) {
	var b strings.Builder
	b.WriteString(`package main

import (
	"fmt"
	"os"

	"quern.dev/internal/fuzz/batch"
	"quern.dev/kernel"
)

func main() {
	if err := batch.Main([]batch.Program{
`)
	for name, source := range files {
		id, ok := strings.CutPrefix(strings.TrimSuffix(name, ".go"), "p")
		if !ok {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "{%s, func(t kernel.Thread, a batch.Args) { kernelP%s(t", id, id)
		i := 0
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != "kernelP"+id {
				continue
			}
			for _, p := range f.Type.Params.List[1:] {
				for range p.Names {
					t := source[p.Type.Pos()-1 : p.Type.End()-1]
					if elem, ok := strings.CutPrefix(t, "[]"); ok {
						fmt.Fprintf(&b, ", batch.Slice[%s](a, %d)", elem, i)
					} else {
						fmt.Fprintf(&b, ", batch.Value[%s](a, %d)", t, i)
					}
					i++
				}
			}
		}
		fmt.Fprintf(&b, ") }, %s},\n", gohost.FuncName("kernelP"+id))
	}
	b.WriteString("}, os.Stdin, os.Stdout); err != nil {\nfmt.Fprintln(os.Stderr, err)\nos.Exit(1)\n}\n}\n")
	return b.String(), nil
}

// build builds a binary of programs. log holds the compiler's errors about them.
func (n *Native) build(ctx context.Context, files map[string]string) (binary, log string, err error) {
	dir, err := os.MkdirTemp("", "quernfuzz")
	if err != nil {
		return "", "", err
	}
	text, err := mainFile(files)
	if err != nil {
		return "", "", err
	}
	overlay := map[string]string{}
	add := func(name, text string) {
		file := filepath.Join(dir, name)
		err = errors.Join(err, os.WriteFile(file, []byte(text), 0o644))
		overlay[filepath.Join(n.Root, filepath.FromSlash(programsPath), name)] = file
	}
	add("main.go", text)
	for name, text := range files {
		add(name, text)
	}
	list, _ := json.Marshal(map[string]any{"Replace": overlay})
	at := filepath.Join(dir, "overlay.json")
	if err = errors.Join(err, os.WriteFile(at, list, 0o644)); err != nil {
		return "", "", err
	}
	binary = filepath.Join(dir, "programs.exe")
	// Without optimization and inlining, because the programs are under test and building
	// takes most of the time.
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", at, "-gcflags=-N -l -dwarf=false -e", "-ldflags=-s -w", "-o", binary, "./"+programsPath)
	cmd.Dir = n.Root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		os.RemoveAll(dir)
		return "", "", errors.Join(err, ctx.Err())
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", string(output), nil
	}
	return binary, "", nil
}

// run sends the programs' arguments to the binary and compares its results.
func (n *Native) run(ctx context.Context, binary string, cases []*Case, refs []*reference, out []*Mismatch) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var jobs bytes.Buffer
	send := gob.NewEncoder(&jobs)
	for i, c := range cases {
		if out[i] != nil || refs[i] == nil {
			continue
		}
		k := refs[i].kernel
		j := batch.Job{ID: i, Grid: c.Grid, Block: c.Block}
		for a, b := range c.arguments(k) {
			elem := 0
			if t := k.Func.Params[a].Type; t.Kind == ir.Slice {
				elem = int(t.Elem.Size())
			}
			j.Args = append(j.Args, batch.NewArg(b, elem))
		}
		if err := send.Encode(j); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, binary)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &jobs, &stdout, &stderr
	ended := cmd.Run()
	done := map[int]bool{}
	for results := gob.NewDecoder(&stdout); ; {
		var r batch.Result
		if err := results.Decode(&r); err != nil {
			if !errors.Is(err, io.EOF) && ended == nil {
				return err
			}
			break
		}
		done[r.ID] = true
		for _, way := range []struct {
			where string
			got   *batch.Outcome
		}{{"go", &r.Plain}, {"cpu", &r.Host}} {
			if diff := refs[r.ID].compare(outcome(way.got)); diff != "" && out[r.ID] == nil {
				out[r.ID] = &Mismatch{cases[r.ID], way.where, diff}
			}
		}
	}
	if ended == nil {
		return nil
	}
	// It crashed or hung in the first program without a result.
	for i := range cases {
		if out[i] == nil && refs[i] != nil && !done[i] {
			out[i] = &Mismatch{cases[i], "cpu", fmt.Sprintf("the binary ended: %v: %.2000s", ended, &stderr)}
			return ctx.Err()
		}
	}
	return ended
}

func outcome(o *batch.Outcome) *Outcome {
	out := &Outcome{}
	for _, a := range o.Args {
		out.Args = append(out.Args, a.Bytes())
	}
	if o.Failed {
		out.Fault = &Fault{Line: o.Line, Block: o.Block, Thread: o.Thread, Text: o.Text}
	}
	return out
}
