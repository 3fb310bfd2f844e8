package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // commands remove what is incomplete
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// errFound ends a command that has already printed its findings.
var errFound = errors.New("problems were found")

// errUsage is an error in a command's arguments.
type errUsage struct {
	error
	command string // "quern gen"
}

// run runs the command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:   "quern",
		Short: "GPU computing for Go: compile, check and diagnose kernels",
		Long: `quern compiles GPU kernels written in Go, and generates launchers for them.
It is written in pure Go.

A kernel is a Go function marked //quern:kernel whose first parameter is a
kernel.Thread. "quern gen" writes quern_gen.go and quern_gen.zip next to it. The
program can then run it on an NVIDIA GPU, on all CPU cores, or on the simulator.`,
		Example: `  quern gen ./...            compile every kernel under this directory
  quern vet ./...            check them without writing files
  quern devices              which devices can run kernels?
  quern doctor               why isn't the GPU used?
  quern bench algo           how fast are the libraries?
  quern bench device         how fast are memory, copies and launches?
  quern advise ./pkg blur    is this kernel faster on the GPU or the CPU?
  quern analyze ./pkg blur   what limits it, and what would help?
  quern ring bench           how fast are messages to actors?
  quern profile -- ./prog    where does the time of its GPU go?
  quern annotate -- ./prog   what does each line of its kernels do?
  quern top                  what are the GPUs doing now?
  quern export               metrics of the GPUs, for Prometheus
  quern geo info image.tif   what is in a GeoTIFF file?`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	if len(args) > 1 && args[0] == "geo" {
		args = joinedArguments(args)
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return errUsage{suggestFlag(cmd, err), cmd.CommandPath()} })
	root.AddCommand(genCommand(), vetCommand(), ptxCommand(), devicesCommand(), doctorCommand(), benchCommand(), profileCommand(), annotateCommand(), topCommand(), exportCommand(), geoCommand(), versionCommand(), completionCommand(root))
	root.AddCommand(compiled()...)
	checkHelp(root)
	root.SetArgs(doubleDashes(root, args))

	err := root.ExecuteContext(ctx)
	var usage errUsage
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFound):
		return 1
	case errors.As(err, &usage):
	case strings.HasPrefix(err.Error(), "unknown command"):
		usage = errUsage{err, root.Name()}
	default:
		fmt.Fprintf(stderr, "quern: %v\n", err)
		return 1
	}
	fmt.Fprintf(stderr, "quern: %s\nRun '%s --help' for usage.\n", strings.TrimSpace(usage.Error()), usage.command)
	return 2
}

// doubleDashes rewrites long flags with one dash, as in the go command, to two.
func doubleDashes(root *cobra.Command, args []string) []string {
	known := map[string]bool{"-version": true}
	addFlags(root, known)
	out := slices.Clone(args)
	for i, a := range out {
		if a == "--" {
			break // what follows is for another program
		}
		name, _, _ := strings.Cut(a, "=")
		if known[name] {
			out[i] = "-" + a
		}
	}
	return out
}

// addFlags adds the long flags of a command and of those below it.
func addFlags(cmd *cobra.Command, known map[string]bool) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if len(f.Name) > 1 {
			known["-"+f.Name] = true
		}
	})
	for _, c := range cmd.Commands() {
		addFlags(c, known)
	}
}

// checkHelp makes the help command reject commands that do not exist.
func checkHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() != "help" {
			continue
		}
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if _, rest, err := root.Find(args); err != nil || len(rest) > 0 {
				return errUsage{fmt.Errorf("no help for %q", strings.Join(args, " ")), root.Name()}
			}
			return nil
		}
	}
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// terminalOf returns w if it is a terminal, and nil otherwise.
func terminalOf(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return w
		}
	}
	return nil
}
