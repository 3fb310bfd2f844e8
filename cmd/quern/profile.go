package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quern.dev/cmd/quern/internal/record"
	"quern.dev/internal/ptxvm"
	"quern.dev/internal/report"
	"quern.dev/internal/wholefile"
)

// profiler holds the options of the command.
type profiler struct {
	out     string
	count   bool
	sample  bool
	measure bool
}

func profileCommand() *cobra.Command {
	var p profiler
	cmd := &cobra.Command{
		Use:   "profile [flags] -- PROGRAM [ARGUMENT...]",
		Short: "Run a program and report where the time of its GPU goes",
		Long: `profile runs a program that uses quern.dev/gpu, records what its devices do, and
writes a report: one HTML file that needs no network. It has a timeline, the
kernels and the lines of Go that took the most time, copies that were not needed,
gaps, and the memory of the device. The program needs no change.

With --count the program runs a second time, on the simulator, which counts what
each line of a kernel does: instructions, active lanes, memory sectors, bank
conflicts. The report then has the source of the kernels and their place below
the roofline. The simulator is slow; give the program a small input. If the
program runs on the simulator in any case (QUERN_DEVICE=sim), it counts at once.

If the program fails or is interrupted, the report has what happened until then.`,
		Example: `  quern profile -- ./photo -in holiday.jpg
  quern profile --out report.html -- go test -run=TestLarge ./filters
  quern profile --count -- ./simulate -steps 2`,
		Args: func(cmd *cobra.Command, args []string) error { return wantProgram(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.SetFlagErrorFunc(wantDashes)
	flags := cmd.Flags()
	flags.StringVarP(&p.out, "out", "o", "", "file of the report; by default the program's name with .html")
	flags.BoolVar(&p.count, "count", false, "run the program again on the simulator, and count")
	flags.BoolVar(&p.sample, "sample", false, "record only a sample of more than 3000 operations per second, which slows the program down less")
	flags.BoolVar(&p.measure, "measure", true, "measure the limits of the device, in about a second, to compare kernels with")
	return cmd
}

// wantProgram checks that there is a program to run, after two dashes.
func wantProgram(cmd *cobra.Command, args []string) error {
	switch at := cmd.ArgsLenAtDash(); {
	case len(args) == 0:
		return errUsage{errors.New("no program: write two dashes, the program and its arguments"), cmd.CommandPath()}
	case at != 0:
		return errUsage{fmt.Errorf("%q comes before the program: write two dashes before it, as in %s -- %s", args[0], cmd.CommandPath(), strings.Join(args, " ")), cmd.CommandPath()}
	}
	return nil
}

// wantDashes explains an unknown flag: it may be one of the program's.
func wantDashes(cmd *cobra.Command, err error) error {
	return errUsage{fmt.Errorf("%w; write two dashes before the program, as in %s -- ./prog -n 1", err, cmd.CommandPath()), cmd.CommandPath()}
}

func (p *profiler) run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	out := p.out
	if out == "" {
		out = strings.TrimSuffix(filepath.Base(args[0]), ".exe") + ".html"
	}
	// A file that cannot be written must not cost a run.
	if err := writable(out); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	if target, err := filepath.EvalSymlinks(out); err == nil {
		out = target
	}
	run, err := record.Run(ctx, record.Options{Args: args, Sample: p.sample, Count: os.Getenv("QUERN_DEVICE") == "sim", Stdin: os.Stdin, Stdout: stdout, Stderr: stderr})
	if err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	in := run.Input()
	if p.count && len(in.Counts) == 0 && ctx.Err() == nil {
		fmt.Fprintln(stderr, "quern: running the program again on the simulator")
		again, err := record.Run(ctx, record.Options{Args: args, Count: true, Env: []string{"QUERN_DEVICE=sim"}, Stdout: io.Discard, Stderr: stderr})
		if err != nil {
			return fmt.Errorf("profile: %w", err)
		}
		in.Counts, in.Simulated = again.Counts, again.Recording
		if again.Failure != nil {
			in.CountNote = "counts end where the program failed on the simulator: " + again.Failure.Error()
			fmt.Fprintf(stderr, "quern: %s\n", in.CountNote)
		}
		record.FindSources(ctx, in.Sources, in.Counts)
	}
	if p.measure && ctx.Err() == nil {
		in.Machine = measureMachine(ctx, in.Recording)
	}
	in.Created = time.Now()
	if err := wholefile.Write(out, report.Analyze(in).WriteHTML); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	fmt.Fprintf(stderr, "quern: wrote %s\n", out)
	return run.Failure
}

// writable returns an error if a file cannot be replaced. Renaming must not replace a
// device such as /dev/null.
func writable(name string) error {
	if i, err := os.Stat(name); err == nil && !i.Mode().IsRegular() {
		return fmt.Errorf("the report cannot replace %s: it is not a regular file", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// annotator holds the options of the command.
type annotator struct {
	kernel string
	limit  int
	json   bool
	gpu    bool
}

func annotateCommand() *cobra.Command {
	var a annotator
	cmd := &cobra.Command{
		Use:   "annotate [flags] -- PROGRAM [ARGUMENT...]",
		Short: "Run a program and show what each line of its kernels does",
		Long: `annotate runs a program with QUERN_DEVICE=sim and prints the source of its kernels
with what each line did:

  share     of the instructions that warps executed
  warp ops  instructions that warps executed
  lanes     active lanes of a warp, of 32, on average
  diverged  branches at which the lanes of a warp went different ways
  sectors   pieces of 32 bytes of global memory per access: 4 are best for
            elements of 4 bytes, 8 for those of 8; marked if adjacent accesses
            would need a third less
  banks     passes that an access to shared memory takes, 1.0 without conflicts

The simulator runs the code that a GPU would run, warp by warp. It has no caches
and no times. It is slow; give the program a small input.

With --gpu, the program runs on an NVIDIA GPU at its full speed, and CUPTI samples
where the warps are and what they wait for:

  share      of the kernel's samples, which is the line's share of its time
  issued     samples at which a warp executed an instruction instead of waiting
  waited for what it waited for otherwise; the end of the output explains the words`,
		Example: `  quern annotate -- ./simulate -steps 2
  quern annotate --gpu -- ./simulate -steps 2000
  quern annotate --kernel blur -- ./photo -in small.png`,
		Args: func(cmd *cobra.Command, args []string) error { return wantProgram(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			options := record.Options{Args: args, Stdin: os.Stdin, Stdout: cmd.ErrOrStderr(), Stderr: cmd.ErrOrStderr()}
			show := a.counted
			if a.gpu {
				options.Lines, show = true, a.sampled
				if !strings.HasPrefix(os.Getenv("QUERN_DEVICE"), "cuda") {
					options.Env = []string{"QUERN_DEVICE=cuda"} // another device would hide why this one cannot be used
				}
			} else {
				options.Count, options.Env = true, []string{"QUERN_DEVICE=sim"}
			}
			run, err := record.Run(cmd.Context(), options)
			if err != nil {
				return fmt.Errorf("annotate: %w", err)
			}
			return errors.Join(show(run, cmd.OutOrStdout()), run.Failure)
		},
	}
	cmd.SetFlagErrorFunc(wantDashes)
	flags := cmd.Flags()
	flags.BoolVar(&a.gpu, "gpu", false, "sample on the GPU instead of counting on the simulator")
	flags.StringVar(&a.kernel, "kernel", "", "show only the kernel with this name")
	flags.IntVar(&a.limit, "limit", 5, "show at most so many kernels, those that did the most; 0 for all")
	flags.BoolVar(&a.json, "json", false, "print JSON")
	return cmd
}

// wants reports whether a kernel is to be shown.
func (a *annotator) wants(name string) bool {
	return a.kernel == "" || name == a.kernel || strings.HasSuffix(name, "."+a.kernel)
}

// counted shows what was counted on the simulator.
func (a *annotator) counted(run *record.Result, w io.Writer) error {
	if len(run.Counts) == 0 {
		return errors.New("annotate: no kernel ran on the simulator; does the program choose its device itself, instead of leaving it to QUERN_DEVICE?")
	}
	var counts []ptxvm.KernelCount
	var ran []string
	for _, k := range run.Counts {
		ran = append(ran, k.Name)
		if a.wants(k.Name) {
			counts = append(counts, k)
		}
	}
	if len(counts) == 0 {
		return a.missing(ran)
	}
	list := report.Listings(counts, run.Input().Sources)
	if a.json {
		return printJSON(w, list)
	}
	return report.WriteText(w, list, a.limit)
}

// sampled shows what was sampled on a GPU.
func (a *annotator) sampled(run *record.Result, w io.Writer) error {
	if run.Samples == nil {
		return errors.New("annotate: the program used no NVIDIA GPU; without --gpu, the simulator counts what lines do")
	}
	if len(run.Samples.Kernels) == 0 {
		return errors.New("annotate: the kernels were too short for a sample; let the program do more work")
	}
	all := report.SampledListings(run.Samples, run.Input().Sources)
	var list []report.SampledListing
	var ran []string
	for _, k := range all {
		ran = append(ran, k.Kernel)
		if a.wants(k.Kernel) {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		return a.missing(ran)
	}
	if a.json {
		return printJSON(w, list)
	}
	return report.WriteSampledText(w, list, a.limit)
}

func (a *annotator) missing(ran []string) error {
	for i, name := range ran {
		ran[i] = name[strings.LastIndex(name, ".")+1:]
	}
	return fmt.Errorf("annotate: kernel %s did not run; these did: %s", a.kernel, strings.Join(ran, ", "))
}
