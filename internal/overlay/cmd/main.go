// Cmd prints the name of a go command overlay with the generated code of the
// packages whose generated files are not in the repository. With -list it prints
// the names of these packages. With -write it writes the files next to the
// kernels, where Git ignores them. The packages then compile without the overlay
// until the kernels change.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/generate"
	"quern.dev/internal/overlay"
)

func main() {
	list := flag.Bool("list", false, "print the packages instead of the overlay's name")
	write := flag.Bool("write", false, "write the files next to the kernels")
	flag.Parse()
	if err := run(*list, *write); err != nil {
		fmt.Fprintln(os.Stderr, "overlay:", err)
		os.Exit(1)
	}
}

func run(list, write bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	mod, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	root := filepath.Clean(strings.TrimSpace(string(mod)))
	switch {
	case write:
		return overlay.Generate(ctx, root, func(p *frontend.Package, out *generate.Output) error {
			goFile, archiveFile := generate.Files(p)
			return errors.Join(os.WriteFile(goFile, out.Go, 0o644), os.WriteFile(archiveFile, out.Archive, 0o644))
		})
	case list:
		all, _, err := overlay.Packages(root)
		if err != nil {
			return err
		}
		fmt.Println(strings.Join(all, "\n"))
		return nil
	}
	name, err := overlay.Write(ctx, root)
	if err != nil {
		return err
	}
	fmt.Println(name)
	return nil
}
