package tiff

// Limits bounds what a file can make a program do. Zero fields have the stated
// defaults.
type Limits struct {
	// Directories is the number of directories of a file: 4096.
	Directories int
	// TagBytes is the size of the value of one tag: 256 MiB. The arrays of the
	// offsets of tiles take 16 bytes per tile.
	TagBytes int64
	// BlockBytes is the size of one decoded tile or strip: 1 GiB. Strips that are
	// not compressed may be larger, and are read in parts.
	BlockBytes int64
}

func (l Limits) withDefaults() Limits {
	if l.Directories <= 0 {
		l.Directories = 4096
	}
	if l.TagBytes <= 0 {
		l.TagBytes = 256 << 20
	}
	if l.BlockBytes <= 0 {
		l.BlockBytes = 1 << 30
	}
	return l
}
