package archive

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
)

// section holds the content of one section.
type section struct {
	name    string
	names   []string // of kernels and forms, without repetitions
	kernels []Kernel
	modules []Module
}

// sectionsOf divides kernels and their modules into sections.
func sectionsOf(kernels []Kernel, modules []Module) []*section {
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
	return sections
}

// Write returns an archive. With the same Go version, the same content gives the same bytes.
func Write(kernels []Kernel, modules []Module) ([]byte, error) {
	sections := sectionsOf(kernels, modules)
	var (
		texts strings.Builder
		ends  []int  // of the sections' texts
		list  []byte // of the modules
	)
	for _, s := range sections {
		for _, m := range s.modules {
			text := relative(m.Text)
			exact := absolute(text) != m.Text // not text of the compiler
			if exact {
				text = m.Text
			}
			texts.WriteString(text)
			list = appendString(appendString(list, m.Kernel), m.Variant)
			list = binary.AppendUvarint(list, uint64(len(text))<<2|bit(exact)<<1|bit(m.Older))
		}
		ends = append(ends, texts.Len())
	}
	w := newWriter()
	if len(list) > 0 {
		w.write(modulesEntry, list)
	}
	var index, infos []byte
	code, groups := newRepeats(texts.String()), 0
	for i, s := range sections {
		index = fmt.Appendf(index, "%s\t%s\n", s.name, strings.Join(s.names, "\t"))
		for _, k := range s.kernels {
			infos = appendString(appendString(infos, k.Name), k.Info)
		}
		code.extend(ends[i])
		if i+1 < len(sections) && max(len(infos), code.size()) < groupSize {
			continue
		}
		index = fmt.Appendf(index, "\t%d\n", ends[i])
		w.write(fmt.Sprint(groups, infoEntry), infos)
		w.write(fmt.Sprint(groups, textEntry), code.block())
		infos = nil
		groups++
	}
	w.write(indexEntry, index)
	return w.close()
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// writer writes a ZIP file.
type writer struct {
	out bytes.Buffer
	zip *zip.Writer
	err error
}

func newWriter() *writer {
	w := &writer{}
	w.zip = zip.NewWriter(&w.out)
	w.zip.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	return w
}

// write adds an entry.
func (w *writer) write(name string, data []byte) {
	entry, err := w.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err == nil {
		_, err = entry.Write(data)
	}
	if w.err == nil {
		w.err = err
	}
}

func (w *writer) close() ([]byte, error) {
	if w.err == nil {
		w.err = w.zip.Close()
	}
	return w.out.Bytes(), w.err
}
