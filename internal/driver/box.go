package driver

import "unsafe"

// BoxCopier is a stream that copies rectangles and boxes of two- and three-dimensional
// arrays.
type BoxCopier interface {
	// CopyBox copies a box. When it returns, the source in host memory may be reused
	// and data copied to host memory has arrived, unless the copy is asynchronous.
	CopyBox(c *BoxCopy) error
}

// BoxCopy is a box of Depth planes of Height rows of Width bytes, none of them zero.
// The rows are apart in the source, the destination or both. Source and destination do
// not overlap.
type BoxCopy struct {
	Dst, Src             BoxSide
	Width, Height, Depth int64

	// Async: host memory is page-locked. CopyBox returns at once, and that memory stays
	// in use until the stream has passed the copy.
	Async bool
}

// BoxSide gives the address of the first byte and the layout of the rest.
type BoxSide struct {
	Memory Memory
	Go     unsafe.Pointer // instead of Memory: host memory

	Pitch int64 // bytes from one row to the next, at least Width
	Rows  int64 // rows from one plane to the next, at least Height
}

// offset returns the offset of a row from the first row.
func (b *BoxSide) offset(row, plane int64) int64 { return (plane*b.Rows + row) * b.Pitch }

// Dense reports whether the rows and planes of a box are contiguous.
func (b *BoxSide) Dense(width, height, depth int64) bool {
	return (b.Pitch == width || height*depth == 1) && (b.Rows == height || depth == 1)
}

// Each calls move for each contiguous piece of the copy. A piece has n bytes,
// contiguous on both sides, at the given offsets from the first bytes.
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
