package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/generate"
)

func genCommand() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "gen [packages]",
		Short: "Compile kernels and write their launchers",
		Long: `gen compiles the kernels of each package and writes two files beside them:
quern_gen.ptx, the GPU code, and quern_gen.go, a typed launcher for each kernel
and its version for the CPU. The same source gives the same bytes; files that
are up to date are left alone. Commit both.

A package may be broken in one way: that its launchers are missing.

Make quern a tool of your module with: go get -tool quern.dev/cmd/quern`,
		Example: `  quern gen ./...                    compile every kernel below this directory
  quern gen --check ./...            in CI: fail if a generated file is out of date
  //go:generate go tool quern gen    in a Go file, for go generate`,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			return gen(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), patterns, check)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; exit 1 if a file is out of date")
	return cmd
}

func vetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "vet [packages]",
		Short: "Check kernels without writing anything",
		Long: `vet compiles the kernels of each package and reports every error, each with
its place, the kernel, and what to write instead. It writes nothing.`,
		Example: "  quern vet ./...    check every kernel below this directory",
		RunE: func(cmd *cobra.Command, patterns []string) error {
			return vet(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), patterns)
		},
	}
}

// load finds the packages with kernels.
func load(ctx context.Context, patterns []string) ([]*frontend.Package, error) {
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	return frontend.Load(ctx, ".", patterns...)
}

func gen(ctx context.Context, stdout, stderr io.Writer, patterns []string, check bool) error {
	packages, err := load(ctx, patterns)
	if err != nil {
		return err
	}
	if len(packages) == 0 {
		fmt.Fprintf(stdout, "no kernels in %s: mark a function with //quern:kernel\n", shown(patterns))
		return nil
	}
	found := false
	for _, p := range packages {
		out, err := generate.Package(p)
		if err != nil {
			if !report(stderr, err) {
				return err
			}
			found = true
			continue
		}
		stale, err := outOfDate(p, out)
		if err != nil {
			return err
		}
		if check {
			for _, f := range stale {
				fmt.Fprintf(stdout, "%s is out of date\n", relative(f.name))
				found = true
			}
			continue
		}
		if err := replace(stale); err != nil {
			return err
		}
		for _, f := range stale {
			fmt.Fprintf(stdout, "%s: %s\n", relative(f.name), count(len(out.Kernels), "kernel"))
		}
	}
	if found {
		return errFound
	}
	return nil
}

func vet(ctx context.Context, stdout, stderr io.Writer, patterns []string) error {
	packages, err := load(ctx, patterns)
	if err != nil {
		return err
	}
	kernels, found := 0, false
	for _, p := range packages {
		out, err := generate.Package(p)
		if err != nil {
			if !report(stderr, err) {
				return err
			}
			found = true
			continue
		}
		kernels += len(out.Kernels)
	}
	if found {
		return errFound
	}
	fmt.Fprintf(stdout, "%s in %s: no problems\n", count(kernels, "kernel"), count(len(packages), "package"))
	return nil
}

// report prints diagnostics with paths relative to the current directory; false
// if the error is something else.
func report(w io.Writer, err error) bool {
	var diags frontend.Diagnostics
	if !errors.As(err, &diags) {
		return false
	}
	for _, d := range diags {
		d.Pos.Filename = relative(d.Pos.Filename)
		fmt.Fprintln(w, d.Error())
	}
	return true
}

// file is a generated file.
type file struct {
	name string
	text []byte
}

// outOfDate returns the files of a package that are missing or differ.
func outOfDate(p *frontend.Package, out *generate.Output) ([]file, error) {
	goFile, ptxFile := generate.Files(p)
	var stale []file
	for _, f := range []file{{ptxFile, out.PTX}, {goFile, out.Go}} {
		old, err := os.ReadFile(f.name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || !bytes.Equal(old, f.text) {
			stale = append(stale, f)
		}
	}
	return stale, nil
}

// replace writes files: all or, if there is no room or no permission, none. A
// reader never sees a part of one.
func replace(files []file) error {
	temporary := make([]string, len(files))
	defer func() {
		for _, name := range temporary {
			os.Remove(name)
		}
	}()
	for i, f := range files {
		w, err := os.CreateTemp(filepath.Dir(f.name), ".quern-*")
		if err != nil {
			return fmt.Errorf("cannot write %s: %w", relative(f.name), cause(err))
		}
		temporary[i] = w.Name()
		_, err = w.Write(f.text)
		if err := errors.Join(err, w.Chmod(0o644), w.Close()); err != nil {
			return fmt.Errorf("cannot write %s: %w", relative(f.name), err)
		}
	}
	for i, f := range files {
		if err := os.Rename(temporary[i], f.name); err != nil {
			return fmt.Errorf("cannot write %s: %w", relative(f.name), cause(err))
		}
	}
	return nil
}

// cause is an error without the name of the temporary file.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

func relative(name string) string {
	dir, err := os.Getwd()
	if err != nil || !filepath.IsAbs(name) {
		return name
	}
	rel, err := filepath.Rel(dir, name)
	if err != nil || strings.HasPrefix(rel, ".."+string(filepath.Separator)+".."+string(filepath.Separator)) {
		return name
	}
	return rel
}

func shown(patterns []string) string {
	if len(patterns) == 0 {
		return "this package"
	}
	return strings.Join(patterns, " ")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
