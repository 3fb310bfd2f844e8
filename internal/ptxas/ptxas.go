// Package ptxas runs NVIDIA's PTX assembler. It checks, without a GPU, that PTX text is
// valid for an architecture, and it reports what a kernel uses.
//
//	path, err := ptxas.Find()   // $PTXAS, else ptxas on PATH
//	info, err := ptxas.Assemble(text, "sm_90")
//
// Tests and quern vet --perf use it if it is available. Nothing depends on it, because the
// driver assembles PTX itself.
package ptxas

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Architectures lists the architectures that every kernel should assemble for, oldest
// first.
var Architectures = []string{"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"}

// ErrNotFound means that there is no assembler on this machine.
var ErrNotFound = errors.New("ptxas: not found; set PTXAS to its path or put it on PATH")

// Info holds the resources that one entry uses, as the assembler reports them.
type Info struct {
	Registers   int // 32-bit registers per thread
	SpillStores int // bytes
	SpillLoads  int // bytes
	Stack       int // bytes of local memory per thread
	Shared      int // bytes of static shared memory per block
	Constant    int // bytes of constant memory for parameters

	// Serialized says that each product of tiles (wgmma) waits for the one before, because
	// the assembler cannot tell that nothing else uses their sums.
	Serialized bool
}

// Find returns the path of the assembler. The error is ErrNotFound.
var Find = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("PTXAS"); path != "" {
		return path, nil
	}
	path, err := exec.LookPath("ptxas")
	if err != nil {
		return "", ErrNotFound
	}
	return path, nil
})

// Runs reports whether a device of an architecture such as "sm_90" runs PTX text. Text for
// sm_90a runs on sm_90 only.
func Runs(text, architecture string) bool {
	target, only := target(text)
	number := func(s string) int {
		n, _ := strconv.Atoi(strings.TrimPrefix(s, "sm_"))
		return n
	}
	return target == architecture || !only && number(target) < number(architecture)
}

// target returns the target of PTX text, and whether it runs on no other architecture.
func target(text string) (name string, only bool) {
	_, rest, _ := strings.Cut(text, "\n.target ")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.CutSuffix(strings.TrimSpace(line), "a")
}

// Assemble assembles PTX text with one entry for an architecture such as "sm_90". The
// error contains the assembler's messages.
func Assemble(text, architecture string) (Info, error) {
	path, err := Find()
	if err != nil {
		return Info{}, err
	}
	dir, err := os.MkdirTemp("", "ptxas")
	if err != nil {
		return Info{}, err
	}
	defer os.RemoveAll(dir)
	source := filepath.Join(dir, "module.ptx")
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		return Info{}, err
	}
	if name, only := target(text); only && name == architecture {
		architecture += "a"
	}
	out, err := exec.Command(path, "-v", "-arch="+architecture, source, "-o", filepath.Join(dir, "module.cubin")).CombinedOutput()
	if err != nil {
		messages := strings.ReplaceAll(strings.TrimSpace(string(out)), source, "module.ptx")
		return Info{}, fmt.Errorf("ptxas: assemble for %s: %w\n%s", architecture, err, messages)
	}
	return parse(string(out)), nil
}

// reports maps phrases of ptxas -v to the fields for the numbers in them.
var reports = []struct {
	phrase *regexp.Regexp
	number func(*Info) *int
}{
	{regexp.MustCompile(`Used (\d+) registers`), func(i *Info) *int { return &i.Registers }},
	{regexp.MustCompile(`(\d+) bytes spill stores`), func(i *Info) *int { return &i.SpillStores }},
	{regexp.MustCompile(`(\d+) bytes spill loads`), func(i *Info) *int { return &i.SpillLoads }},
	{regexp.MustCompile(`(\d+) bytes stack frame`), func(i *Info) *int { return &i.Stack }},
	{regexp.MustCompile(`(\d+) bytes smem`), func(i *Info) *int { return &i.Shared }},
	{regexp.MustCompile(`(\d+) bytes cmem\[0\]`), func(i *Info) *int { return &i.Constant }},
}

// parse reads the assembler's verbose output. Numbers that the output omits are 0.
func parse(output string) Info {
	info := Info{Serialized: strings.Contains(output, "wgmma.mma_async instructions are serialized")}
	for _, r := range reports {
		if m := r.phrase.FindStringSubmatch(output); m != nil {
			*r.number(&info), _ = strconv.Atoi(m[1])
		}
	}
	return info
}
