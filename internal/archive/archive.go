// Package archive reads and writes quern_gen.zip, the file with the descriptions and the GPU
// code of a package's kernels. It is a ZIP file with these entries:
//
//	index2      sections in groups, see parseIndex
//	N.info      the descriptions of the kernels of group N
//	modules     the kernel, the variant and the size of each PTX module
//	N.ptx       the texts of the modules of group N
//
// A section has kernels whose code is similar: the instances of a generic kernel, or the
// kernels that a library's template has become. Modules are stored as differences from all
// earlier ones of the file; see repeats.go and registers.go. A program that uses one kernel decompresses
// its group, and the groups that its text is made of.
package archive

import (
	"archive/zip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"weak"
)

// File is the name of the file.
const File = "quern_gen.zip"

// Names of entries, and ends of their names. The name of the index changes whenever the format
// of any entry does.
const (
	indexEntry   = "index2"
	modulesEntry = "modules"
	infoEntry    = ".info"
	textEntry    = ".ptx"
)

// groupSize is the size from which descriptions or code of sections make a group.
const groupSize = 48 << 10

// Kernel is the description of a kernel.
type Kernel struct {
	Name    string
	Section string // empty: the name without type arguments
	Info    string // see package gpu/compiled
}

// Module is the PTX text of a kernel variant.
type Module struct {
	Kernel, Variant string
	Older           bool // for devices without some of the instructions in the variant's main module
	Text            string
}

// Name returns a name for people: "saxpy/narrow".
func (m *Module) Name() string {
	name := m.Kernel + "/" + m.Variant
	if m.Older {
		name += "-older"
	}
	return name
}

// Archive is an open archive. Its methods are safe for concurrent use.
type Archive struct {
	entries []*zip.File
	byName  map[string]*zip.File
	groups  []group
	of      map[string]place // by kernel

	mu    sync.Mutex
	texts weak.Pointer[texts] // while modules are read
}

// place is the section of a kernel.
type place struct {
	section string
	group   int
}

// group is a list of sections that are stored together.
type group struct{ begin, end int } // of its text in that of all modules

// errFormat is the error of an archive without an index.
var errFormat = errors.New("it was written by another version of quern gen")

// Open reads the directory and the index of an archive.
func Open(data string) (*Archive, error) {
	r, err := zip.NewReader(strings.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	a := &Archive{entries: r.File, byName: make(map[string]*zip.File, len(r.File)), of: map[string]place{}}
	for _, f := range r.File {
		a.byName[f.Name] = f
	}
	if a.byName[indexEntry] == nil {
		return nil, errFormat
	}
	index, err := a.read(indexEntry)
	if err == nil {
		err = a.parseIndex(index)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// parseIndex parses the index. It has a line per section: its name and those of its
// kernels and forms, with tabs. After the sections of a group, a line with a tab says where its text ends.
func (a *Archive) parseIndex(index string) error {
	end := 0
	for line := range strings.Lines(index) {
		section, names, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if section != "" {
			for kernel := range strings.SplitSeq(names, "\t") {
				a.of[kernel] = place{section, len(a.groups)}
			}
			continue
		}
		next, err := strconv.Atoi(names)
		if err != nil || next < end || next > farthest {
			return errDamaged
		}
		a.groups = append(a.groups, group{end, next})
		end = next
	}
	return nil
}

// Sum returns an identifier of the content: the SHA-256, in hexadecimal, of the names,
// sizes and checksums of the entries. It does not depend on the compression by package zip.
// It does not read the entries; Verify does.
func (a *Archive) Sum() string {
	h := sha256.New()
	for _, f := range a.entries {
		fmt.Fprintf(h, "%s\n%d %08x\n", f.Name, f.UncompressedSize64, f.CRC32)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Verify reads all entries and compares their sizes and checksums with the directory.
func (a *Archive) Verify() error {
	for _, f := range a.entries {
		if _, err := a.read(f.Name); err != nil {
			return err
		}
	}
	return nil
}

// Info returns the description of a kernel and reports whether it exists.
func (a *Archive) Info(kernel string) (info string, found bool, err error) {
	p, found := a.of[kernel]
	if !found {
		return "", false, nil
	}
	list, err := a.kernels(p.group)
	for _, k := range list {
		if k.Name == kernel {
			return k.Info, true, nil
		}
	}
	return "", false, err
}

// Kernels returns all descriptions, in the order of the sections.
func (a *Archive) Kernels() ([]Kernel, error) {
	var all []Kernel
	for i := range a.groups {
		list, err := a.kernels(i)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

func (a *Archive) kernels(group int) (list []Kernel, err error) {
	data, err := a.read(fmt.Sprint(group, infoEntry))
	for r := (reader{data}); err == nil && r.rest != ""; {
		k := Kernel{Name: r.string(), Info: r.string()}
		if r.failed() {
			return nil, errDamaged
		}
		k.Section = a.of[k.Name].section
		list = append(list, k)
	}
	return list, err
}

// Text returns the text of a module and reports whether the module exists.
func (a *Archive) Text(kernel, variant string, older bool) (text string, found bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, err := a.opened()
	if err != nil {
		return "", false, err
	}
	for i, m := range t.modules {
		if m.Kernel == kernel && m.Variant == variant && m.Older == older {
			text, err = t.text(i)
			return text, err == nil, err
		}
	}
	return "", false, nil
}

// Modules returns all modules, in the order of the sections.
func (a *Archive) Modules() ([]Module, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, err := a.opened()
	if err != nil {
		return nil, err
	}
	all := slices.Clone(t.modules)
	for i := range all {
		if all[i].Text, err = t.text(i); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// read decompresses an entry and verifies its checksum. An entry that does not exist is empty.
func (a *Archive) read(name string) (string, error) {
	f := a.byName[name]
	if f == nil {
		return "", nil
	}
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	var b strings.Builder
	size := int(min(f.UncompressedSize64, 1<<24))
	b.Grow(size)
	if _, err := io.CopyBuffer(&b, r, make([]byte, min(size, 8<<10)+1)); err != nil {
		return "", fmt.Errorf("%s: %w", f.Name, err)
	}
	return b.String(), nil
}
