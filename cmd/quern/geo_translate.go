package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quern.dev/geo/raster"
	"quern.dev/geo/tiff"
	"quern.dev/geo/translate"
)

// translation holds the options of quern geo translate. Other commands have some of them.
type translation struct {
	format, noData, mask string
	creation             []string
	bands                []int
	quiet                bool
	worldFile            uint8
}

func geoTranslateCommand() *cobra.Command {
	var t translation
	var c conversion
	cmd := &cobra.Command{
		Use:   "translate SOURCE RESULT",
		Short: "Copy an image to GeoTIFF, COG, PNG or JPEG",
		Long: `translate copies the first image of a file, or a part of it, to a GeoTIFF file, a Cloud
Optimized GeoTIFF with overviews, PNG or JPEG. Georeference, palette, mask, NoData and
metadata are kept: for PNG and JPEG in an .aux.xml, and a mask as alpha. Options have
the names and the meaning of gdal_translate. As there, a result that exists is replaced.

A part of the source is given in pixels (-srcwin) or coordinates (-projwin). Without -r,
or with -r near, it consists of whole pixels. What is outside of the source has no data.
The size of the result is that of the part, or -outsize in pixels or percent, where 0
keeps the shape of pixels, or follows from -tr. Resampling methods (-r) are near,
bilinear, cubic, cubicspline, lanczos and average.

Bands have the type -ot, for which numbers are rounded and limited. -scale makes the
values src_min to src_max those from dst_min to dst_max, linearly and also beyond. The
destination is 0 to 255 if it is not given, and the source the least and the greatest
value of each band. -unscale applies the scale and the offset of bands. Pixels without
data stay so. -expand makes colors of a palette.

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
  quern geo translate -co COMPRESS=ZSTD -srcwin 0 0 1000 1000 image.tif part.tif
  quern geo translate -projwin 500000 5300000 510000 5290000 -outsize 1000 0 -r average image.tif small.tif
  quern geo translate -ot Byte -scale 0 3000 1 255 -a_nodata 0 dem.tif gray.tif`,
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
			o, err := c.parse(&t)
			if err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			if err := checkResult(args[1], true, args[0]); err != nil {
				return err
			}
			begin := time.Now()
			if err := t.run(cmd.Context(), args[0], o, write, cmd.ErrOrStderr()); err != nil || t.quiet {
				return err
			}
			return describeNamed(cmd.OutOrStdout(), args[1], begin)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&t.format, "of", "GTiff", "format: GTiff, COG, PNG or JPEG")
	flags.StringArrayVar(&t.creation, "co", nil, "creation option NAME=VALUE")
	flags.StringVar(&t.noData, "a_nodata", "", "value of pixels without data; none removes it")
	flags.StringVar(&t.mask, "mask", "", "none leaves out the mask")
	flags.IntSliceVarP(&t.bands, "band", "b", nil, "bands, from 1, for example 3,2,1")
	flags.BoolVarP(&t.quiet, "quiet", "q", false, "no progress")
	c.addTo(flags)
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
		return o, fmt.Errorf("-of %s: want GTiff or COG; quern geo translate also writes PNG and JPEG", t.format)
	}
	for _, option := range t.creation {
		name, value, _ := strings.Cut(option, "=")
		set, ok := creationOptions[strings.ToUpper(name)]
		if !ok {
			return o, fmt.Errorf("-co %s: unknown option; quern geo translate --help lists them", option)
		}
		if !set(&o, strings.ToUpper(value)) {
			return o, fmt.Errorf("-co %s: value %q is not possible; quern geo translate --help lists those that are", option, value)
		}
	}
	return o, nil
}

// writeImage writes the pixels of a translated image.
type writeImage func(ctx context.Context, im *translate.Image) error

// writer returns what writes the result.
func (t *translation) writer(result string, stderr io.Writer) (writeImage, error) {
	o, picture, err := t.picture()
	if err != nil {
		return nil, err
	}
	if picture {
		return func(ctx context.Context, im *translate.Image) error {
			return t.writePicture(ctx, im, result, o, stderr)
		}, nil
	}
	opt, err := t.options()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, im *translate.Image) error {
		opt.Mask = im.Masked()
		if err := checkSpace(stderr, result, im.Header(), opt, t.quiet); err != nil {
			return err
		}
		w, err := tiff.Create(result, im.Header(), opt)
		if err != nil {
			return err
		}
		defer w.Abort() // does nothing after Close
		if err := t.rows(ctx, im, stderr, func(rows tiff.Rows) error { return w.WriteRows(ctx, rows) }); err != nil {
			return err
		}
		return w.Close()
	}, nil
}

func (t *translation) run(ctx context.Context, source string, o translate.Options, write writeImage, stderr io.Writer) error {
	f, err := raster.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, b := range t.bands {
		if b < 1 || b > f.Image().Bands {
			return fmt.Errorf("-b %d: %s has the bands 1 to %d", b, source, f.Image().Bands)
		}
	}
	im, err := translate.New(ctx, f.Image(), o)
	if err != nil {
		return err
	}
	if !t.quiet {
		for _, text := range im.Warnings() {
			fmt.Fprintln(stderr, text)
		}
	}
	return write(ctx, im)
}

// rows passes on the rows of an image, with progress.
func (t *translation) rows(ctx context.Context, im *translate.Image, stderr io.Writer, use func(rows tiff.Rows) error) error {
	done, height := 0, im.Header().Height
	return im.Rows(ctx, func(rows tiff.Rows, n int) error {
		if err := use(rows); err != nil {
			return err
		}
		done += n
		t.progress(stderr, done, height)
		return nil
	})
}

// progress shows the share of the rows that are done, on a terminal.
func (t *translation) progress(stderr io.Writer, done, total int) {
	w := terminalOf(stderr)
	if t.quiet || w == nil {
		return
	}
	fmt.Fprintf(w, "\r%3d %%", 100*done/total)
	if done == total {
		fmt.Fprintln(w)
	}
}

// clearProgress makes room for another text in the line of progress.
func (t *translation) clearProgress(stderr io.Writer) {
	if w := terminalOf(stderr); w != nil && !t.quiet {
		fmt.Fprint(w, "\r     \r")
	}
}
