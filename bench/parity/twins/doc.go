// Package twins has the kernels of package parity in CUDA C, as a CUDA programmer writes
// them: 32-bit indices, restrict pointers, launch bounds, unrolled constant loops.
// Algorithms and blocks are those of the Go kernels.
//
// The parameters are also those of the Go kernels, so that one launch serves both: a slice
// is a pointer and a length.
package twins

import (
	"embed"
	"fmt"
	"regexp"
)

//go:embed *.cu twin.h
var files embed.FS

// function matches the start of a kernel definition.
var function = regexp.MustCompile(`(?m)^KERNEL\(\d+\) (\w+)\(`)

// Source returns the file that contains the given kernel, preceded by the header.
func Source(kernel string) (file, text string, err error) {
	header, err := files.ReadFile("twin.h")
	if err != nil {
		return "", "", err
	}
	entries, err := files.ReadDir(".")
	if err != nil {
		return "", "", err
	}
	for _, e := range entries {
		source, err := files.ReadFile(e.Name())
		if err != nil {
			return "", "", err
		}
		for _, match := range function.FindAllSubmatch(source, -1) {
			if string(match[1]) == kernel {
				return e.Name(), string(header) + "#line 1 \"" + e.Name() + "\"\n" + string(source), nil
			}
		}
	}
	return "", "", fmt.Errorf("twins: no CUDA C kernel %s", kernel)
}
