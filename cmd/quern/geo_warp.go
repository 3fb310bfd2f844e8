//go:build !bootstrap

package main

import (
	"fmt"
	"os"
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
	computation
	placement
	source, srcNoData, dstNoData string
	cutline, cutlineSystem       string
	size                         []int
	warper                       []string
	errorThreshold               float64
	alpha, multi                 bool
}

// compiledGeo returns the commands below geo that run kernels.
func compiledGeo() []*cobra.Command {
	return []*cobra.Command{
		geoWarpCommand(),
		geoOrthoCommand(),
		geoMosaicCommand(),
		geoDEMCommand(),
		geoCalcCommand(),
		geoServeCommand(),
		geoTilesCommand(),
		geoFlyCommand(),
	}
}

func geoWarpCommand() *cobra.Command {
	var w warping
	cmd := &cobra.Command{
		Use:   "warp SOURCE... RESULT",
		Short: "Reproject and resample images",
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
		Args: sourcesAndResult,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := w.parse(cmd)
			if err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			sources, result := args[:len(args)-1], args[len(args)-1]
			return w.run(cmd, sources, result, func(dev *gpu.Device, images []*tiff.Image, progress func(done, total int)) error {
				o.Progress = progress
				return warp.File(cmd.Context(), dev, result, images, o)
			})
		},
	}
	flags := cmd.Flags()
	w.addTo(flags)
	w.addPlacement(flags, "first source")
	flags.Lookup("resampling").Usage = "resampling method"
	flags.StringVar(&w.source, "s_srs", "", "coordinate system of the sources, instead of their own")
	flags.IntSliceVar(&w.size, "ts", nil, "size of the result in pixels: width height; one of them may be 0")
	flags.StringVar(&w.srcNoData, "srcnodata", "", "value of source pixels without data, or one per band; None ignores that of the file")
	flags.StringVar(&w.dstNoData, "dstnodata", "", "value of result pixels without data, or one per band")
	flags.BoolVar(&w.alpha, "dstalpha", false, "add an alpha band")
	flags.StringVar(&w.cutline, "cutline", "", "GeoJSON file of polygons, outside of which sources have no data")
	flags.StringVar(&w.cutlineSystem, "cutline_srs", "", "coordinate system of the cutline, instead of the file's")
	flags.StringArrayVar(&w.warper, "wo", nil, "XSCALE=VALUE or YSCALE=VALUE: pixels of the result per source pixel")
	flags.Float64Var(&w.errorThreshold, "et", 0, "accepted and not used: the transform is exact")
	flags.BoolVar(&w.multi, "multi", false, "accepted and not used: all cores are used")
	return cmd
}

// parse makes options of the text. It reads the cutline.
func (w *warping) parse(cmd *cobra.Command) (o warp.Options, err error) {
	at, err := w.place()
	if err != nil {
		return o, err
	}
	if o.File, err = w.options(); err != nil {
		return o, err
	}
	if err := checkCounts(counted{"-ts", len(w.size), 2}); err != nil {
		return o, err
	}
	o.Resampling, o.Extent, o.Resolution, o.AlignPixels, o.Shift, o.Memory = at.resampling, at.extent, at.resolution, w.align, at.shift, at.memory
	if w.size != nil {
		o.Width, o.Height = w.size[0], w.size[1]
	}
	o.Alpha = w.alpha
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
	if err := parseSystems(system{"-t_srs", w.target, &o.Target}, system{"-s_srs", w.source, &o.SourceCRS}, system{"-cutline_srs", w.cutlineSystem, &cutline}); err != nil {
		return err
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
