package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/generate"
	"quern.dev/internal/compiler/lint"
)

// compilerGC is the GC percentage for commands that compile. What the compiler allocates
// soon becomes garbage: gen takes a fifth less processor time, and twice the memory,
// which for this repository is 250 MB.
const compilerGC = 400

func genCommand() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use:   "gen [packages]",
		Short: "Compile kernels and write their launchers",
		Long: `gen compiles the kernels of each package and writes two files next to them:
quern_gen.zip with the GPU code, and quern_gen.go with a typed launcher and the
CPU version of each kernel. Output is reproducible, and files that are up to date
are not rewritten. Commit both files.

A package must compile, except that its launchers may be missing. If a package
has no kernels left, gen removes the two files. It never overwrites a
quern_gen.go that it did not write, but reports an error.

To make quern a tool of your module: go mod edit -tool=quern.dev/cmd/quern`,
		Example: `  quern gen ./...                    compile every kernel under this directory
  quern gen --check ./...            in CI: fail if a generated file is out of date
  //go:generate go tool quern gen    in a Go file, for go generate`,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			debug.SetGCPercent(compilerGC)
			return gen(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), patterns, check)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing; exit 1 if a file is out of date")
	return cmd
}

func vetCommand() *cobra.Command {
	perf := false
	cmd := &cobra.Command{
		Use:   "vet [packages]",
		Short: "Check kernels without writing anything",
		Long: `vet compiles the kernels of each package and reports every error with its
position, the kernel, and what to write instead. It writes nothing.

With --perf it also reports code that is slow on a GPU, with its position and
what to try instead:

  uncoalesced        neighboring threads access memory far apart; gives the stride
  bank conflict      a warp's accesses to shared memory go to the same bank
  divergence         threads of a warp take different paths through long code
  64-bit arithmetic  32 bits are enough
  local memory       a thread's variables are kept in memory
  spills             the same, because registers ran out (needs ptxas on PATH)
  launch bounds      the kernel assumes a block size but does not declare block=

The analysis is static. It assumes the block size that the kernel declares, or
the default of the launchers. Findings exit with 1, as errors do.`,
		Example: `  quern vet ./...           check every kernel under this directory
  quern vet --perf ./...    also report slow code`,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			debug.SetGCPercent(compilerGC)
			return vet(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), patterns, perf)
		},
	}
	cmd.Flags().BoolVar(&perf, "perf", false, "also report code that is slow on a GPU")
	return cmd
}

// load loads the packages that have kernels or leftover files of removed kernels.
func load(ctx context.Context, command string, patterns []string) ([]*frontend.Package, error) {
	for _, p := range patterns {
		switch {
		case p == "":
			return nil, errUsage{errors.New("a package name is empty; omit it for the package in the current directory"), command}
		case strings.HasSuffix(p, ".go") && !isDirectory(p):
			return nil, errUsage{fmt.Errorf("%s is a file; name the package's directory instead", p), command}
		}
	}
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	return frontend.Load(ctx, ".", patterns...)
}

func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// compile compiles packages one after another and passes each output to use. It
// prints errors and continues with the next package. failed reports whether there
// were any.
func compile(stderr io.Writer, packages []*frontend.Package, use func(*frontend.Package, *generate.Output) error) (failed bool) {
	for _, p := range packages {
		out, err := generate.Package(p)
		if err == nil {
			err = use(p, out)
		}
		if err != nil {
			reportProblems(stderr, err)
			failed = true
		}
	}
	return failed
}

