package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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

A package may be broken in one way: that its launchers are missing.`,
		Example: "  quern gen ./...\n  //go:generate go tool quern gen",
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
		Example: "  quern vet ./...",
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
		goFile, ptxFile := generate.Files(p)
		for _, f := range []struct {
			name string
			text []byte
		}{{ptxFile, out.PTX}, {goFile, out.Go}} {
			old, err := os.ReadFile(f.name)
			if err == nil && bytes.Equal(old, f.text) {
				continue
			}
			if check {
				fmt.Fprintf(stdout, "%s is out of date\n", relative(f.name))
				found = true
				continue
			}
			if err := writeFile(f.name, f.text); err != nil {
				return err
			}
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

// writeFile replaces a file in one step, so that a reader never sees a part.
func writeFile(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".quern-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err := errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
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
