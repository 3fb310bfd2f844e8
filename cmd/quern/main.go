package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// errFound ends a command whose findings are already printed.
var errFound = errors.New("problems were found")

// errUsage is a mistake on the command line of a command.
type errUsage struct {
	error
	command string // "quern gen"
}

// run runs the command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:   "quern",
		Short: "GPU computing for Go: compile, check and diagnose kernels",
		Long: `quern compiles kernels written in Go to GPU code and Go launchers, in pure Go.

A kernel is a Go function marked //quern:kernel whose first parameter is a
kernel.Thread. "quern gen" writes quern_gen.go and quern_gen.zip beside it; the
program then runs it on an NVIDIA GPU, on all CPU cores, or on the simulator.`,
		Example: `  quern gen ./...            compile every kernel below this directory
  quern vet ./...            check them without writing
  quern devices              what can kernels run on here?
  quern doctor               why is the GPU not used?
  quern ring bench           what does a message to an actor cost?`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(doubled(args))
	root.CompletionOptions.DisableDefaultCmd = true
	root.Version = versionLine()
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return errUsage{err, cmd.CommandPath()} })
	root.AddCommand(genCommand(), vetCommand(), devicesCommand(), doctorCommand(), versionCommand(), completionCommand(root))
	root.AddCommand(compiled()...)
	checkHelp(root)

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

// longFlags are flags as the go command spells them.
var longFlags = []string{"-version", "-perf", "-check", "-json", "-device", "-actors", "-payload", "-batch", "-duration"}

// doubled spells long flags with one dash, as the go command has them, with two.
func doubled(args []string) []string {
	out := slices.Clone(args)
	for i, a := range out {
		name, _, _ := strings.Cut(a, "=")
		if slices.Contains(longFlags, name) {
			out[i] = "-" + a
		}
	}
	return out
}

// checkHelp makes the help command insist on a command that exists.
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