func gen(ctx context.Context, stdout, stderr io.Writer, patterns []string, check bool) error {
	packages, err := load(ctx, "quern gen", patterns)
	if err != nil {
		return err
	}
	outdated, kernels, packagesWithKernels, removed := false, 0, 0, 0
	failed := compile(stderr, packages, func(p *frontend.Package, out *generate.Output) error {
		old, err := generate.Read(p)
		if err != nil {
			return err
		}
		goFile, archiveFile := generate.Files(p)
		if len(old.Go) > 0 && !generate.IsGo(old.Go) {
			return fmt.Errorf("%s was not written by quern gen, which would overwrite it; rename it, or delete it", relative(goFile))
		}
		kernels += len(out.Kernels)
		if len(out.Kernels) == 0 {
			for _, f := range []file{{archiveFile, old.Archive}, {goFile, old.Go}} {
				if f.text == nil || !generate.IsGo(f.text) && !generate.IsArchive(f.text) {
					continue
				}
				removed++
				if check {
					outdated = true
					fmt.Fprintf(stdout, "%s is out of date: the package has no kernels\n", relative(f.name))
					continue
				}
				if err := os.Remove(f.name); err != nil {
					return err
				}
				fmt.Fprintf(stdout, "%s: removed because the package has no kernels\n", relative(f.name))
			}
			return nil
		}
		packagesWithKernels++
		var stale []file
		for _, f := range []struct {
			name     string
			old, new []byte
			same     bool
		}{{archiveFile, old.Archive, out.Archive, old.SameArchive(out)}, {goFile, old.Go, out.Go, old.SameGo(out)}} {
			switch {
			case f.same:
				continue
			case check && f.old == nil:
				fmt.Fprintf(stdout, "%s is missing\n", relative(f.name))
			case check:
				fmt.Fprintf(stdout, "%s is out of date: %s\n", relative(f.name), old.Change(p, out))
			}
			stale = append(stale, file{f.name, f.new})
		}
		if check {
			outdated = outdated || len(stale) > 0
			return nil
		}
		if err := replace(stale); err != nil {
			return err
		}
		for _, f := range stale {
			fmt.Fprintf(stdout, "%s: %s\n", relative(f.name), count(len(out.Kernels), "kernel"))
		}
		return nil
	})
	if failed || outdated {
		return errFound
	}
	switch {
	case kernels == 0 && removed == 0:
		fmt.Fprintf(stdout, "no kernels in %s: mark a function with //quern:kernel\n", describe(patterns))
	case check: // gen itself prints only what it writes, like other generators
		verb := "are"
		if packagesWithKernels == 1 {
			verb = "is"
		}
		fmt.Fprintf(stdout, "%s %s up to date\n", count(packagesWithKernels, "package"), verb)
	}
	return nil
}

func vet(ctx context.Context, stdout, stderr io.Writer, patterns []string, perf bool) error {
	packages, err := load(ctx, "quern vet", patterns)
	if err != nil {
		return err
	}
	kernels, packagesWithKernels, slow := 0, 0, 0
	failed := compile(stderr, packages, func(p *frontend.Package, out *generate.Output) error {
		if len(out.Kernels) > 0 {
			kernels += len(out.Kernels)
			packagesWithKernels++
		}
		if !perf {
			return nil
		}
		seen := map[string]bool{} // instances of a generic kernel share findings
		for _, k := range out.Kernels {
			findings, err := lint.Check(p, k)
			if err != nil {
				return err
			}
			findings = slices.DeleteFunc(findings, func(f lint.Finding) bool {
				key := f.Rule + f.Pos.String()
				again := seen[key]
				seen[key] = true
				return again
			})
			for _, f := range findings {
				if !strings.Contains(f.Pos.File, "/") { // a file of the package
					f.Pos.File = relative(filepath.Join(p.Dir, f.Pos.File))
				}
				if a := p.ActorOf(f.Kernel); a != nil {
					f.Kernel, f.Handler = a.Handler, true
				}
				fmt.Fprintln(stderr, f)
			}
			slow += len(findings)
		}
		return nil
	})
	if failed {
		return errFound
	}
	if slow > 0 {
		fmt.Fprintf(stdout, "%s in %s: %s\n", count(kernels, "kernel"), count(packagesWithKernels, "package"), count(slow, "finding"))
		return errFound
	}
	fmt.Fprintf(stdout, "%s in %s: no problems\n", count(kernels, "kernel"), count(packagesWithKernels, "package"))
	return nil
}

// reportProblems prints an error: diagnostics with paths relative to the current
// directory, and those that it joins one by one.
func reportProblems(w io.Writer, err error) {
	var joined interface{ Unwrap() []error }
	var diags frontend.Diagnostics
	switch {
	case errors.As(err, &joined):
		for _, e := range joined.Unwrap() {
			reportProblems(w, e)
		}
	case errors.As(err, &diags):
		for _, d := range diags {
			fmt.Fprintln(w, d.Relative(relative).Error())
		}
	default:
		fmt.Fprintf(w, "quern: %v\n", err)
	}
}

// file is a generated file.
type file struct {
	name string
	text []byte
}

// replace replaces all files, or none if space or permissions are missing.
// Readers never see a partial file.
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

// cause returns err without the name of the temporary file.
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

func describe(patterns []string) string {
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
