package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"quern.dev/geo/raster"
	"quern.dev/geo/tiff"
	"quern.dev/geo/translate"
)

// reduction holds the options of quern geo overviews.
type reduction struct {
	translation // -of, -co and -q
	resampling  string
	levels      int
}

func geoOverviewsCommand() *cobra.Command {
	var r reduction
	cmd := &cobra.Command{
		Use:   "overviews SOURCE [RESULT]",
		Short: "Add overviews to an image",
		Long: `overviews writes an image with overviews, each of half the size of the one before,
until one fits a tile. Existing overviews are replaced. Without RESULT, a TIFF
file itself is replaced when the new one is complete. Tiles, compression and metadata are
those of the source, unless creation options (-co), which are those of quern geo
translate, say otherwise. With -of COG the result is a Cloud Optimized GeoTIFF.`,
		Example: `  quern geo overviews image.tif
  quern geo overviews -r nearest -of COG -co COMPRESS=ZSTD classes.tif cog.tif`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return errUsage{fmt.Errorf("%s: want the name of a file, and that of the result if it is another one", count(len(args), "argument")), cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opt, err := r.options()
			if err == nil && !choose(&opt.Resampling, r.resampling, "average", "nearest") {
				err = fmt.Errorf("-r %s: want average or nearest", r.resampling)
			}
			if err == nil && (r.levels < 0 || r.levels > 31) {
				err = fmt.Errorf("-levels %d: want a number up to 31", r.levels)
			}
			if err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			begin, result := time.Now(), args[len(args)-1]
			if err := r.run(cmd.Context(), args[0], result, opt, cmd.ErrOrStderr()); err != nil || r.quiet {
				return err
			}
			return describeNamed(cmd.OutOrStdout(), result, begin)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&r.format, "of", "GTiff", "format: GTiff or COG")
	flags.StringArrayVar(&r.creation, "co", nil, "creation option NAME=VALUE")
	flags.StringVarP(&r.resampling, "resampling", "r", "average", "average or nearest")
	flags.IntVar(&r.levels, "levels", 0, "number of overviews; 0 until one fits a tile")
	flags.BoolVarP(&r.quiet, "quiet", "q", false, "no progress")
	return cmd
}

func (r *reduction) run(ctx context.Context, source, result string, opt tiff.Options, stderr io.Writer) error {
	f, err := raster.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	im := f.Image()
	switch replaced := sameFile(source, result); {
	case replaced && !f.TIFF():
		return fmt.Errorf("%s is not a TIFF file that can be replaced: name a result", source)
	case replaced:
		if result, err = filepath.EvalSymlinks(result); err != nil { // the file, not a link to it
			return err
		}
	default:
		if err := checkResult(result, true, source); err != nil {
			return err
		}
	}
	if err := r.keep(im, f.TIFF(), &opt); err != nil {
		return err
	}
	w, err := tiff.Create(result, im.Header, opt)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	same, err := translate.New(ctx, im, translate.Options{})
	if err != nil {
		return err
	}
	if err := r.rows(ctx, same, stderr, func(rows tiff.Rows) error { return w.WriteRows(ctx, rows) }); err != nil {
		return err
	}
	return w.Close()
}

// sameFile reports whether two names are those of one file.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// keep takes over how the source is stored, if it is a TIFF file, where options do not say it.
func (r *reduction) keep(im *tiff.Image, stored bool, opt *tiff.Options) error {
	if opt.Compression == 0 && stored {
		if im.Compression == tiff.JPEG {
			return fmt.Errorf("%s is compressed with losses, and would be once more; choose a compression with -co COMPRESS=JPEG, for example", im)
		}
		opt.Compression = im.Compression
		if opt.Predictor == 0 {
			opt.Predictor = im.Predictor
		}
	}
	if stored && !opt.COG && opt.Layout == tiff.ByPixel {
		opt.Layout = im.Layout
	}
	if stored && opt.BlockWidth == 0 && !im.Strips {
		opt.BlockWidth, opt.BlockHeight = im.BlockWidth, im.BlockHeight
	}
	opt.Mask = im.Mask() != nil
	switch {
	case r.levels > 0:
		opt.Overviews = r.levels
	case opt.Overviews == 0 && !opt.COG:
		block := cmp.Or(opt.BlockWidth, 512)
		for side := max(im.Width, im.Height); side > block; side = (side + 1) / 2 {
			opt.Overviews++
		}
	}
	return nil
}
