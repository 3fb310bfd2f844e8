package tiff

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// Writer writes a file. The file appears under its name when Close succeeds; until then it is a
// temporary file in the same directory, which an error, Abort, and Close after an error remove. A Writer is
// for one goroutine, except that WriteBlock, WriteStored and WriteRegion may be called by several.
type Writer struct {
	header Header
	opt    Options
	name   string
	out    *store   // of the final file
	levels []*level // the full image and its overviews
	pipe   *pipeline

	mu      sync.Mutex
	blocks  bool          // WriteBlock, WriteStored or WriteRegion was called
	regions []atomic.Bool // of WriteRegion: the blocks that are written
	closed  bool
}

// Rows are rows of an image, from the left to the right edge.
type Rows struct {
	// Pixels has all bands of the rows in Layout, in the machine's byte order; see [Bytes].
	Pixels []byte
	Layout Layout
	// Mask has a byte per pixel, which is 0 where there is no data. It is required if Options.Mask is
	// set, and nil otherwise.
	Mask []byte
}

// Create starts writing a file.
func Create(name string, h Header, opt Options) (*Writer, error) {
	opt, err := opt.withDefaults(&h)
	if err != nil {
		return nil, err
	}
	w := &Writer{header: h, opt: opt, name: name}
	if w.out, err = createStore(name); err != nil {
		return nil, err
	}
	if err := w.createLevels(); err != nil {
		return nil, errors.Join(err, w.discard())
	}
	w.pipe = newPipeline(runtime.GOMAXPROCS(0))
	return w, nil
}

// createLevels prepares the image and its overviews. With overviews, each level collects its blocks in
// a file of its own, because those of the smallest overview come first in the end.
func (w *Writer) createLevels() error {
	h := w.header
	for i := 0; i <= w.opt.Overviews; i++ {
		s := w.out
		if w.spooled() {
			var err error
			if s, err = createStore(fmt.Sprintf("%s.level%d", w.name, i)); err != nil {
				return err
			}
			s.framed = w.opt.COG
		} else if err := s.skip(w.headerBytes()); err != nil {
			return err
		}
		w.levels = append(w.levels, newLevel(i, h, w.opt, s))
		if h.Width == 1 && h.Height == 1 {
			break
		}
		h.Width, h.Height = (h.Width+1)/2, (h.Height+1)/2
	}
	return nil
}

// spooled reports whether blocks are collected in files by level.
func (w *Writer) spooled() bool { return w.opt.COG || w.opt.Overviews > 0 }

// headerBytes returns the size of the file header.
func (w *Writer) headerBytes() int64 {
	if w.opt.big(&w.header) {
		return 16
	}
	return 8
}

// Levels returns the sizes of the image and of its overviews.
func (w *Writer) Levels() []Header {
	var all []Header
	for _, l := range w.levels {
		all = append(all, l.header)
	}
	return all
}

// Options returns the options with the defaults filled in.
func (w *Writer) Options() Options { return w.opt }

// WriteRows adds rows, from the top to the bottom of the image. The number of rows may differ from
// call to call. It returns when the rows have been copied, and waits when too many blocks are not
// yet compressed. An error of an earlier block is returned too.
func (w *Writer) WriteRows(ctx context.Context, rows Rows) error {
	full := w.levels[0]
	n, err := w.checkRows(rows)
	if err != nil {
		return err
	}
	for done := 0; done < n; {
		if err := ctx.Err(); err != nil {
			w.pipe.fail(err) // rows are missing from now on
			return err
		}
		count := min(n-done, full.bufferRows()-full.filled)
		full.take(rows, n, done, count)
		done += count
		if full.filled == full.bufferRows() {
			if err := w.flush(ctx, 0); err != nil {
				return err
			}
		}
	}
	return w.pipe.failure()
}

// mostRowBytes is the largest row of blocks that rows are collected in.
const mostRowBytes = 16 << 30

