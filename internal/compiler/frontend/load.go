package frontend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"quern.dev/internal/archive"
)

// GeneratedFile is the name of the Go file that the generator writes. Its source is not
// read in any package: its declarations count as missing.
const GeneratedFile = "quern_gen.go"

// Load finds the packages that match the patterns, like the go command in dir, and
// type-checks those that have kernels or generated files. A package that lacks only its
// launchers is valid.
func Load(ctx context.Context, dir string, patterns ...string) ([]*Package, error) {
	matched, err := goList(ctx, dir, append([]string{"-e", "-json=ImportPath,Name,Dir,GoFiles,CgoFiles,IgnoredGoFiles,TestGoFiles,XTestGoFiles,Imports,ImportMap,Standard,Error", "--"}, patterns...))
	if err != nil {
		return nil, err
	}
	if len(matched) == 0 {
		return nil, fmt.Errorf("no packages match %s", strings.Join(patterns, " "))
	}
	var roots []*listed
	wrong := map[*listed]Diagnostics{}
	imports := map[string]bool{}
	for _, l := range matched {
		if l.Dir == "" && l.Error != nil {
			return nil, errors.New(strings.TrimSpace(l.Error.Err))
		}
		has, err := l.mentionsKernels()
		if err != nil {
			return nil, err
		}
		wrong[l], err = l.misplaced()
		if err != nil {
			return nil, err
		}
		if !has && len(wrong[l]) == 0 && !l.generated() {
			continue
		}
		if err := l.broken(); err != nil {
			return nil, err
		}
		roots = append(roots, l)
		for _, path := range l.Imports {
			if path != "unsafe" && path != "C" {
				imports[path] = true
			}
		}
		paths, err := l.operatorImports()
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			imports[path] = true
		}
		if actors, err := l.mentionsActors(); err != nil {
			return nil, err
		} else if actors {
			imports[actorPath], imports[loopPath] = true, true
		}
	}
	if len(roots) == 0 {
		return nil, nil
	}
	w := newWorld()
	if len(imports) > 0 {
		args := []string{"-e", "-export", "-deps", "-json=ImportPath,Name,Dir,GoFiles,CgoFiles,Imports,ImportMap,Export,Standard,Error"}
		for path := range imports {
			args = append(args, path)
		}
		slices.Sort(args[4:])
		deps, err := goList(ctx, dir, args)
		if err != nil {
			return nil, err
		}
		for _, l := range deps {
			w.listed[l.ImportPath] = l
		}
	}
	for _, l := range roots {
		w.listed[l.ImportPath] = l
	}
	var out []*Package
	for _, l := range roots {
		files, err := w.parseFiles(l.ImportPath, l.Dir, slices.Concat(l.GoFiles, l.CgoFiles))
		if err != nil {
			return nil, err
		}
		files, actors, err := w.withActors(l.ImportPath, files)
		if err != nil {
			return nil, err
		}
		files, operators, misuses, err := w.withOperators(l.ImportPath, files)
		if err != nil {
			return nil, err
		}
		p := w.check(&Package{Path: l.ImportPath, Files: files}, w.api)
		p.actors, p.operators, p.misuses = actors, operators, misuses
		p.Dir, p.Misplaced = l.Dir, wrong[l]
		w.sources[l.ImportPath] = p
		out = append(out, p)
	}
	return out, nil
}

// broken returns errors that the go command reports for a package as a whole, such as
// an import cycle. Errors about generated files are ignored.
func (l *listed) broken() error {
	e := l.Error
	if e == nil || strings.Contains(e.Pos+e.Err, strings.TrimSuffix(GeneratedFile, ".go")) {
		return nil
	}
	if err := l.cycle(); err != nil {
		return fmt.Errorf("%s: %w", l.ImportPath, err)
	}
	return fmt.Errorf("%s: %s", l.ImportPath, strings.TrimSpace(e.Err))
}

// cycle returns an error if the package imports itself through others.
func (l *listed) cycle() error {
	if l.Error == nil || !strings.HasPrefix(l.Error.Err, "import cycle") {
		return nil
	}
	return fmt.Errorf("%s: %s", l.Error.Err, strings.Join(l.Error.ImportStack, " -> "))
}

// mentionsKernels reports whether a file of the package contains a directive.
func (l *listed) mentionsKernels() (bool, error) {
	for _, name := range l.GoFiles {
		text, err := os.ReadFile(filepath.Join(l.Dir, name))
		if err != nil {
			return false, err
		}
		if mentioned.Match(text) {
			return true, nil
		}
	}
	return false, nil
}

// generated reports whether the package has a generated file.
func (l *listed) generated() bool {
	if l.Standard {
		return false
	}
	for _, name := range []string{GeneratedFile, archive.File} {
		if _, err := os.Stat(filepath.Join(l.Dir, name)); err == nil {
			return true
		}
	}
	return false
}

// BuildTag is set while packages are read for compilation. A file with the constraint
// !quern can replace a function of a file with the constraint quern in the program: with
// assembly, for example, which the kernels cannot contain.
const BuildTag = "quern"

// buildTags returns BuildTag and the tags of GOFLAGS.
func buildTags() string {
	tags := BuildTag
	for _, flag := range strings.Fields(os.Getenv("GOFLAGS")) {
		if _, list, ok := strings.Cut(flag, "-tags="); ok {
			tags += "," + list
		}
	}
	return tags
}

func goList(ctx context.Context, dir string, args []string) ([]*listed, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-tags=" + buildTags()}, args...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if text := strings.TrimSpace(stderr.String()); text != "" {
			return nil, fmt.Errorf("go list: %s", text)
		}
		return nil, fmt.Errorf("go list: %w", err)
	}
	var list []*listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		l := new(listed)
		if err := dec.Decode(l); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if !l.Standard {
			l.GoFiles = slices.DeleteFunc(l.GoFiles, func(name string) bool { return name == GeneratedFile })
		}
		list = append(list, l)
	}
}

// index fills the maps from names to declarations, on first use.
func (p *Package) index() {
	if p.funcs != nil {
		return
	}
	p.funcs = map[string]*ast.FuncDecl{}
	for _, f := range p.Files {
		for _, d := range f.Decls {
			if fd, ok := d.(*ast.FuncDecl); ok {
				p.funcs[declName(fd)] = fd
			}
		}
	}
}

// declName returns "Name" for a function and "Type.Name" for a method.
func declName(fd *ast.FuncDecl) string {
	if fd.Recv == nil || len(fd.Recv.List) == 0 {
		return fd.Name.Name
	}
	t := fd.Recv.List[0].Type
	for {
		switch u := t.(type) {
		case *ast.StarExpr:
			t = u.X
		case *ast.ParenExpr:
			t = u.X
		case *ast.IndexExpr:
			t = u.X
		case *ast.IndexListExpr:
			t = u.X
		case *ast.Ident:
			return u.Name + "." + fd.Name.Name
		default:
			return fd.Name.Name
		}
	}
}
