package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// errFound ends a command whose findings are already printed.
var errFound = errors.New("problems were found")

// errUsage is a mistake on the command line.
type errUsage struct{ error }

// run runs the command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:   "quern",
		Short: "GPU computing for Go: compile, check and diagnose kernels",
		Long: `quern compiles kernels written in Go to GPU code and Go launchers, in pure Go.

A kernel is a Go function marked //quern:kernel whose first parameter is a
kernel.Thread. "quern gen" writes quern_gen.go and quern_gen.ptx beside it; the
program then runs it on an NVIDIA GPU, on all CPU cores, or on the simulator.`,
		Example: `  quern gen ./...            compile every kernel below this directory
  quern vet ./...            check them without writing
  quern devices              what can kernels run on here?
  quern doctor               why is the GPU not used?`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetArgs(args)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return errUsage{err} })
	root.AddCommand(genCommand(), vetCommand(), devicesCommand(), doctorCommand())

	err := root.ExecuteContext(ctx)
	var usage errUsage
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errFound):
		return 1
	case errors.As(err, &usage), root.CalledAs() == "" && isUnknownCommand(err):
		fmt.Fprintf(stderr, "quern: %v\nRun 'quern --help' for usage.\n", err)
		return 2
	}
	fmt.Fprintf(stderr, "quern: %v\n", err)
	return 1
}
