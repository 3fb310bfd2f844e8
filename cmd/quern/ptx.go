package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"quern.dev/internal/archive"
)

func ptxCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "ptx FILE [MODULE]",
		Short: "Print the PTX in a quern_gen.zip",
		Long: `ptx lists the modules in a quern_gen.zip, such as saxpy/narrow: the name of a
kernel and of a variant, and -older if the module is for older devices. With
a second argument, it prints the modules whose names begin with it.`,
		Example: `  quern ptx quern_gen.zip
  quern ptx quern_gen.zip saxpy/narrow`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch n := len(args); {
			case n == 0:
				return errUsage{errors.New("name a file: quern_gen.zip of the package"), cmd.CommandPath()}
			case n > 2:
				return errUsage{fmt.Errorf("one file and one module at a time; remove %q", args[2]), cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			a, err := archive.Open(string(file))
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			modules, err := a.Modules()
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if len(args) == 1 {
				for _, m := range modules {
					if _, err := fmt.Fprintln(cmd.OutOrStdout(), m.Name()); err != nil {
						return err
					}
				}
				return nil
			}
			return printModules(cmd.OutOrStdout(), modules, args[1])
		},
	}
}

// printModules prints the modules whose names begin with a prefix.
func printModules(out io.Writer, modules []archive.Module, prefix string) error {
	found := false
	for _, m := range modules {
		if strings.HasPrefix(m.Name(), prefix) {
			found = true
			if _, err := fmt.Fprintf(out, "// %s\n%s", m.Name(), m.Text); err != nil {
				return err
			}
		}
	}
	if !found {
		return fmt.Errorf("there is no module %s", prefix)
	}
	return nil
}
