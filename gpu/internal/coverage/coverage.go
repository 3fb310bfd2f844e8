// Package coverage reports which packages of the program were built with -cover.
package coverage

import (
	"bytes"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// Counts reports whether the package with this import path was built with -cover. If
// that is unknown, it reports whether any package of the program was. The package must
// contain generated code.
func Counts(pkg string) bool {
	if !builtForCoverage() {
		return false
	}
	counts, ok := known.Load(pkg)
	if !ok {
		program, err := readProgram()
		counts = err != nil || namesSource(program, pkg+"/quern_gen.go")
		known.Store(pkg, counts)
	}
	return counts.(bool)
}

// known caches Counts by import path.
var known sync.Map

// builtForCoverage reports whether any package of the program was built with -cover.
var builtForCoverage = sync.OnceValue(func() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "-cover" {
			return s.Value == "true"
		}
	}
	return false
})

func readProgram() ([]byte, error) {
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(name)
}

// namesSource reports whether a program contains the name of a source file in the form
// that coverage uses: with the import path, not as the end of a longer file path.
func namesSource(program []byte, name string) bool {
	want := []byte(name)
	for {
		_, rest, found := bytes.Cut(program, want)
		if !found {
			return false
		}
		at := len(program) - len(rest) - len(want)
		if at > 0 && !strings.ContainsRune(`/\`, rune(program[at-1])) {
			return true
		}
		program = rest
	}
}
