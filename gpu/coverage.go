package gpu

import (
	"bytes"
	"os"
	"runtime/debug"
	"strings"
	"sync"

	"quern.dev/kernel/host"
)

// hostForm is the form of a kernel that the CPU device runs. In a package that is
// built with -cover it is the kernel's own function: the counters are in it.
func (k *kernelInfo) hostForm() host.Func {
	if k.Plain != nil && k.Host != nil && countsCoverage(k.Package) {
		return k.Plain
	}
	return k.Host
}

// countsCoverage reports whether a package is built with -cover. If that cannot
// be told of the package it is so if the program is.
func countsCoverage(pkg string) bool {
	if !builtForCoverage() {
		return false
	}
	counts, known := coverage.Load(pkg)
	if !known {
		program, err := readProgram()
		counts = err != nil || namesSource(program, pkg+"/quern_gen.go")
		coverage.Store(pkg, counts)
	}
	return counts.(bool)
}

// coverage has what is known of packages by import path.
var coverage sync.Map

// builtForCoverage reports whether some package of the program is.
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

// namesSource reports whether a program has the name of a source file as coverage
// names it: by the import path of its package, not as the end of a file's path.
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
