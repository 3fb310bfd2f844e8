package render

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"quern.dev/geo/internal/blocks"
	"quern.dev/geo/internal/relief"
	"quern.dev/geo/tiff"
	"quern.dev/geo/wms/internal/kernels"
	"quern.dev/gpu"
)

// Style says how samples become colors.
type Style struct {
	// Bands are the bands of red, green and blue, from 0; with a ramp, the first one counts.
	Bands [3]int
	// Low and High are the values of the darkest and the brightest level, or of the first and the last color of the ramp.
	Low, High [3]float64
	// Ramp has the colors of the values of one band, or is nil. See package kernels for the form of a color.
	Ramp []uint32
	// Indexed takes values as indices of the ramp.
	Indexed bool
	// Nearest takes colors of the nearest pixel instead of interpolating.
	Nearest bool
	// Shading shows the shape of a surface, whose heights the first band has, in the colors of the ramp. Low and High are
	// then brightnesses, angles or heights. Images are not rotated.
	Shading Shading
	// Light is that of a shading, without the size of pixels. Z also multiplies the heights of slopes.
	Light relief.Light
	// Ground returns how many units of height a unit of coordinates has in x and in y, at a y of the image; one and one
	// if it is nil.
	Ground func(y float64) (gx, gy float64)
}

// Shading is what a style shows of a surface: nothing special, or one of the following.
type Shading int

// Shadings.
const (
	Hillshade Shading = kernels.Hillshade // the brightness from 1 to 255
	Slope     Shading = kernels.Slope     // the angle in degrees
	Relief    Shading = kernels.Relief    // the height under the light
)

// Source is an image in a style.
type Source struct {
	r      *Renderer
	im     *tiff.Image
	style  Style
	affine kernels.Affine // from coordinates to pixels
	levels []level
	ramp   *gpu.Buffer[uint32]
	paint  kernels.Paint
}

// level is the image in a resolution: one of the file, or, where im is nil, half of the level before.
type level struct {
	im             *tiff.Image
	reader         *blocks.Reader
	width, height  int
	scaleX, scaleY float64 // pixels of the image per pixel
}

// Close frees the memory of the source. No map of it may be under way.
func (s *Source) Close() error { return s.r.free(s.ramp) }

// NewSource prepares an image, which must stay open. The source keeps memory on the device until it or the renderer is closed.
func (r *Renderer) NewSource(im *tiff.Image, style Style) (*Source, error) {
	a, ok := im.Geo.Affine()
	d := a[1]*a[5] - a[2]*a[4]
	if !ok || d == 0 {
		return nil, fmt.Errorf("render: %s does not say where its pixels are", im)
	}
	s := &Source{r: r, im: im, style: style, affine: kernels.Affine{
		(a[2]*a[3] - a[0]*a[5]) / d, a[5] / d, -a[2] / d, (a[0]*a[4] - a[1]*a[3]) / d, -a[4] / d, a[1] / d}}
	if a[2] == 0 && a[4] == 0 {
		s.affine = kernels.Affine{-a[0] / a[1], 1 / a[1], 0, -a[3] / a[5], 0, 1 / a[5]}
	}
	switch im.Type {
	case tiff.Uint8, tiff.Int8, tiff.Uint16, tiff.Int16, tiff.Uint32, tiff.Int32, tiff.Float32, tiff.Float64:
	default:
		return nil, fmt.Errorf("render: %s: samples of %v: %w", im, im.Type, errors.ErrUnsupported)
	}
	if style.Shading != 0 && (len(style.Ramp) == 0 || a[2] != 0 || a[4] != 0) {
		return nil, fmt.Errorf("render: %s: a shading needs a ramp and an image that is not rotated", im)
	}
	for _, b := range style.Bands {
		if b < 0 || b >= im.Bands {
			return nil, fmt.Errorf("render: %s: band %d of %d", im, b+1, im.Bands)
		}
	}
	s.setPaint()
	s.setLevels()
	ramp := style.Ramp
	if len(ramp) == 0 {
		ramp = []uint32{0} // kernels take no empty buffers
	}
	var err error
	if s.ramp, err = gpu.Upload(r.dev.DefaultStream(), ramp); err != nil {
		return nil, err
	}
	r.own(s.ramp)
	return s, nil
}

