package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"quern.dev/geo/raster"
	"quern.dev/geo/tiff"
)

// translation holds the options of quern geo translate.
type translation struct {
	format, noData, mask string
	creation             []string
	bands                []int
	window               []int
	quiet                bool
	worldFile            uint8
}

func geoTranslateCommand() *cobra.Command {
	var t translation
	cmd := &cobra.Command{
		Use:   "translate SOURCE RESULT",
		Short: "Copy an image to GeoTIFF, COG, PNG or JPEG",
		Long: `translate copies the first image of a file, or a part of it, to a GeoTIFF file, a Cloud
Optimized GeoTIFF with overviews, PNG or JPEG. Georeference, palette, mask, NoData and
metadata are kept: for PNG and JPEG in an .aux.xml, and a mask as alpha. Options have
the names of gdal_translate. As there, a result that exists is replaced.

Creation options (-co NAME=VALUE) of GTiff and COG:

  COMPRESS    NONE, LZW, DEFLATE (the default), ZSTD, PACKBITS, JPEG
  PREDICTOR   1, 2, 3; by default the one that fits
  LEVEL       effort of DEFLATE (1 to 9) and ZSTD (1 to 22), quality of JPEG (1 to 100);
              also ZLEVEL, ZSTD_LEVEL, QUALITY, JPEG_QUALITY
  INTERLEAVE  PIXEL or BAND
  BLOCKSIZE   width and height of tiles; also BLOCKXSIZE and BLOCKYSIZE
  STRIPS      rows per strip, instead of tiles
  BIGTIFF     YES, NO or AUTO
  ENDIANNESS  LITTLE or BIG
  RESAMPLING  of overviews: AVERAGE or NEAREST
  OVERVIEWS   how many; NONE for none
  SPARSE_OK   YES leaves out blocks without data

Creation options of PNG and JPEG:

  WORLDFILE   YES writes a world file, with the extension .wld
  ZLEVEL      effort of PNG, from 1 to 9
  QUALITY     of JPEG, from 1 to 100`,
		Example: `  quern geo translate -of COG image.tif cog.tif
  quern geo translate -of PNG -co WORLDFILE=YES image.tif image.png
  quern geo translate 'NETCDF:"climate.nc":temperature' temperature.tif
  quern geo translate -co COMPRESS=ZSTD -srcwin 0,0,1000,1000 image.tif part.tif`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errUsage{fmt.Errorf("%s: want the names of two files", count(len(args), "argument")), cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			write, err := t.writer(args[1], cmd.ErrOrStderr())
			if err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			if err := checkResult(args[1], true, args[0]); err != nil {
				return err
			}
			return t.run(cmd.Context(), args[0], write)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&t.format, "of", "GTiff", "format: GTiff, COG, PNG or JPEG")
	flags.StringArrayVar(&t.creation, "co", nil, "creation option NAME=VALUE")
	flags.StringVar(&t.noData, "a_nodata", "", "value of pixels without data; none removes it")
	flags.StringVar(&t.mask, "mask", "", "none leaves out the mask")
	flags.IntSliceVarP(&t.bands, "band", "b", nil, "bands, from 1, for example 3,2,1")
	flags.IntSliceVar(&t.window, "srcwin", nil, "part of the source: x,y,width,height")
	flags.BoolVarP(&t.quiet, "quiet", "q", false, "no progress")
	return cmd
}

// creationOptions has what each creation option does.
var creationOptions = map[string]func(o *tiff.Options, value string) bool{
	"COMPRESS": func(o *tiff.Options, v string) bool {
		for _, c := range []tiff.Compression{tiff.None, tiff.LZW, tiff.Deflate, tiff.ZSTD, tiff.PackBits, tiff.JPEG} {
			if c.String() == v {
				o.Compression = c
				return true
			}
		}
		return false
	},
	"PREDICTOR": func(o *tiff.Options, v string) bool {
		n, ok := number(v)
		o.Predictor = tiff.Predictor(n)
		return ok && n <= 3
	},
	"LEVEL":        setLevel,
	"ZLEVEL":       setLevel,
	"ZSTD_LEVEL":   setLevel,
	"QUALITY":      setLevel,
	"JPEG_QUALITY": setLevel,
	"INTERLEAVE":   func(o *tiff.Options, v string) bool { return choose(&o.Layout, v, "PIXEL", "BAND") },
	"BLOCKSIZE": func(o *tiff.Options, v string) (ok bool) {
		o.BlockWidth, ok = number(v)
		o.BlockHeight = o.BlockWidth
		return ok
	},
	"BLOCKXSIZE":  func(o *tiff.Options, v string) (ok bool) { o.BlockWidth, ok = number(v); return ok },
	"BLOCKYSIZE":  func(o *tiff.Options, v string) (ok bool) { o.BlockHeight, ok = number(v); return ok },
	"TILED":       func(_ *tiff.Options, v string) bool { return v == "YES" }, // the default
	"NUM_THREADS": func(*tiff.Options, string) bool { return true },           // all cores are used
	"STRIPS": func(o *tiff.Options, v string) (ok bool) {
		o.Strips = true
		o.BlockHeight, ok = number(v)
		return ok
	},
	"BIGTIFF":    func(o *tiff.Options, v string) bool { return choose(&o.BigTIFF, v, "AUTO", "YES", "NO") },
	"RESAMPLING": func(o *tiff.Options, v string) bool { return choose(&o.Resampling, v, "AVERAGE", "NEAREST") },
	"ENDIANNESS": func(o *tiff.Options, v string) bool { o.BigEndian = v == "BIG"; return v == "BIG" || v == "LITTLE" },
	"SPARSE_OK":  func(o *tiff.Options, v string) bool { o.Sparse = v == "YES"; return v == "YES" || v == "NO" },
	"OVERVIEWS": func(o *tiff.Options, v string) (ok bool) {
		if v == "NONE" {
			o.Overviews = -1
			return true
		}
		o.Overviews, ok = number(v)
		return ok
	},
}

func setLevel(o *tiff.Options, v string) (ok bool) {
	o.Level, ok = number(v)
	return ok
}

// number parses a positive number.
func number(v string) (int, bool) {
	n, err := strconv.Atoi(v)
	return n, err == nil && n > 0
}

// choose sets a field to the index of a name.
func choose[T ~uint8](to *T, v string, names ...string) bool {
	for i, name := range names {
		if v == name {
			*to = T(i)
			return true
		}
	}
	return false
}

func (t *translation) options() (tiff.Options, error) {
	var o tiff.Options
	switch strings.ToUpper(t.format) {
	case "COG":
		o.COG = true
	case "GTIFF":
	default:
		return o, fmt.Errorf("-of %s: want GTiff or COG, or in quern geo translate PNG or JPEG", t.format)
	}
	for _, option := range t.creation {
		name, value, _ := strings.Cut(option, "=")
		set, ok := creationOptions[strings.ToUpper(name)]
		if !ok {
			return o, fmt.Errorf("-co %s: unknown option; the help lists them", option)
		}
		if !set(&o, strings.ToUpper(value)) {
			return o, fmt.Errorf("-co %s: value %q; the help lists those that are possible", option, value)
		}
	}
	return o, t.checkWindow()
}

func (t *translation) checkWindow() error {
	if len(t.window) != 0 && len(t.window) != 4 {
		return fmt.Errorf("-srcwin has %d numbers: want x,y,width,height", len(t.window))
	}
	if t.mask != "" && t.mask != "none" {
		return fmt.Errorf("-mask %s: want none", t.mask)
	}
	return nil
}

// region returns the part of the image to copy.
func (t *translation) region(im *tiff.Image) (tiff.Region, error) {
	r := im.All()
	if t.window != nil {
		r = tiff.Region{X: t.window[0], Y: t.window[1], Width: t.window[2], Height: t.window[3]}
	}
	for _, b := range t.bands {
		r.Bands = append(r.Bands, b-1)
	}
	return im.Resolve(r)
}

// writeImage writes a region of an image. The header is that of the result.
type writeImage func(ctx context.Context, im *tiff.Image, r tiff.Region, h tiff.Header) error

// writer returns what writes the result.
func (t *translation) writer(result string, stderr io.Writer) (writeImage, error) {
	o, picture, err := t.picture()
	if err != nil {
		return nil, err
	}
	if picture {
		return func(ctx context.Context, im *tiff.Image, r tiff.Region, h tiff.Header) error {
			return t.writePicture(ctx, im, r, result, h, o, stderr)
		}, nil
	}
	opt, err := t.options()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, im *tiff.Image, r tiff.Region, h tiff.Header) error {
		opt.Mask = im.Mask() != nil && t.mask != "none"
		w, err := tiff.Create(result, h, opt)
		if err != nil {
			return err
		}
		defer w.Abort() // does nothing after Close
		if err := t.copy(ctx, w, im, r, opt.Mask, stderr); err != nil {
			return err
		}
		return w.Close()
	}, nil
}

