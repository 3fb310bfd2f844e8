//go:build !bootstrap

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/gpu"
)

// warping holds the options of quern geo warp, as text.
type warping struct {
	translation                                      // -of, -co and -q
	target, source, resampling, device               string
	srcNoData, dstNoData, cutline, cutlineSystem     string
	extent, resolution                               []float64
	size                                             []int
	warper                                           []string
	memory                                           int64
	errorThreshold                                   float64
	align, alpha, overwrite, multi, ballpark, asJSON bool
}

// compiledGeo returns the commands below geo that run kernels.
func compiledGeo() []*cobra.Command { return []*cobra.Command{geoWarpCommand(), geoFlyCommand()} }

func geoWarpCommand() *cobra.Command {
	var w warping
	cmd := &cobra.Command{
		Use:   "warp SOURCE... RESULT",
		Short: "Reproject and resample GeoTIFF images",
		Long: `warp writes the pixels of images to an image in another coordinate system, with
another extent or resolution. Later sources lie over earlier ones. It runs on the
GPU, or on all cores without one, with the same result bit for bit. Options have
the names and the meaning of gdalwarp; the transform is always exact.

Resampling methods (-r): near (the default), bilinear, cubic, cubicspline, lanczos,
average, mode, min, max, med, q1, q3.

A result that exists is only replaced with -overwrite. Creation options (-co) are
those of quern geo translate.`,
		Example: `  quern geo warp -t_srs EPSG:3857 -r bilinear scene.tif web.tif
  quern geo warp -te 500000 5300000 510000 5310000 -tr 10 10 -dstalpha a.tif b.tif mosaic.tif
  quern geo warp -t_srs EPSG:4326 -cutline area.geojson -dstnodata -9999 -of COG dem.tif cog.tif`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errUsage{fmt.Errorf("%d arguments: want one source or more, and the result", len(args)), cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := w.parse(cmd)
			if err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			return w.run(cmd.Context(), args[:len(args)-1], args[len(args)-1], o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&w.target, "t_srs", "", "coordinate system of the result: EPSG:code, WKT or PROJJSON; that of the first source if empty")
	flags.StringVar(&w.source, "s_srs", "", "coordinate system of the sources, instead of their own")
	flags.Float64SliceVar(&w.extent, "te", nil, "extent of the result: xmin ymin xmax ymax")
	flags.Float64SliceVar(&w.resolution, "tr", nil, "size of a pixel of the result: x y")
	flags.IntSliceVar(&w.size, "ts", nil, "size of the result in pixels: width height; one of them may be 0")
	flags.BoolVar(&w.align, "tap", false, "make the extent a multiple of the pixel size")
	flags.StringVarP(&w.resampling, "resampling", "r", "near", "resampling method")
	flags.StringVar(&w.srcNoData, "srcnodata", "", "value of source pixels without data, or one per band; None ignores that of the file")
	flags.StringVar(&w.dstNoData, "dstnodata", "", "value of result pixels without data, or one per band")
	flags.BoolVar(&w.alpha, "dstalpha", false, "add an alpha band")
	flags.StringVar(&w.cutline, "cutline", "", "GeoJSON file of polygons, outside of which sources have no data")
	flags.StringVar(&w.cutlineSystem, "cutline_srs", "", "coordinate system of the cutline, instead of the file's")
	flags.BoolVar(&w.overwrite, "overwrite", false, "replace a result that exists")
	flags.BoolVar(&w.ballpark, "ballpark", false, "skip a datum shift that is not known: an error of up to some hundred meters")
	flags.StringVar(&w.format, "of", "GTiff", "format: GTiff or COG")
	flags.StringArrayVar(&w.creation, "co", nil, "creation option NAME=VALUE")
	flags.StringArrayVar(&w.warper, "wo", nil, "XSCALE=VALUE or YSCALE=VALUE: pixels of the result per source pixel")
	flags.Int64Var(&w.memory, "wm", 0, "memory to use in MiB")
	flags.Float64Var(&w.errorThreshold, "et", 0, "accepted and not used: the transform is exact")
	flags.BoolVar(&w.multi, "multi", false, "accepted and not used: all cores are used")
	flags.StringVar(&w.device, "device", "", "device: cuda, cuda:1, cpu or sim; the best one if empty")
	flags.BoolVar(&w.asJSON, "json", false, "describe the result in JSON")
	flags.BoolVarP(&w.quiet, "quiet", "q", false, "no progress")
	return cmd
}

// parse makes options of the text. It reads the cutline.
func (w *warping) parse(cmd *cobra.Command) (o warp.Options, err error) {
	var ok bool
	if o.Resampling, ok = warp.ParseResampling(w.resampling); !ok {
		return o, fmt.Errorf("-r %s: the help lists the resampling methods", w.resampling)
	}
	if o.File, err = w.options(); err != nil {
		return o, err
	}
	for _, list := range []struct {
		name  string
		n, of int
	}{{"-te", len(w.extent), 4}, {"-tr", len(w.resolution), 2}, {"-ts", len(w.size), 2}} {
		if list.n != 0 && list.n != list.of {
			return o, fmt.Errorf("%s has %d numbers: want %d", list.name, list.n, list.of)
		}
	}
	if w.extent != nil {
		o.Extent = &warp.Extent{MinX: w.extent[0], MinY: w.extent[1], MaxX: w.extent[2], MaxY: w.extent[3]}
	}
	if w.resolution != nil {
		o.Resolution = [2]float64{math.Abs(w.resolution[0]), math.Abs(w.resolution[1])}
	}
	if w.size != nil {
		o.Width, o.Height = w.size[0], w.size[1]
	}
	o.AlignPixels, o.Alpha, o.Memory = w.align, w.alpha, w.memory<<20
	if strings.EqualFold(w.srcNoData, "none") {
		o.IgnoreNoData = true
	} else if o.SourceNoData, err = noDataValues("-srcnodata", w.srcNoData); err != nil {
		return o, err
	}
	if !strings.EqualFold(w.dstNoData, "none") {
		if o.NoData, err = noDataValues("-dstnodata", w.dstNoData); err != nil {
			return o, err
		}
	}
	if w.ballpark {
		o.Shift = append(o.Shift, crs.Ballpark())
	}
	if err := w.parseWarper(&o); err != nil {
		return o, err
	}
	return o, w.parseSystems(&o)
}

func (w *warping) parseWarper(o *warp.Options) error {
	for _, option := range w.warper {
		name, value, _ := strings.Cut(option, "=")
		to := map[string]*float64{"XSCALE": &o.XScale, "YSCALE": &o.YScale}[strings.ToUpper(name)]
		if to == nil {
			return fmt.Errorf("-wo %s: want XSCALE or YSCALE", option)
		}
		var err error
		if *to, err = strconv.ParseFloat(value, 64); err != nil || !(*to > 0) {
			return fmt.Errorf("-wo %s: want a positive number", option)
		}
	}
	return nil
}

func (w *warping) parseSystems(o *warp.Options) error {
	var cutline *crs.CRS
	for _, s := range []struct {
		name, text string
		to         **crs.CRS
	}{{"-t_srs", w.target, &o.Target}, {"-s_srs", w.source, &o.SourceCRS}, {"-cutline_srs", w.cutlineSystem, &cutline}} {
		if s.text == "" {
			continue
		}
		c, err := crs.Parse(s.text)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		*s.to = c
	}
	if w.cutline == "" {
		return nil
	}
	text, err := os.ReadFile(w.cutline)
	if err != nil {
		return fmt.Errorf("-cutline: %w", err)
	}
	if o.Cutline, err = warp.ParseCutline(text, cutline); err != nil {
		return fmt.Errorf("-cutline %s: %w", w.cutline, err)
	}
	return nil
}

// noDataValues parses one number or several.
func noDataValues(name, text string) ([]float64, error) {
	var values []float64
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil, fmt.Errorf("%s %s: want a number, or one per band", name, text)
		}
		values = append(values, v)
	}
	return values, nil
}

func (w *warping) run(ctx context.Context, sources []string, result string, o warp.Options, stdout, stderr io.Writer) (err error) {
	if slices.Contains(sources, result) {
		return fmt.Errorf("%s is a source and the result", result)
	}
	if _, err := os.Stat(result); err == nil && !w.overwrite {
		return fmt.Errorf("%s exists; -overwrite replaces it", result)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var images []*tiff.Image
	for _, name := range sources {
		f, err := tiff.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		images = append(images, f.Image())
	}
	dev, err := gpu.Open(gpu.Config{Device: w.device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	o.Progress = func(done, total int) { w.progress(stderr, done, total) }
	if err := warp.File(ctx, dev, result, images, o); err != nil {
		return err
	}
	if !w.asJSON {
		return nil
	}
	f, err := tiff.Open(result)
	if err != nil {
		return err
	}
	defer f.Close()
	return printJSON(stdout, describeFile(result, f))
}
