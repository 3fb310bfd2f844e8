package generate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"quern.dev/internal/compiler"
	"quern.dev/internal/compiler/frontend"
)

// Written is the generated files that a package has: nil for one that it has not.
type Written struct{ Go, PTX []byte }

// Read returns the generated files of a package.
func Read(p *frontend.Package) (w Written, err error) {
	goFile, ptxFile := Files(p)
	if w.Go, err = read(goFile); err != nil {
		return w, err
	}
	w.PTX, err = read(ptxFile)
	return w, err
}

func read(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return append([]byte{}, text...), nil
}

// Same reports whether a file that was written has the text that is generated.
// Version control may have changed how lines end.
func Same(written, text []byte) bool {
	return written != nil && bytes.Equal(unixLines(written), text)
}

func unixLines(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// Change says in a few words why the files of a package are not those that are
// generated for it: "kernel saxpy has changed". It is empty if they are.
func (w Written) Change(p *frontend.Package, out *Output) string {
	switch {
	case Same(w.Go, out.Go) && Same(w.PTX, out.PTX):
		return ""
	case w.Go == nil && w.PTX == nil:
		return GoFile + " and " + PTXFile + " are missing"
	case w.Go == nil:
		return GoFile + " is missing"
	case w.PTX == nil:
		return PTXFile + " is missing"
	}
	text := unixLines(w.PTX)
	if !IsPTX(text) {
		return PTXFile + " is damaged"
	}
	var changed, moved, added, gone []string
	old, now := codeByKernel(text), codeByKernel(out.PTX)
	for _, kernel := range slices.Sorted(maps.Keys(now)) {
		was, found := old[kernel]
		switch name := nameOf(p, kernel); {
		case !found:
			added = append(added, name)
		case positions.ReplaceAllString(was, "") != positions.ReplaceAllString(now[kernel], ""):
			changed = append(changed, name)
		case was != now[kernel]:
			moved = append(moved, name)
		}
	}
	for _, kernel := range slices.Sorted(maps.Keys(old)) {
		if now[kernel] == "" {
			gone = append(gone, nameOf(p, kernel))
		}
	}
	var parts []string
	for _, part := range []struct {
		names     []string
		one, many string
	}{
		{changed, "has changed", "have changed"},
		{added, "is new", "are new"},
		{gone, "is gone", "are gone"},
		{moved, "has moved to other lines", "have moved to other lines"},
	} {
		if len(part.names) == 1 {
			parts = append(parts, "kernel "+part.names[0]+" "+part.one)
		} else if len(part.names) > 1 {
			parts = append(parts, "kernels "+enumerate(part.names)+" "+part.many)
		}
	}
	if len(parts) == 0 {
		return GoFile + " is from another source or another version of quern gen"
	}
	return strings.Join(parts, ", ")
}

// positions are the lines of a module that tell where in the source code is from.
var positions = regexp.MustCompile(`(?m)^\s*\.(loc|file)\s.*\n`)

// codeByKernel is the modules of each kernel of a file, with their lines.
func codeByKernel(ptx []byte) map[string]string {
	code := map[string]string{}
	for i, section := range strings.Split("\n"+string(ptx), "\n"+compiler.SectionPrefix) {
		if i == 0 {
			continue
		}
		words, _, _ := strings.Cut(section, "\n")
		kernel, _, _ := strings.Cut(words, " ")
		if form, _, ok := strings.Cut(kernel, "["); ok && strings.Contains(kernel, "=") { // a special form
			kernel = form
		}
		code[kernel] += section + "\n"
	}
	return code
}

// nameOf is the name in the source of what a kernel was made for.
func nameOf(p *frontend.Package, kernel string) string {
	if a := p.ActorOf(kernel); a != nil {
		return a.Handler
	}
	return kernel
}

// enumerate lists names, of many the first.
func enumerate(names []string) string {
	const most = 5
	if n := len(names) - most; n > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
