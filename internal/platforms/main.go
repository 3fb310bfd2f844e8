// Command platforms type-checks packages for operating systems and architectures. It finds what a
// build would find, but for what only the compiler's back end and the linker see, and takes a tenth
// of the time.
//
//	go run ./internal/platforms linux/arm64 windows/amd64 -- ./...
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	targets, patterns := os.Args[1:], []string{"./..."}
	if i := slices.Index(targets, "--"); i >= 0 {
		targets, patterns = targets[:i], targets[i+1:]
	}
	for _, target := range targets {
		n, err := check(target, patterns)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s:\n%v\n", target, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d packages\n", target, n)
	}
}

// listed is what go list says of a package.
type listed struct {
	Dir, ImportPath string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

// check type-checks the packages and what they import. It returns the number of packages of the main module.
func check(target string, patterns []string) (count int, err error) {
	system, architecture, ok := strings.Cut(target, "/")
	if !ok {
		return 0, fmt.Errorf("platforms: %q: want GOOS/GOARCH", target)
	}
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=Dir,ImportPath,GoFiles,ImportMap,Module,Error"}, patterns...)...)
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	list, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	var failures []error
	checked := map[string]*types.Package{"unsafe": types.Unsafe}
	for in := json.NewDecoder(list); ; {
		var p listed
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, err
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		if p.Error != nil {
			failures = append(failures, errors.New(p.Error.Err))
		}
		own := p.Module != nil && p.Module.Main
		if own {
			count++
		}
		files := token.NewFileSet()
		var syntax []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return 0, err
			}
			syntax = append(syntax, f)
		}
		config := types.Config{
			Importer:         imports{p.ImportMap, checked},
			Sizes:            types.SizesFor("gc", architecture),
			IgnoreFuncBodies: !own,
			FakeImportC:      true,
			Error: func(err error) {
				if own {
					failures = append(failures, err)
				}
			},
		}
		if p.Module != nil && p.Module.GoVersion != "" {
			config.GoVersion = "go" + p.Module.GoVersion
		}
		checked[p.ImportPath], _ = config.Check(p.ImportPath, files, syntax, nil)
	}
	return count, errors.Join(append(failures, cmd.Wait())...)
}

// imports finds packages that are checked, by the paths as one package writes them.
type imports struct {
	paths   map[string]string
	checked map[string]*types.Package
}

func (i imports) Import(path string) (*types.Package, error) {
	if real, ok := i.paths[path]; ok {
		path = real
	}
	if p := i.checked[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s is not imported", path)
}
