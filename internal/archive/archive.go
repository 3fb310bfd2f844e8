// Package archive reads and writes quern_gen.zip, the file with the descriptions and the GPU
// code of a package's kernels. It is a ZIP file with these entries:
//
//	index          a line per section: its name and those of its kernels and forms, with tabs
//	SECTION.info   the descriptions of the section's kernels
//	SECTION.ptx    the PTX modules of the section's kernels
//
// A section has kernels whose code is similar: the instances of a generic kernel, or the
// kernels that a library's template has become. Its modules are stored together, so that
// each takes only the space of its differences; see repeats.go and registers.go. A program
// that uses one kernel decompresses one section.
package archive

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// File is the name of the file.
const File = "quern_gen.zip"

// Names of entries, and ends of their names. The name of the index changes whenever the format
// of any entry does.
const (
	indexEntry  = "index1"
	infoEntry   = ".info"
	moduleEntry = ".ptx"
)

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

// section holds the content of one section.
type section struct {
	name    string
	names   []string // of kernels and forms, without repetitions
	kernels []Kernel
	modules []Module
}

// Write returns an archive. With the same Go version, the same content gives the same bytes.
func Write(kernels []Kernel, modules []Module) ([]byte, error) {
	var sections []*section
	of := map[string]*section{} // by name of kernel, and without type arguments
	add := func(kernel, name string) *section {
		base, _, _ := strings.Cut(kernel, "[")
		s := cmp.Or(of[kernel], of[base])
		if name != "" || s == nil {
			name = cmp.Or(name, base)
			i := slices.IndexFunc(sections, func(s *section) bool { return s.name == name })
			if i < 0 {
				i, sections = len(sections), append(sections, &section{name: name})
			}
			s = sections[i]
		}
		if of[kernel] == nil {
			s.names = append(s.names, kernel)
			of[kernel] = s
		}
		of[base] = cmp.Or(of[base], s)
		return s
	}
	for _, k := range kernels {
		s := add(k.Name, k.Section)
		s.kernels = append(s.kernels, k)
	}
	for _, m := range modules {
		s := add(m.Kernel, "")
		s.modules = append(s.modules, m)
	}

	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	write := func(name string, data []byte) error {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err == nil {
			_, err = entry.Write(data)
		}
		return err
	}
	var index []byte
	for _, s := range sections {
		index = fmt.Appendf(index, "%s\t%s\n", s.name, strings.Join(s.names, "\t"))
	}
	errs := []error{write(indexEntry, index)}
	for _, s := range sections {
		if len(s.kernels) > 0 {
			errs = append(errs, write(s.name+infoEntry, s.info()))
		}
		if len(s.modules) > 0 {
			errs = append(errs, write(s.name+moduleEntry, s.code()))
		}
	}
	if err := errors.Join(append(errs, w.Close())...); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// info returns the descriptions, each after the kernel's name.
func (s *section) info() []byte {
	var b []byte
	for _, k := range s.kernels {
		b = appendString(appendString(b, k.Name), k.Info)
	}
	return b
}

// code returns the number of modules, the name, variant, kind and length of each, and their texts.
func (s *section) code() []byte {
	var texts strings.Builder
	b := binary.AppendUvarint(nil, uint64(len(s.modules)))
	for _, m := range s.modules {
		text := relative(m.Text)
		exact := absolute(text) != m.Text // not text of the compiler
		if exact {
			text = m.Text
		}
		texts.WriteString(text)
		b = appendString(appendString(b, m.Kernel), m.Variant)
		b = binary.AppendUvarint(b, uint64(len(text))<<2|bit(exact)<<1|bit(m.Older))
	}
	return append(b, withoutRepeats(texts.String())...)
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Archive is an open archive. Its methods are safe for concurrent use.
type Archive struct {
	entries  []*zip.File
	byName   map[string]*zip.File
	sections []string
	of       map[string]string // sections by kernel
}

// errFormat is the error of an archive without an index.
var errFormat = errors.New("it was written by another version of quern gen")

// Open reads the directory and the index of an archive.
func Open(data string) (*Archive, error) {
	r, err := zip.NewReader(strings.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	a := &Archive{entries: r.File, byName: make(map[string]*zip.File, len(r.File)), of: map[string]string{}}
	for _, f := range r.File {
		a.byName[f.Name] = f
	}
	if a.byName[indexEntry] == nil {
		return nil, errFormat
	}
	index, err := a.read(indexEntry)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(index) {
		names := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		a.sections = append(a.sections, names[0])
		for _, kernel := range names[1:] {
			a.of[kernel] = names[0]
		}
	}
	return a, nil
}

// Sum returns an identifier of the content: the SHA-256, in hexadecimal, of the names,
// sizes and checksums of the entries. It does not depend on the compression by package zip.
func (a *Archive) Sum() string {
	h := sha256.New()
	for _, f := range a.entries {
		fmt.Fprintf(h, "%s\n%d %08x\n", f.Name, f.UncompressedSize64, f.CRC32)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Info returns the description of a kernel and reports whether it exists.
func (a *Archive) Info(kernel string) (info string, found bool, err error) {
	list, err := a.kernels(a.of[kernel])
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
	for _, s := range a.sections {
		list, err := a.kernels(s)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

func (a *Archive) kernels(section string) (list []Kernel, err error) {
	data, err := a.read(section + infoEntry)
	for r := (reader{data}); err == nil && r.rest != ""; {
		k := Kernel{Name: r.string(), Section: section, Info: r.string()}
		if r.failed() {
			return nil, errDamaged
		}
		list = append(list, k)
	}
	return list, err
}

// Text returns the text of a module and reports whether the module exists.
func (a *Archive) Text(kernel, variant string, older bool) (text string, found bool, err error) {
	list, err := a.modules(a.of[kernel], func(m Module) bool {
		return m.Kernel == kernel && m.Variant == variant && m.Older == older
	})
	if err != nil || len(list) == 0 {
		return "", false, err
	}
	return list[0].Text, true, nil
}

// Modules returns all modules, in the order of the sections.
func (a *Archive) Modules() ([]Module, error) {
	var all []Module
	for _, s := range a.sections {
		list, err := a.modules(s, func(Module) bool { return true })
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// modules returns the modules of a section that wanted, which does not see the text, accepts.
func (a *Archive) modules(section string, wanted func(Module) bool) (list []Module, err error) {
	data, err := a.read(section + moduleEntry)
	if err != nil || data == "" {
		return nil, err
	}
	type span struct {
		from, to int
		exact    bool
	}
	var spans []span
	r, end := reader{data}, 0
	for n := r.number(); n > 0 && !r.failed(); n-- {
		m := Module{Kernel: r.string(), Variant: r.string()}
		size := r.number()
		m.Older = size&1 != 0
		if wanted(m) {
			list, spans = append(list, m), append(spans, span{end, end + size>>2, size&2 != 0})
		}
		end += size >> 2
	}
	if r.failed() || end > farthest {
		return nil, errDamaged
	}
	if len(list) == 0 {
		return nil, nil
	}
	text, err := withRepeats(r.rest, spans[len(spans)-1].to)
	if err != nil {
		return nil, err
	}
	for i, s := range spans {
		list[i].Text = text[s.from:s.to]
		if !s.exact {
			list[i].Text = absolute(list[i].Text)
		}
	}
	return list, nil
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
	b.Grow(int(min(f.UncompressedSize64, 1<<24)))
	if _, err := io.Copy(&b, r); err != nil {
		return "", fmt.Errorf("%s: %w", f.Name, err)
	}
	return b.String(), nil
}