// checkRows returns the number of rows.
func (w *Writer) checkRows(rows Rows) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, writing.fail(ErrClosed, 0, -1, "the writer of %s is closed", w.name)
	}
	if w.blocks {
		return 0, writing.argument("rows after single blocks; an image is written in one of the two ways")
	}
	full := w.levels[0]
	rowBytes := full.header.Width * full.header.pixelBytes()
	n := len(rows.Pixels) / rowBytes
	switch {
	case len(rows.Pixels)%rowBytes != 0:
		return 0, writing.argument("%d bytes of pixels; a row has %d", len(rows.Pixels), rowBytes)
	case int64(rowBytes)*int64(min(full.opt.BlockHeight, full.header.Height)) > mostRowBytes:
		return 0, writing.limit(0, "a row of blocks of %d pixels and %d rows has %d bytes, which are kept in memory; %d are possible: make the image narrower, or blocks lower",
			full.header.Width, full.opt.BlockHeight, int64(rowBytes)*int64(full.opt.BlockHeight), int64(mostRowBytes))
	case rows.Layout > ByBand:
		return 0, writing.argument("layout %d; it is ByPixel or ByBand", rows.Layout)
	case n > full.header.Height-full.y-full.filled:
		return 0, writing.argument("%d rows after %d of %d", n, full.y+full.filled, full.header.Height)
	case w.opt.Mask && len(rows.Mask) != n*full.header.Width:
		return 0, writing.argument("%d bytes of mask for %d pixels", len(rows.Mask), n*full.header.Width)
	case !w.opt.Mask && rows.Mask != nil:
		return 0, writing.argument("a mask; set Options.Mask")
	}
	return n, w.pipe.failure()
}

// flush hands the full rows of blocks of a level over for compression, and their
// halves to the next level.
func (w *Writer) flush(ctx context.Context, i int) error {
	l := w.levels[i]
	buf, rows := l.buffer, l.filled
	buf.uses.Store(1)
	if err := w.submitRows(ctx, l, buf, rows); err != nil {
		return err
	}
	if i+1 < len(w.levels) {
		next := w.levels[i+1]
		for y := 0; y < rows; {
			count := min((rows-y+1)/2, next.bufferRows()-next.filled)
			if err := next.takeHalves(ctx, l, buf, y, count, rows); err != nil {
				w.pipe.fail(err)
				return err
			}
			y += 2 * count
			if next.filled == next.bufferRows() {
				if err := w.flush(ctx, i+1); err != nil {
					return err
				}
			}
		}
	}
	l.y += rows
	l.filled = 0
	l.release(buf)
	l.buffer = l.acquire()
	return nil
}

