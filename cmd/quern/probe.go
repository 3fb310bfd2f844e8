//go:build !bootstrap

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quern.dev/profile"
	"quern.dev/profile/probe"
)

// probeHelp is the part of the help that the commands share.
const probeHelp = `

The kernel is that of a package with generated code, which the go command compiles;
run quern gen first. Arguments are made up for each size n: slices have n elements,
integers are n, floats 1.5. --arg changes that with expressions of n: the length of
a slice, or the value of a number. --threads does so for the grid.`

// probing holds the options of a command that works on a kernel of a package.
type probing struct {
	probe.Request
	args  []string
	sizes []string
}

// probeCommand returns a command that works on a kernel.
func probeCommand(name, command, short, long, example string, sizes ...string) *cobra.Command {
	var p probing
	cmd := &cobra.Command{
		Use:     name + " PACKAGE KERNEL",
		Short:   short,
		Long:    long + probeHelp,
		Example: example,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errUsage{errors.New("name a package and a kernel, such as ./filters blur"), cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			p.Command, p.Kernel = command, args[1]
			if err := p.parse(); err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			run, clean, err := p.build(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer clean()
			run.Stdout, run.Stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
			return explain(run.Run())
		},
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&p.sizes, "size", sizes, "sizes n")
	flags.StringArrayVar(&p.args, "arg", nil, "length of a slice or value of a number, such as x=4*n; may be repeated")
	flags.StringVar(&p.Threads, "threads", "", "threads as an expression of n; two or three, with commas, for a plane or a volume")
	flags.IntVar(&p.Block, "block", 0, "threads per block; 0 leaves it to the kernel")
	flags.StringVar(&p.Device, "device", "", "device: cuda, cuda:1 or cpu; the best one if empty")
	flags.BoolVar(&p.JSON, "json", false, "print JSON")
	if command == "advise" {
		flags.BoolVar(&p.Pinned, "pinned", false, "the data is in page-locked memory")
		flags.StringVar(&p.GPUCard, "gpu-card", "", "card of a GPU of another machine: a file that quern bench device --json has written there")
	}
	return cmd
}

// parse converts the flags.
func (p *probing) parse() error {
	p.Sizes, p.Args = nil, map[string]string{}
	for _, text := range p.sizes {
		n, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
		if err != nil || n < 1 || n != float64(int(n)) {
			return fmt.Errorf("--size %s: want whole numbers from 1, such as 1000,1e6", text)
		}
		p.Sizes = append(p.Sizes, int(n))
	}
	for _, text := range p.args {
		name, expression, ok := strings.Cut(text, "=")
		if !ok || name == "" || expression == "" {
			return fmt.Errorf("--arg %s: want a parameter and an expression, such as x=4*n", text)
		}
		p.Args[name] = expression
	}
	if p.Block < 0 {
		return fmt.Errorf("--block %d: want at least 0", p.Block)
	}
	return nil
}

// declared finds the kernels in generated code: the variable, and the name.
var declared = regexp.MustCompile(`(quern\w+)\s*=\s*&gpu\.Kernel\{Declared: compiled\.Declaration\{Name: "([^"]+)"`)

// generatedFile is the file of a package that quern gen writes.
const generatedFile = "quern_gen.go"

// probeFile is the file that is added to the package. It exists only in the overlay.
const probeFile = "quern_probe_test.go"

// build compiles the package with a program that answers the request, and returns its call.
func (p *probing) build(ctx context.Context, pattern string) (run *exec.Cmd, clean func(), err error) {
	list := exec.CommandContext(ctx, "go", "list", "-json=Dir,Name,TestGoFiles,XTestGoFiles", pattern)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, nil, explain(err)
	}
	var pkg struct {
		Dir, Name                 string
		TestGoFiles, XTestGoFiles []string
	}
	if err := json.Unmarshal(out, &pkg); err != nil {
		return nil, nil, fmt.Errorf("%s: want one package: %w", pattern, err)
	}
	code, err := os.ReadFile(filepath.Join(pkg.Dir, generatedFile))
	if err != nil {
		return nil, nil, fmt.Errorf("%s has no generated code (%w); run quern gen %s", pattern, err, pattern)
	}
	var variables, names []string
	for _, m := range declared.FindAllStringSubmatch(string(code), -1) {
		variables, names = append(variables, m[1]), append(names, m[2])
	}
	if !slices.Contains(names, p.Kernel) {
		return nil, nil, fmt.Errorf("%s has no kernel %s; it has %s", pattern, p.Kernel, strings.Join(names, ", "))
	}
	dir, err := os.MkdirTemp("", "quern-probe-")
	if err != nil {
		return nil, nil, err
	}
	clean = func() { os.RemoveAll(dir) }
	defer func() {
		if err != nil {
			clean()
		}
	}()
	// The program is a test of the package, since it needs unexported variables. The package's
	// own tests are left out.
	source := fmt.Sprintf("package %s\n\nimport (\n\t\"os\"\n\t\"testing\"\n\n\t\"quern.dev/profile/probe\"\n)\n\nfunc TestMain(*testing.M) { os.Exit(probe.Main(%s)) }\n", pkg.Name, strings.Join(variables, ", "))
	replace := map[string]string{filepath.Join(pkg.Dir, probeFile): filepath.Join(dir, "probe.go")}
	for _, f := range append(pkg.TestGoFiles, pkg.XTestGoFiles...) {
		replace[filepath.Join(pkg.Dir, f)] = ""
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, nil, err
	}
	err = errors.Join(os.WriteFile(filepath.Join(dir, "probe.go"), []byte(source), 0o600), os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	if err != nil {
		return nil, nil, err
	}
	program := filepath.Join(dir, "probe.exe")
	compile := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay="+filepath.Join(dir, "overlay.json"), "-o", program, pattern)
	compile.Stderr = os.Stderr
	if err := compile.Run(); err != nil {
		return nil, nil, explain(err)
	}
	request, err := json.Marshal(p.Request)
	if err != nil {
		return nil, nil, err
	}
	run = exec.CommandContext(ctx, program)
	run.Env = append(os.Environ(), probe.Variable+"="+string(request))
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = 10 * time.Second
	return run, clean, nil
}

func benchKernelCommand() *cobra.Command {
	return probeCommand("kernel", "bench", "Measure a kernel of a package",
		`kernel measures a kernel by nvbench's method: with a flushed L2 cache, without gaps
for launching, at full clock, until the noise is low. The bytes and operations of
the rates are counted in the simulator. --json writes all samples, for quern bench
compare.`,
		`  quern bench kernel ./filters blur --size 1e6,1e8
  quern bench kernel ./filters blur --json > new.json`, "1e6")
}

func adviseCommand() *cobra.Command {
	return probeCommand("advise", "advise", "Predict whether a kernel is faster on the GPU or the CPU",
		`advise predicts the times of a kernel on a GPU, with copies, and on the CPU, says
from which size the GPU is faster, and what would move that. It measures the
devices once (quern bench device), counts instructions and bytes in the simulator,
and corrects them by a short run at a small size. docs/advise.md explains the model.`,
		`  quern advise ./filters blur
  quern advise ./filters blur --size 1e4,1e6,1e8 --pinned
  quern advise ./nbody step --gpu-card h200.json    for a GPU that is not here`, "1e3", "1e4", "1e5", "1e6", "1e7")
}

func analyzeCommand() *cobra.Command {
	return probeCommand("analyze", "analyze", "Find out what limits a kernel, and try what would help",
		`analyze says what limits a kernel and how much data moves, tries other block sizes,
page-locked memory, and copies that overlap with the kernel, checks that the results
stay the same, and compares them with those of the CPU.`,
		`  quern analyze ./filters blur --size 1e8`, "1e7")
}

func validateCommand() *cobra.Command {
	return probeCommand("validate", "validate", "Compare the results of a kernel on two devices",
		`validate runs a kernel on a device and on the CPU, with random, zero and edge inputs
(infinities, NaN, the largest and the smallest numbers), and prints the largest
differences and the speed-up. On the CPU, it compares with the simulator.`,
		`  quern validate ./filters blur --size 1000,1e6`, "1000", "1e6")
}

func benchCompareCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Compare two files of results",
		Long: `compare tests whether the times in two files differ, by the test of Mann and Whitney,
as benchstat does. A file is the output of quern bench kernel --json, or of
go test -bench with several runs (-count 10).`,
		Example: `  quern bench compare old.json new.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errUsage{errors.New("name two files"), cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var lists [2]profile.Results
			for i, name := range args {
				f, err := os.Open(name)
				if err != nil {
					return err
				}
				lists[i], err = profile.ReadResults(f)
				f.Close()
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
			d := profile.Compare(lists[0], lists[1])
			if len(d) == 0 {
				return fmt.Errorf("%s and %s have no benchmark in common", args[0], args[1])
			}
			for i, name := range args {
				if only := onlyIn(lists[i], lists[1-i]); len(only) > 0 {
					fmt.Fprintf(cmd.ErrOrStderr(), "quern: only in %s: %s\n", name, strings.Join(only, ", "))
				}
			}
			return d.WriteMarkdown(cmd.OutOrStdout())
		},
	}
}

// onlyIn returns the names of the results in a that are not in b.
func onlyIn(a, b profile.Results) (names []string) {
	for i := range a {
		if !slices.ContainsFunc(b, func(r profile.Result) bool { return r.Name == a[i].Name }) {
			names = append(names, a[i].Name)
		}
	}
	return names
}
