package mosaic

import (
	"context"

	"quern.dev/geo/tiff"
)

// assembler writes the final file from the blocks of the work file. Overviews are made block by block, from the four
// blocks below, so only some blocks are in memory at a time.
type assembler struct {
	out    *tiff.Writer
	work   *workFile
	levels []tiff.Header
	opt    tiff.Options
	empty  []byte // pixels of a block without data
	pixel  int
	done   func()
}

func (a *assembler) write(ctx context.Context) error {
	top := len(a.levels) - 1
	across, down := a.blocks(top)
	for y := range down {
		for x := range across {
			if _, err := a.block(ctx, top, x, y); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *assembler) blocks(level int) (across, down int) {
	h := &a.levels[level]
	return (h.Width-1)/a.opt.BlockWidth + 1, (h.Height-1)/a.opt.BlockHeight + 1
}

// block writes a block of a level and those below it, and returns its pixels: nil if it has none.
func (a *assembler) block(ctx context.Context, level, x, y int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	across, down := a.blocks(level)
	if x >= across || y >= down {
		return nil, nil
	}
	index := y*across + x
	var pixels []byte
	if level == 0 {
		var err error
		pixels, err = a.work.read(uint32(index), len(a.empty))
		a.done()
		if pixels == nil || err != nil {
			return nil, err
		}
	} else {
		for q := range 4 {
			part, err := a.block(ctx, level-1, 2*x+q&1, 2*y+q>>1)
			if err != nil {
				return nil, err
			}
			if part == nil {
				continue
			}
			if pixels == nil {
				pixels = append([]byte(nil), a.empty...)
			}
			a.halve(pixels, part, level-1, 2*x+q&1, 2*y+q>>1)
		}
		if pixels == nil {
			return nil, nil
		}
	}
	return pixels, a.put(ctx, level, index, across*down, pixels)
}

// halve puts a block at half its size into its quarter of the block above.
func (a *assembler) halve(to, from []byte, level, x, y int) {
	h := &a.levels[level]
	bw, bh := a.opt.BlockWidth, a.opt.BlockHeight
	width, height := min(bw, h.Width-x*bw), min(bh, h.Height-y*bh)
	for row := 0; row < height; row += 2 {
		upper := from[row*bw*a.pixel:][:width*a.pixel]
		lower := from[min(row+1, height-1)*bw*a.pixel:][:width*a.pixel]
		at := (y%2*bh/2+row/2)*bw + x%2*bw/2
		a.out.Halve(level, to[at*a.pixel:][:(width+1)/2*a.pixel], upper, lower, width)
	}
}

// put hands a block over, plane by plane.
func (a *assembler) put(ctx context.Context, level, index, blocks int, pixels []byte) error {
	if a.opt.Layout == tiff.ByPixel {
		return a.out.WriteBlock(ctx, level, index, pixels)
	}
	bands := a.levels[0].Bands
	size := a.pixel / bands
	for b := range bands {
		plane := make([]byte, 0, len(pixels)/bands)
		for i := b * size; i < len(pixels); i += a.pixel {
			plane = append(plane, pixels[i:i+size]...)
		}
		if err := a.out.WriteBlock(ctx, level, b*blocks+index, plane); err != nil {
			return err
		}
	}
	return nil
}