func (s *Source) setPaint() {
	im, style := s.im, &s.style
	p := kernels.Paint{Stride: im.Bands, Bands: style.Bands, Alpha: -1, AlphaMax: 255, Ramp: len(style.Ramp), Masked: im.Mask() != nil}
	for i, e := range im.Extra {
		if e == tiff.StraightAlpha || e == tiff.AssociatedAlpha {
			p.Alpha, p.Associated = im.Bands-len(im.Extra)+i, e == tiff.AssociatedAlpha
		}
	}
	switch im.Type {
	case tiff.Uint16:
		p.AlphaMax = math.MaxUint16
	case tiff.Int16:
		p.AlphaMax = math.MaxInt16
	}
	p.None, p.NoData = im.NoDataValue()
	for i := range 3 {
		levels := 255.0
		if p.Ramp > 0 {
			levels = float64(p.Ramp)
		}
		p.Low[i], p.Scale[i] = style.Low[i], levels/(style.High[i]-style.Low[i])
		if style.Indexed {
			p.Low[i], p.Scale[i] = 0, 1
		}
	}
	s.paint = p
}

func (s *Source) setLevels() {
	add := func(im *tiff.Image, w, h int) {
		s.levels = append(s.levels, level{im, &blocks.Reader{Image: im, Cache: s.r.blocks}, w, h, float64(s.im.Width) / float64(w), float64(s.im.Height) / float64(h)})
	}
	add(s.im, s.im.Width, s.im.Height)
	for _, o := range s.im.Overviews() {
		// An overview without the mask of the image would show what the mask hides.
		if last := s.levels[len(s.levels)-1]; o.Width < last.width && o.Height <= last.height && (o.Mask() != nil) == (s.im.Mask() != nil) {
			add(o, o.Width, o.Height)
		}
	}
	for {
		last := s.levels[len(s.levels)-1]
		if last.width <= kernels.PageSize && last.height <= kernels.PageSize {
			return
		}
		add(nil, (last.width+1)/2, (last.height+1)/2)
	}
}

// pin returns a page; the lane makes it if it is new.
func (s *Source) pin(ctx context.Context, l *lane, lv, x, y int) (*page, error) {
	return s.r.pages.pin(ctx, pageID{s, lv, x, y}, func(ctx context.Context, slot int) error {
		return s.fill(ctx, l, lv, x, y, slot)
	})
}

// fill makes a page.
func (s *Source) fill(ctx context.Context, l *lane, lv, x, y, slot int) error {
	if s.levels[lv].im == nil {
		return s.halve(ctx, l, lv, x, y, slot)
	}
	switch s.im.Type {
	case tiff.Uint8:
		return paint[uint8](ctx, s, l, lv, x, y, slot)
	case tiff.Int8:
		return paint[int8](ctx, s, l, lv, x, y, slot)
	case tiff.Uint16:
		return paint[uint16](ctx, s, l, lv, x, y, slot)
	case tiff.Int16:
		return paint[int16](ctx, s, l, lv, x, y, slot)
	case tiff.Uint32:
		return paint[uint32](ctx, s, l, lv, x, y, slot)
	case tiff.Int32:
		return paint[int32](ctx, s, l, lv, x, y, slot)
	case tiff.Float32:
		return paint[float32](ctx, s, l, lv, x, y, slot)
	}
	return paint[float64](ctx, s, l, lv, x, y, slot)
}

// paint makes a page of samples.
func paint[T kernels.Sample](ctx context.Context, s *Source, l *lane, lv, x, y, slot int) error {
	v := &s.levels[lv]
	p := s.paint
	p.Width, p.Height = v.width, v.height
	p.X, p.Y, p.First = x*kernels.PageSize-1, y*kernels.PageSize-1, slot*kernels.PagePixels
	margin := 0
	if s.style.Shading != 0 {
		margin = 1
	}
	p.Left, p.Top = min(max(p.X-margin, 0), v.width-1), min(max(p.Y-margin, 0), v.height-1)
	right, bottom := min(p.X+kernels.PageStride+margin, v.width), min(p.Y+kernels.PageStride+margin, v.height)
	win := tiff.Region{X: p.Left, Y: p.Top, Width: max(right-p.Left, 1), Height: max(bottom-p.Top, 1)}
	p.Columns = win.Width
	n := win.Width * win.Height
	samples := n * s.im.Bands
	size := int(unsafe.Sizeof(*new(T)))
	if err := l.grow(samples * size); err != nil {
		return err
	}
	host := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(l.host))), samples)
	if err := blocks.Read(ctx, v.reader, host, win); err != nil {
		return err
	}
	src := gpu.Reinterpret[T](l.src.Slice(0, (samples*size+15)/16))
	if err := gpu.CopyIn(l.s, src.Slice(0, samples), host); err != nil {
		return err
	}
	if p.Masked {
		if err := v.im.Mask().ReadRegion(ctx, l.hostMask[:n], win); err != nil {
			return err
		}
		if err := gpu.CopyIn(l.s, l.mask.Slice(0, n), l.hostMask[:n]); err != nil {
			return err
		}
	}
	var err error
	if s.style.Shading != 0 {
		err = shade(s, l, v, p, n, src)
	} else {
		err = kernels.LaunchPaint(l.s, gpu.Plane(kernels.PageStride, kernels.PageStride), p, src, l.mask, s.ramp, s.r.memory)
	}
	if err != nil {
		return err
	}
	return l.s.Synchronize(context.WithoutCancel(ctx)) // the memory has other uses after an error
}