// submitRows queues the blocks of one row of blocks, plane by plane.
func (w *Writer) submitRows(ctx context.Context, l *level, buf *rowBuffer, rows int) error {
	row := l.y / l.opt.BlockHeight
	for plane := range l.planes {
		for column := range l.across {
			index := (plane*l.down+row)*l.across + column
			buf.uses.Add(1)
			t := &task{level: l, index: index, part: part{buf, column, plane, rows}}
			if err := w.pipe.submit(ctx, t); err != nil {
				return err
			}
			if !w.opt.Mask || plane > 0 {
				continue
			}
			buf.uses.Add(1)
			t = &task{level: l, index: index, mask: true, part: part{buf, column, plane, rows}}
			if err := w.pipe.submit(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// WriteBlock writes one block of the image (level 0) or of an overview, in any order. pixels has
// the form that [Image.ReadBlock] returns: full blocks, and the stored rows of the last strip. The
// caller must not change it before Close. A program that writes blocks writes those of all levels.
func (w *Writer) WriteBlock(ctx context.Context, level, index int, pixels []byte) error {
	l, err := w.checkBlock(level, index)
	if err != nil {
		return err
	}
	if want := l.samples() * l.storedRows(index) * l.header.Type.Size(); len(pixels) != want {
		return writing.argument("block %d has %d bytes of pixels; %d are required", index, len(pixels), want)
	}
	return w.pipe.submit(ctx, &task{level: l, index: index, pixels: pixels})
}

// WriteStored writes one block in the form that [Image.ReadStored] returns: the byte order and the predictor
// have been applied, and only the compression is left. It is otherwise like [Writer.WriteBlock].
func (w *Writer) WriteStored(ctx context.Context, level, index int, stored []byte) error {
	l, err := w.checkBlock(level, index)
	if err != nil {
		return err
	}
	if want := l.rowBytes() * l.storedRows(index); len(stored) != want {
		return writing.argument("block %d has %d stored bytes; %d are required", index, len(stored), want)
	}
	return w.pipe.submit(ctx, &task{level: l, index: index, pixels: stored, filtered: true})
}

// Halve makes a row of the overview below a level from two rows of width pixels, as Options.Resampling says; for the last
// row of an odd number both are the same. dst gets (width+1)/2 pixels, and pixels have all bands side by side.
func (w *Writer) Halve(level int, dst, upper, lower []byte, width int) {
	w.levels[level].halver.row(dst, upper, lower, width, nil, nil, nil)
}

func (w *Writer) checkBlock(number, index int) (*level, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.closed:
		return nil, writing.fail(ErrClosed, 0, -1, "the writer of %s is closed", w.name)
	case number < 0 || number >= len(w.levels):
		return nil, writing.argument("level %d; the file has levels 0 to %d", number, len(w.levels)-1)
	case index < 0 || index >= len(w.levels[number].offsets):
		return nil, writing.argument("block %d; level %d has %d blocks", index, number, len(w.levels[number].offsets))
	case w.regions != nil:
		return nil, writing.argument("single blocks after regions; an image is written in one of the ways")
	case w.levels[0].y+w.levels[0].filled > 0:
		return nil, writing.argument("single blocks after rows; an image is written in one of the two ways")
	case w.opt.Mask:
		return nil, writing.argument("single blocks of an image with a mask; use WriteRows")
	}
	w.blocks = true
	return w.levels[number], w.pipe.failure()
}

// Close writes what is left and renames the file. After an error, there is no file, and an
// existing file of that name is unchanged.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	err := w.finish()
	return errors.Join(err, w.discard())
}

func (w *Writer) finish() error {
	err := w.flushRest()
	if closeErr := w.pipe.close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	if err := w.checkComplete(); err != nil {
		return err
	}
	if err := w.assemble(); err != nil {
		return err
	}
	return w.out.rename(w.name)
}

// flushRest hands over the last rows of each level.
func (w *Writer) flushRest() error {
	if w.blocks {
		return nil
	}
	full := w.levels[0]
	if y := full.y + full.filled; y < full.header.Height {
		return writing.argument("%s has got %d of %d rows; the file is not kept", w.name, y, full.header.Height)
	}
	for i, l := range w.levels {
		if l.filled > 0 {
			if err := w.flush(context.Background(), i); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkComplete finds blocks that were not written.
func (w *Writer) checkComplete() error {
	if w.opt.Sparse {
		return nil
	}
	for index := range w.regions {
		if !w.regions[index].Load() {
			return writing.argument("block %d was not written; the file is not kept", index)
		}
	}
	for i, l := range w.levels {
		for index, size := range l.sizes {
			if size == 0 {
				return writing.argument("block %d of level %d was not written; set Options.Sparse to leave blocks out", index, i)
			}
		}
	}
	return nil
}

// Abort removes the unfinished file. After Close it does nothing, so that it can be deferred.
func (w *Writer) Abort() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	w.pipe.fail(writing.fail(ErrClosed, 0, -1, "%s was aborted", w.name)) // nothing more is compressed
	_ = w.pipe.close()                                                    // its error is about a file that is not kept
	return w.discard()
}

// discard closes and removes the temporary files.
func (w *Writer) discard() error {
	var errs []error
	for _, l := range w.levels {
		if l.store != w.out {
			errs = append(errs, l.store.discard())
		}
	}
	return errors.Join(append(errs, w.out.discard())...)
}

// store is a temporary file to which blocks are appended.
type store struct {
	file   *os.File
	name   string // of the temporary file
	at     int64  // its size
	framed bool   // blocks have GDAL's leaders and trailers
	frame  []byte
	kept   bool
}

func createStore(name string) (*store, error) {
	for i := 0; ; i++ {
		temporary := fmt.Sprintf("%s.%d-%d.partial", name, os.Getpid(), i)
		f, err := os.OpenFile(temporary, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			return &store{file: f, name: temporary}, nil
		}
		if !errors.Is(err, os.ErrExist) || i == 10000 {
			return nil, writing.fail(ErrIO, 0, -1, "%s cannot be created", name).because(err)
		}
	}
}

func (s *store) skip(n int64) error {
	s.at += n
	if _, err := s.file.Seek(s.at, 0); err != nil {
		return s.failed(err)
	}
	return nil
}

// append writes a block and returns its offset.
func (s *store) append(data []byte) (int64, error) {
	offset := s.at
	if s.framed {
		s.frame = appendFramed(s.frame[:0], data)
		offset += frameBytes
		data = s.frame
	}
	n, err := s.file.Write(data)
	s.at += int64(n)
	if err != nil {
		return 0, s.failed(err)
	}
	return offset, nil
}

func (s *store) failed(err error) error {
	return writing.fail(ErrIO, 0, s.at, "%s cannot be written; no file is kept", s.name).because(err)
}

// rename closes the file and gives it its final name.
func (s *store) rename(name string) error {
	if err := s.file.Close(); err != nil {
		return s.failed(err)
	}
	if err := os.Rename(s.name, name); err != nil {
		return s.failed(err)
	}
	s.kept = true
	return nil
}

// discard removes the file, unless it was renamed.
func (s *store) discard() error {
	if s.kept {
		return nil
	}
	s.kept = true
	_ = s.file.Close() // nothing is lost: the file is removed
	return os.Remove(s.name)
}
