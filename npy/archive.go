package npy

import (
	"archive/zip"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"sync/atomic"
)

// Archive is a .npz archive that is read. It is safe for concurrent use. Reading
// one that was closed is an error that matches [fs.ErrClosed].
type Archive struct {
	files  *zip.Reader
	size   int64    // of the archive, bytes
	file   *os.File // nil if the program has opened it
	closed atomic.Bool
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
	if r == nil {
		return nil, fmt.Errorf("npy: reader is nil: %w", fs.ErrInvalid)
	}
	// Offsets in a damaged archive may lie outside of it.
	z, err := zip.NewReader(io.NewSectionReader(r, 0, size), size)
	if err != nil {
		return nil, fmt.Errorf("npy: %w: %w", ErrFormat, err)
	}
	return &Archive{files: z, size: size}, nil
}

// extension is that of the arrays of an archive; their names are without it.
const extension = ".npy"

// Names returns the names of the arrays, in the order of the archive.
func (a *Archive) Names() []string {
	if a == nil || a.files == nil {
		return nil
	}
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
	v, err := readAll[T](r, size) // to the end, where the checksum is compared
	if err != nil {
		return Array[T]{}, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

// damaged reports whether an error is that of compressed data or of an archive,
// not of reading it.
func damaged(err error) bool {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	return corrupt || errors.Is(err, zip.ErrChecksum) || errors.Is(err, zip.ErrFormat)
}

func (a *Archive) open(name string) (io.ReadCloser, *zip.File, error) {
	switch {
	case a == nil || a.files == nil:
		return nil, nil, fmt.Errorf("npy: archive was not made by OpenArchive or NewArchive: %w", fs.ErrInvalid)
	case a.closed.Load():
		return nil, nil, fmt.Errorf("npy: archive: %w", fs.ErrClosed)
	}
	for _, f := range a.files.File {
		if f.Name == name+extension {
			r, err := f.Open()
			if errors.Is(err, zip.ErrAlgorithm) {
				return nil, nil, fmt.Errorf("npy: %s: compression method %d: %w", name, f.Method, errors.ErrUnsupported)
			}
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, readError("the archive", err))
			}
			return r, f, nil
		}
	}
	return nil, nil, fmt.Errorf("npy: there is no array %q in the archive: %w", name, fs.ErrNotExist)
}

// Close ends the use of the archive, and closes the file if OpenArchive has opened
// it. Closing again does nothing.
func (a *Archive) Close() error {
	if a == nil || a.closed.Swap(true) || a.file == nil {
		return nil
	}
	return a.file.Close()
}

// ArchiveWriter writes a .npz archive. It is used by one goroutine.
type ArchiveWriter struct {
	// Compress makes arrays that are added later smaller, and slower to write
	// and read.
	Compress bool

	files  *zip.Writer // nil if there is no writer beneath
	names  map[string]bool
	closed bool
}

// NewArchiveWriter begins an archive, which is to be closed.
func NewArchiveWriter(w io.Writer) *ArchiveWriter {
	if w == nil {
		return &ArchiveWriter{}
	}
	return &ArchiveWriter{files: zip.NewWriter(w), names: make(map[string]bool)}
}

// Add adds an array to an archive. A name that is there is an error that matches
// [fs.ErrExist], an archive that was closed one that matches [fs.ErrClosed]; what
// is not written for these reasons or for its shape, a [*ShapeError], leaves the
// archive as it was.
func Add[T Element](w *ArchiveWriter, name string, a Array[T]) error {
	switch {
	case w == nil || w.files == nil:
		return fmt.Errorf("npy: archive was not made by NewArchiveWriter with a writer: %w", fs.ErrInvalid)
	case w.closed:
		return fmt.Errorf("npy: %s: archive: %w", name, fs.ErrClosed)
	case w.names[name]:
		return fmt.Errorf("npy: array %q is in the archive: %w", name, fs.ErrExist)
	}
	header, err := a.header()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
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
	if err := write(f, header, a); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Close ends the archive. It does not close the writer beneath. Closing again does
// nothing.
func (w *ArchiveWriter) Close() error {
	if w == nil || w.files == nil || w.closed {
		return nil
	}
	w.closed = true
	if err := w.files.Close(); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	return nil
}