// shade makes a page of the shape of a surface, of a window of n pixels.
func shade[T kernels.Sample](s *Source, l *lane, v *level, p kernels.Paint, n int, src *gpu.Buffer[T]) error {
	if l.heights == nil {
		if err := alloc(s.r.dev, &l.heights, kernels.WindowPixels); err != nil {
			return err
		}
	}
	if l.sizes == nil {
		if err := alloc(s.r.dev, &l.sizes, 2*kernels.PageStride); err != nil {
			return err
		}
	}
	heights := l.heights.Slice(0, n)
	if err := kernels.LaunchHeights(l.s, gpu.Linear(n), p, src, l.mask, heights); err != nil {
		return err
	}
	if err := gpu.CopyIn(l.s, l.sizes, s.sizes(v, p.Y)); err != nil {
		return err
	}
	w := relief.Window{Width: v.width, Height: v.height, Left: p.Left, Top: p.Top, Columns: p.Columns, Edges: true}
	return kernels.LaunchShade(l.s, gpu.Plane(kernels.PageStride, kernels.PageStride), p, int(s.style.Shading), w, s.style.Light, l.sizes, heights, s.ramp, s.r.memory)
}

// sizes returns 1/width and 1/height of the pixels of a page's rows, in units of height.
func (s *Source) sizes(v *level, first int) []float64 {
	a, _ := s.im.Geo.Affine()
	width, height := a[1]*v.scaleX, a[5]*v.scaleY
	all := make([]float64, 0, 2*kernels.PageStride)
	for y := range kernels.PageStride {
		row := min(max(first+y, 0), v.height-1)
		gx, gy := 1.0, 1.0
		if s.style.Ground != nil {
			gx, gy = s.style.Ground(a[3] + height*(float64(row)+0.5))
		}
		all = append(all, 1/(width*gx), 1/(height*gy))
	}
	return all
}

// halve makes a page of those of the level before.
func (s *Source) halve(ctx context.Context, l *lane, lv, x, y, slot int) error {
	v, larger := &s.levels[lv], &s.levels[lv-1]
	h := kernels.Halving{Width: v.width, Height: v.height, Wide: larger.width, High: larger.height,
		X: x*kernels.PageSize - 1, Y: y*kernels.PageSize - 1, First: slot * kernels.PagePixels}
	column := func(c int) int { return min(max(c, 0), v.width-1) }
	row := func(r int) int { return min(max(r, 0), v.height-1) }
	h.Left, h.Top = (2*column(h.X)+1)>>kernels.PageShift, (2*row(h.Y)+1)>>kernels.PageShift
	right := (min(2*column(h.X+kernels.PageSize)+1, larger.width-1) + 1) >> kernels.PageShift
	bottom := (min(2*row(h.Y+kernels.PageSize)+1, larger.height-1) + 1) >> kernels.PageShift
	h.Across = right - h.Left + 1
	var table []int32
	var pinned []*page
	defer func() { s.r.pages.unpinAll(pinned) }()
	for j := h.Top; j <= bottom; j++ {
		for i := h.Left; i <= right; i++ {
			g, err := s.pin(ctx, l, lv-1, i, j)
			if err != nil {
				return err
			}
			pinned = append(pinned, g)
			table = append(table, int32(g.slot*kernels.PagePixels))
		}
	}
	if err := gpu.CopyIn(l.s, l.table.Slice(0, len(table)), table); err != nil {
		return err
	}
	if err := kernels.LaunchHalve(l.s, gpu.Plane(kernels.PageStride, kernels.PageStride), h, l.table, s.r.memory); err != nil {
		return err
	}
	return l.s.Synchronize(context.WithoutCancel(ctx)) // the memory has other uses after an error
}
