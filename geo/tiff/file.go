package tiff

import (
	"errors"
	"io"
	"os"
)

// File is an open TIFF file. It is safe for concurrent use.
type File struct {
	src    source
	images []*Image // with masks and overviews
	main   []*Image
	closer io.Closer
}

// Open opens a file.
func Open(name string) (*File, error) {
	r, err := os.Open(name)
	if err != nil {
		return nil, &Error{Op: "open", Kind: ErrIO, Directory: -1, Block: -1, Offset: -1, Reason: "the file cannot be opened", Err: err}
	}
	info, err := r.Stat()
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	f, err := newFile(source{r: r, size: info.Size(), name: name, modified: info.ModTime()})
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	f.closer = r
	return f, nil
}

// NewFile reads the directories of a file of the given size. The reader must be safe for
// concurrent use and is not closed. A reader that is a [RangeReader] is asked for several
// blocks at a time.
func NewFile(r io.ReaderAt, size int64, limits Limits) (*File, error) {
	if r == nil || size < 0 {
		return nil, opening.argument("a reader and the size of the file are required")
	}
	return newFile(source{r: r, size: size, limits: limits})
}

func newFile(src source) (*File, error) {
	src.limits = src.limits.withDefaults()
	f := &File{src: src}
	if err := f.readDirectories(); err != nil {
		return nil, err
	}
	f.assignRoles()
	return f, nil
}

// readDirectories reads the chain of directories, and those that SubIFDs lists. After the
// first one, unsupported directories (such as thumbnails in old formats) are passed over.
func (f *File) readDirectories() error {
	next, err := f.src.header()
	if err != nil {
		return err
	}
	seen := map[int64]bool{}
	read := func(offset int64) (*directory, error) {
		p := place{"open", len(seen), -1, f.src.name}
		if seen[offset] {
			return nil, p.damaged(0, offset, "this directory has been read before; the links between directories form a loop")
		}
		if len(seen) == f.src.limits.Directories {
			return nil, p.limit(0, "more than %d directories; Limits.Directories allows no more", len(seen))
		}
		seen[offset] = true
		d, err := f.src.directory(len(seen)-1, offset)
		if err != nil {
			return nil, err
		}
		im, err := f.interpret(d)
		switch {
		case err == nil:
			f.images = append(f.images, im)
		case len(f.images) == 0 || !errors.Is(err, ErrUnsupported):
			return nil, err
		}
		return d, nil
	}
	if next == 0 {
		return f.src.opening().damaged(0, 4, "the file has no directory; it may not have been completed")
	}
	for next != 0 {
		d, err := read(next)
		if err != nil {
			return err
		}
		children, err := d.uints(SubIFDs)
		if err != nil {
			return err
		}
		for _, child := range children {
			if _, err := read(int64(child)); err != nil {
				return err
			}
		}
		next = d.next
	}
	return nil
}

// assignRoles attaches masks and overviews to the image before them.
func (f *File) assignRoles() {
	var full *Image
	masked := map[[2]int]*Image{} // images that may get a mask, by size
	for _, im := range f.images {
		size := [2]int{im.Width, im.Height}
		switch {
		case im.subfile&subfileMask != 0 && masked[size] != nil:
			masked[size].mask = im
		case im.subfile&subfileMask == 0 && im.subfile&subfileReduced != 0 && full != nil:
			full.overviews = append(full.overviews, im)
			masked[size] = im
		default:
			full = im
			masked = map[[2]int]*Image{size: im}
			f.main = append(f.main, im)
		}
	}
}

// Image returns the first full image.
func (f *File) Image() *Image { return f.main[0] }

// Images returns the full images: all that are not masks or overviews of others.
func (f *File) Images() []*Image { return f.main }

// BigTIFF reports whether the file has 64-bit offsets.
func (f *File) BigTIFF() bool { return f.src.big }

// BigEndian reports whether numbers in the file begin with their most significant byte.
func (f *File) BigEndian() bool { return f.src.order.String() == "BigEndian" }

// Close closes the file that Open has opened. The second Close does nothing.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	c := f.closer
	f.closer = nil
	return c.Close()
}
