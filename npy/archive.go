package npy

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
)

// Archive is a .npz archive that is read. It is safe for concurrent use.
type Archive struct {
	files *zip.Reader
	size  int64    // of the archive, bytes
	file  *os.File // nil if the program has opened it
}

// OpenArchive opens the named .npz archive, which is to be closed.
func OpenArchive(name string) (*Archive, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("npy: %w", err), f.Close())
	}
	a, err := NewArchive(f, info.Size())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	a.file = f
	return a, nil
}

// NewArchive reads an archive of size bytes.
func NewArchive(r io.ReaderAt, size int64) (*Archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("npy: %w: %w", ErrFormat, err)
	}
	return &Archive{files: z, size: size}, nil
}

// extension is that of the arrays of an archive; their names are without it.
const extension = ".npy"

// Names returns the names of the arrays, in the order of the archive.
func (a *Archive) Names() []string {
	var names []string
	for _, f := range a.files.File {
		if name, ok := strings.CutSuffix(f.Name, extension); ok {
			names = append(names, name)
		}
	}
	return names
}

// Header returns the description of an array.
func (a *Archive) Header(name string) (Header, error) {
	r, _, err := a.open(name)
	if err != nil {
		return Header{}, err
	}
	defer r.Close()
	h, err := ReadHeader(r)
	if err != nil {
		return h, fmt.Errorf("%s: %w", name, err)
	}
	return h, nil
}

// ReadFrom reads the named array of an archive. A name that is not there is an
// error that matches [fs.ErrNotExist].
func ReadFrom[T Element](a *Archive, name string) (Array[T], error) {
	r, f, err := a.open(name)
	if err != nil {
		return Array[T]{}, err
	}
	defer r.Close()
	size := int64(math.MaxInt64) // what is compressed may claim any size
	if f.Method == zip.Store {
		size = a.size
	}
	v, err := read[T](r, size)
	if err != nil {
		return v, fmt.Errorf("%s: %w", name, err)
	}
	// The rest is nothing but the end, where the checksum is compared.
	switch n, err := io.Copy(io.Discard, io.LimitReader(r, 1)); {
	case err != nil:
		return Array[T]{}, fmt.Errorf("npy: %s: %w: %w", name, ErrFormat, err)
	case n > 0:
		return Array[T]{}, fmt.Errorf("npy: %s: %w: there are more data than shape %v has", name, ErrFormat, v.Shape)
	}
	return v, nil
}

func (a *Archive) open(name string) (io.ReadCloser, *zip.File, error) {
	for _, f := range a.files.File {
		if f.Name == name+extension {
			r, err := f.Open()
			if err != nil {
				return nil, nil, fmt.Errorf("npy: %s: %w", name, err)
			}
			return r, f, nil
		}
	}
	return nil, nil, fmt.Errorf("npy: there is no array %q in the archive: %w", name, fs.ErrNotExist)
}

// Close closes the file that OpenArchive has opened.
func (a *Archive) Close() error {
	if a.file == nil {
		return nil
	}
	return a.file.Close()
}

// ArchiveWriter writes a .npz archive. It is used by one goroutine.
type ArchiveWriter struct {
	// Compress makes arrays that are added later smaller, and slower to write
	// and read.
	Compress bool

	files *zip.Writer
	names map[string]bool
}

// NewArchiveWriter begins an archive, which is to be closed.
func NewArchiveWriter(w io.Writer) *ArchiveWriter {
	return &ArchiveWriter{files: zip.NewWriter(w), names: make(map[string]bool)}
}

// Add adds an array to an archive.
func Add[T Element](w *ArchiveWriter, name string, a Array[T]) error {
	if w.names[name] {
		return fmt.Errorf("npy: array %q is in the archive already", name)
	}
	method := zip.Store
	if w.Compress {
		method = zip.Deflate
	}
	f, err := w.files.CreateHeader(&zip.FileHeader{Name: name + extension, Method: method})
	if err != nil {
		return fmt.Errorf("npy: %s: %w", name, err)
	}
	w.names[name] = true
	if err := Write(f, a); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Close ends the archive. It does not close the writer beneath.
func (w *ArchiveWriter) Close() error { return w.files.Close() }
