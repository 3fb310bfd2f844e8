// Package overlay generates the code of packages whose generated files are not in
// the repository: packages with kernels only for tests and benchmarks. Pass the
// result to the go command as an overlay:
//
//	go test -overlay=$(go run ./internal/overlay/cmd) ./internal/conformance/warp
//
// The package's own test runs the tests of all these packages, so that go test
// ./... includes them.
package overlay

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"quern.dev/internal/archive"
	"quern.dev/internal/compiler/frontend"
	"quern.dev/internal/compiler/generate"
)

// folders lists the directories that go.mod excludes from patterns such as ./...,
// because their packages do not compile without an overlay.
var folders = []string{"bench", "internal/accuracy", "internal/conformance"}

// Packages returns the packages in these directories in the form that the go
// command accepts, such as "./bench/soak". tested contains those that have tests.
func Packages(root string) (all, tested []string, err error) {
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "testdata" {
				return filepath.SkipDir
			}
			files, err := filepath.Glob(filepath.Join(path, "*.go"))
			if err != nil || len(files) == 0 {
				return err
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			name := "./" + filepath.ToSlash(rel)
			all = append(all, name)
			if slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") }) {
				tested = append(tested, name)
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	return all, tested, nil
}

// Generate compiles the kernels of the packages in these directories. It calls
// use with the output of each package that has kernels.
func Generate(ctx context.Context, root string, use func(*frontend.Package, *generate.Output) error) error {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // what the compiler allocates soon becomes garbage
	all, _, err := Packages(root)
	if err != nil {
		return err
	}
	packages, err := frontend.Load(ctx, root, all...)
	if err != nil {
		return err
	}
	for _, p := range packages {
		if err := ctx.Err(); err != nil {
			return err
		}
		out, err := generate.Package(p)
		if err == nil && len(out.Kernels) > 0 {
			err = use(p, out)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Write generates the files and returns the name of an overlay file for the go
// command's -overlay flag. The files are in the user's cache directory. Files
// that have not been used for a week are removed.
func Write(ctx context.Context, root string) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	dir = filepath.Join(dir, "quern", "overlay")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	replace := map[string]string{}
	err = Generate(ctx, root, func(p *frontend.Package, out *generate.Output) error {
		for name, text := range map[string][]byte{generate.GoFile: out.Go, archive.File: out.Archive} {
			file, err := store(dir, filepath.Ext(name), text)
			if err != nil {
				return err
			}
			replace[filepath.Join(p.Dir, name)] = file
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	file, err := store(dir, ".json", text)
	if err != nil {
		return "", err
	}
	return file, removeOld(dir, time.Now().AddDate(0, 0, -7))
}

// store writes text to a file named after its hash, unless the file exists.
func store(dir, extension string, text []byte) (string, error) {
	name := filepath.Join(dir, fmt.Sprintf("%x%s", sha256.Sum256(text), extension))
	now := time.Now()
	if info, err := os.Stat(name); err == nil && info.Size() == int64(len(text)) {
		return name, os.Chtimes(name, now, now)
	}
	w, err := os.CreateTemp(dir, "*.part")
	if err != nil {
		return "", err
	}
	_, err = w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		return "", errors.Join(err, os.Remove(w.Name()))
	}
	return name, os.Rename(w.Name(), name)
}

func removeOld(dir string, before time.Time) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.ModTime().Before(before) {
			err = os.Remove(filepath.Join(dir, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a concurrent call has removed it
			return err
		}
	}
	return nil
}