func (t *translation) run(ctx context.Context, source string, write writeImage) error {
	f, err := raster.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	im := f.Image()
	r, err := t.region(im)
	if err != nil {
		return err
	}
	h := im.Header.Region(r)
	switch t.noData {
	case "":
	case "none":
		h.NoData = ""
	default:
		h.NoData = t.noData
	}
	return write(ctx, im, r, h)
}

// copy writes the rows of a region.
func (t *translation) copy(ctx context.Context, w *tiff.Writer, im *tiff.Image, r tiff.Region, masked bool, stderr io.Writer) error {
	return t.rows(ctx, im, r, masked, stderr, func(rows tiff.Rows) error { return w.WriteRows(ctx, rows) })
}

// rows reads whole rows of blocks, and decodes each block once.
func (t *translation) rows(ctx context.Context, im *tiff.Image, r tiff.Region, masked bool, stderr io.Writer, use func(rows tiff.Rows) error) error {
	step := (max(1, 256/im.BlockHeight)) * im.BlockHeight
	pixel := len(r.Bands) * im.Type.Size()
	var pixels, mask []byte
	for y := r.Y; y < r.Y+r.Height; {
		part := r
		part.Y, part.Height = y, min(step-y%step, r.Y+r.Height-y)
		n := part.Width * part.Height
		if len(pixels) < n*pixel {
			words := make([]complex128, (n*pixel+15)/16) // aligned for every type
			pixels = tiff.Bytes(words)
		}
		if err := im.ReadRegion(ctx, pixels, part); err != nil {
			return err
		}
		rows := tiff.Rows{Pixels: pixels[:n*pixel]}
		if m := im.Mask(); masked {
			mask = append(mask[:0], make([]byte, n)...)
			part.Bands = nil
			if err := m.ReadRegion(ctx, mask, part); err != nil {
				return err
			}
			rows.Mask = mask
		}
		if err := use(rows); err != nil {
			return err
		}
		y += part.Height
		t.progress(stderr, y-r.Y, r.Height)
	}
	return nil
}

// progress shows the share of the rows that are done, on a terminal.
func (t *translation) progress(stderr io.Writer, done, total int) {
	f, ok := stderr.(*os.File)
	if t.quiet || !ok {
		return
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return
	}
	fmt.Fprintf(f, "\r%3d %%", 100*done/total)
	if done == total {
		fmt.Fprintln(f)
	}
}
