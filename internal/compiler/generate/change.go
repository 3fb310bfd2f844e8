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

	"quern.dev/internal/archive"
	"quern.dev/internal/compiler/frontend"
)

// Written holds the generated files of a package. A missing file is nil.
type Written struct{ Go, Archive []byte }

// Read returns the generated files of a package.
func Read(p *frontend.Package) (w Written, err error) {
	goFile, archiveFile := Files(p)
	if w.Go, err = read(goFile); err != nil {
		return w, err
	}
	w.Archive, err = read(archiveFile)
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

// SameGo reports whether the Go file equals the generated one, ignoring line endings,
// which version control may change.
func (w Written) SameGo(out *Output) bool {
	return w.Go != nil && bytes.Equal(bytes.ReplaceAll(w.Go, []byte("\r\n"), []byte("\n")), out.Go)
}

// SameArchive reports whether the archive has the generated content. Its compression depends on
// the version of Go.
func (w Written) SameArchive(out *Output) bool {
	if bytes.Equal(w.Archive, out.Archive) {
		return true
	}
	was, err := open(w.Archive)
	if err != nil {
		return false
	}
	now, err := archive.Open(string(out.Archive))
	return err == nil && was.Sum() == now.Sum()
}

// open opens an archive and verifies its content.
func open(file []byte) (*archive.Archive, error) {
	a, err := archive.Open(string(file))
	if err != nil {
		return nil, err
	}
	return a, a.Verify()
}

func modulesIn(file []byte) ([]archive.Module, error) {
	a, err := open(file)
	if err != nil {
		return nil, err
	}
	return a.Modules()
}

// Change says briefly why the files of a package differ from the generated ones:
// "kernel saxpy has changed". It is empty if they do not.
func (w Written) Change(p *frontend.Package, out *Output) string {
	switch {
	case w.SameGo(out) && w.SameArchive(out):
		return ""
	case w.Go == nil && w.Archive == nil:
		return GoFile + " and " + ArchiveFile + " are missing"
	case w.Go == nil:
		return GoFile + " is missing"
	case w.Archive == nil:
		return ArchiveFile + " is missing"
	}
	was, err := modulesIn(w.Archive)
	if err != nil {
		return ArchiveFile + " is damaged"
	}
	is, err := modulesIn(out.Archive)
	if err != nil {
		return err.Error()
	}
	var changed, moved, added, gone []string
	old, now := codeByKernel(was), codeByKernel(is)
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

// positions matches the lines of a module that contain source positions.
var positions = regexp.MustCompile(`(?m)^\s*\.(loc|file)\s.*\n`)

// codeByKernel returns the names and texts of the modules of each kernel.
func codeByKernel(modules []archive.Module) map[string]string {
	code := map[string]string{}
	for _, m := range modules {
		kernel := m.Kernel
		if form, _, ok := strings.Cut(kernel, "["); ok && strings.Contains(kernel, "=") { // a special form
			kernel = form
		}
		code[kernel] += fmt.Sprintln(m.Kernel, m.Variant, m.Older) + m.Text
	}
	return code
}

// nameOf returns the source name of the kernel, or of the handler that it was generated
// for.
func nameOf(p *frontend.Package, kernel string) string {
	if a := p.ActorOf(kernel); a != nil {
		return a.Handler
	}
	if o := p.OperatorOf(kernel); o != nil {
		return o.Func
	}
	return kernel
}

// enumerate lists names, or only the first of many.
func enumerate(names []string) string {
	const most = 5
	if n := len(names) - most; n > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
