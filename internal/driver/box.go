package driver

import "unsafe"

// BoxCopier is a stream that copies between parts of arrays of two and three
// dimensions.
type BoxCopier interface {
	// CopyBox copies a box. When it returns, a source in host memory may be
	// reused, and what goes to host memory has arrived, unless the copy is
	// asynchronous.
	CopyBox(c *BoxCopy) error
}

// BoxCopy is Depth planes of Height rows of Width bytes, none of them zero, that
// lie apart in the source or in the destination. The two do not overlap.
type BoxCopy struct {
	Dst, Src             BoxSide
	Width, Height, Depth int64

	// Async: host memory is page-locked. CopyBox returns at once, and that
	// memory is in use until the stream has passed the copy.
	Async bool
}

// BoxSide is where the first byte is, and how the others follow.
type BoxSide struct {
	Memory Memory
	Go     unsafe.Pointer // instead of Memory: host memory

	Pitch int64 // bytes from one row to the next, at least Width
	Rows  int64 // rows from one plane to the next, at least Height
}

// offset is where a row is in relation to the first.
func (b *BoxSide) offset(row, plane int64) int64 { return (plane*b.Rows + row) * b.Pitch }

// Dense reports whether there is nothing between the rows and planes of a box.
func (b *BoxSide) Dense(width, height, depth int64) bool {
	return (b.Pitch == width || height*depth == 1) && (b.Rows == height || depth == 1)
}

// Each calls move for each piece of the copy whose n bytes lie together on both
// sides, at the given offsets from their first bytes.
func (c *BoxCopy) Each(move func(dst, src, n int64) error) error {
	width, height, depth := c.Width, c.Height, c.Depth
	if c.Dst.Dense(width, height, depth) && c.Src.Dense(width, height, depth) {
		return move(0, 0, width*height*depth)
	}
	rows := height
	if c.Dst.Dense(width, height, 1) && c.Src.Dense(width, height, 1) {
		width, rows = width*height, 1
	}
	for plane := range depth {
		for row := range rows {
			if err := move(c.Dst.offset(row, plane), c.Src.offset(row, plane), width); err != nil {
				return err
			}
		}
	}
	return nil
}
