package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"quern.dev/geo/tiff"
)

// translation holds the options of quern geo translate.
type translation struct {
	format, noData string
	creation       []string
	bands          []int
	window         []int
	quiet          bool
}

func geoTranslateCommand() *cobra.Command {
	var t translation
	cmd := &cobra.Command{
		Use:   "translate SOURCE RESULT",
		Short: "Copy a GeoTIFF image with another storage",
		Long: `translate copies the first image of a TIFF file, or a part of it, to a GeoTIFF file or a
Cloud Optimized GeoTIFF with overviews. Georeference, palette, mask, NoData and
metadata are kept. Options have the names of gdal_translate.

Creation options (-co NAME=VALUE):

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
  SPARSE_OK   YES leaves out blocks without data`,
		Example: `  quern geo translate -of COG image.tif cog.tif
  quern geo translate -co COMPRESS=ZSTD -srcwin 0,0,1000,1000 image.tif part.tif`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errUsage{fmt.Errorf("%d arguments: want the names of two files", len(args)), cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opt, err := t.options()
			if err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			return t.run(cmd.Context(), args[0], args[1], opt, cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&t.format, "of", "GTiff", "format: GTiff or COG")
	flags.StringArrayVar(&t.creation, "co", nil, "creation option NAME=VALUE")
	flags.StringVar(&t.noData, "a_nodata", "", "value of pixels without data; none removes it")
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
		return o, fmt.Errorf("-of %s: want GTiff or COG", t.format)
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
	if len(t.window) != 0 && len(t.window) != 4 {
		return o, fmt.Errorf("-srcwin has %d numbers: want x,y,width,height", len(t.window))
	}
	return o, nil
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

func (t *translation) run(ctx context.Context, source, result string, opt tiff.Options, stderr io.Writer) error {
	f, err := tiff.Open(source)
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
	opt.Mask = im.Mask() != nil
	w, err := tiff.Create(result, h, opt)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	if err := t.copy(ctx, w, im, r, stderr); err != nil {
		return err
	}
	return w.Close()
}

// copy reads whole rows of blocks, and decodes each block once.
func (t *translation) copy(ctx context.Context, w *tiff.Writer, im *tiff.Image, r tiff.Region, stderr io.Writer) error {
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
		if m := im.Mask(); m != nil {
			mask = append(mask[:0], make([]byte, n)...)
			part.Bands = nil
			if err := m.ReadRegion(ctx, mask, part); err != nil {
				return err
			}
			rows.Mask = mask
		}
		if err := w.WriteRows(ctx, rows); err != nil {
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
