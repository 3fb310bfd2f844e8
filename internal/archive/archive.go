// Package archive reads and writes quern_gen.zip, the file with the GPU code of a
// package. It is a ZIP file with one entry per PTX module, so any ZIP tool can
// read it:
//
//	unzip -p quern_gen.zip saxpy/narrow.ptx
//
// The entry of a module for older devices has only the lines that differ from the main
// module.
package archive

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"
)

// File is the name of the file.
const File = "quern_gen.zip"

// Module is the PTX text of a kernel variant.
type Module struct {
	Kernel, Variant string
	Older           bool // for devices without some of the instructions in the variant's main module
	Text            string
}

// Endings of the names of entries.
const (
	mainModule  = ".ptx"
	olderModule = "-older.diff" // a difference from the main module of the variant
)

// name returns the name of the module's entry.
func (m *Module) name() string {
	if m.Older {
		return m.Kernel + "/" + m.Variant + olderModule
	}
	return m.Kernel + "/" + m.Variant + mainModule
}

// Write returns an archive of modules. A module for older devices needs the variant's main
// module. With the same Go version, the same modules
// give the same bytes.
func Write(modules []Module) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	for i := range modules {
		entry, err := w.CreateHeader(&zip.FileHeader{Name: modules[i].name(), Method: zip.Deflate})
		if err != nil {
			return nil, err
		}
		text := modules[i].Text
		if modules[i].Older {
			m := slices.IndexFunc(modules, func(m Module) bool {
				return !m.Older && m.Kernel == modules[i].Kernel && m.Variant == modules[i].Variant
			})
			if m < 0 {
				return nil, fmt.Errorf("archive: %s has no main module", modules[i].name())
			}
			text = difference(modules[m].Text, text)
		}
		if _, err := io.WriteString(entry, text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Archive is an open archive. Its methods are safe for concurrent use.
type Archive struct {
	entries []*zip.File
	byName  map[string]*zip.File
}

// Open reads the directory of an archive. It does not decompress anything.
func Open(data string) (*Archive, error) {
	r, err := zip.NewReader(strings.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	a := &Archive{entries: r.File, byName: make(map[string]*zip.File, len(r.File))}
	for _, f := range r.File {
		a.byName[f.Name] = f
	}
	return a, nil
}

// Sum returns an identifier of the modules: the SHA-256, in hexadecimal, of their
// names, sizes and checksums. It does not depend on the compression.
func (a *Archive) Sum() string {
	h := sha256.New()
	for _, f := range a.entries {
		fmt.Fprintf(h, "%s\n%d %08x\n", f.Name, f.UncompressedSize64, f.CRC32)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// Text returns the text of a module and reports whether the module exists.
func (a *Archive) Text(kernel, variant string, older bool) (text string, found bool, err error) {
	m := Module{Kernel: kernel, Variant: variant, Older: older}
	f := a.byName[m.name()]
	if f == nil {
		return "", false, nil
	}
	if text, err = read(f); err != nil || !older {
		return text, true, err
	}
	main, found, err := a.Text(kernel, variant, false)
	if err != nil || !found {
		return "", found, err
	}
	text, err = apply(main, text)
	return text, true, err
}

// Modules returns all modules, in the order in which they were written.
func (a *Archive) Modules() ([]Module, error) {
	modules := make([]Module, 0, len(a.entries))
	for _, f := range a.entries {
		at := strings.LastIndexByte(f.Name, '/')
		variant, older := strings.CutSuffix(f.Name[at+1:], olderModule)
		variant, main := strings.CutSuffix(variant, mainModule)
		if at < 0 || older == main {
			return nil, fmt.Errorf("archive: %s is not a PTX module", f.Name)
		}
		m := Module{Kernel: f.Name[:at], Variant: variant, Older: older}
		var err error
		if m.Text, _, err = a.Text(m.Kernel, m.Variant, m.Older); err != nil {
			return nil, err
		}
		modules = append(modules, m)
	}
	return modules, nil
}

// read decompresses an entry and verifies its checksum.
func read(f *zip.File) (string, error) {
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
