//go:build !bootstrap

package main

import (
	"errors"
	"fmt"
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
	computation
	placement
	throughPROJ
	source, srcNoData, dstNoData string
	cutline, cutlineSystem       string
	extentSystem, sampleType     string
	overview                     string
	size                         []int
	bands, toBands               []int
	warper, transformer          []string
	order                        int
	errorThreshold, blend        float64
	alpha, crop                  bool
	sourceAlpha, noSourceAlpha   bool
	spline, rpc                  bool
	system                       *crs.CRS // of the cutline
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
the names and the meaning of gdalwarp. The transform is exact unless -et permits an
error.

Images without a geotransform are placed by their control points: -order N by a
polynomial, -tps by a thin plate spline. -rpc places images by rational polynomials,
with -to RPC_DEM=FILE or -to RPC_HEIGHT=VALUE; quern geo ortho has more of this, and
knows what the terrain hides. -to METHOD=GCP_POLYNOMIAL, GCP_TPS or RPC and
-to MAX_GCP_ORDER=N are other ways to write it.

Warp options (-wo): XSCALE and YSCALE, pixels of the result per source pixel;
INIT_DEST=VALUE or one value per band, in the result before sources are written;
UNIFIED_SRC_NODATA=YES, if only pixels whose bands all have -srcnodata have no data.

Coordinate systems that Quern does not compute itself go through an installed PROJ
(libproj; QUERN_PROJ names another file), on the host. It says so, and -proj asks
for it.

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
			if err := checkResult(result, w.overwrite, slices.Concat(sources, []string{w.cutline})...); err != nil {
				return err
			}
			if w.rpc {
				return w.rectify(cmd, sources, result, &o)
			}
			return w.run(cmd, sources, result, func(dev *gpu.Device, images []*tiff.Image, progress func(done, total int)) error {
				o.Progress = progress
				for i, im := range images {
					for _, b := range w.bands {
						if b > im.Bands {
							return fmt.Errorf("-srcband %d: %s has %s", b, sources[i], count(im.Bands, "band"))
						}
					}
				}
				var err error
				if o.Converter, err = w.converter(cmd, images, w.ballpark, o.SourceCRS, o.Target, o.ExtentCRS, w.system); err != nil {
					return err
				}
				if o.Converter != nil {
					o.Shift = nil
				}
				out, err := warp.New(dev, images, o)
				if err != nil {
					return err
				}
				if err = checkSpace(cmd.ErrOrStderr(), result, out.Header(), o.File, w.quiet); err == nil {
					err = out.WriteFile(cmd.Context(), result)
				}
				return errors.Join(err, out.Close())
			})
		},
	}
	flags := cmd.Flags()
	w.computation.addTo(flags)
	w.addPlacement(flags, "first source")
	w.throughPROJ.addTo(flags)
	flags.Lookup("resampling").Usage = "resampling method"
	flags.StringVar(&w.source, "s_srs", "", "coordinate system of the sources, instead of their own")
	flags.IntSliceVar(&w.size, "ts", nil, "size of the result in pixels: width height; one of them may be 0")
	flags.StringVar(&w.srcNoData, "srcnodata", "", "value of source pixels without data, or one per band; None ignores that of the file")
	flags.StringVar(&w.dstNoData, "dstnodata", "", "value of result pixels without data, or one per band")
	flags.BoolVar(&w.alpha, "dstalpha", false, "add an alpha band")
	flags.StringVar(&w.cutline, "cutline", "", "GeoJSON file of polygons, outside of which sources have no data")
	flags.Float64Var(&w.blend, "cblend", 0, "distance in source pixels on both sides of the cutline in which sources fade")
	flags.StringVar(&w.cutlineSystem, "cutline_srs", "", "coordinate system of the cutline, instead of the file's")
	flags.StringArrayVar(&w.warper, "wo", nil, "warp option NAME=VALUE")
	flags.StringArrayVar(&w.transformer, "to", nil, "transformer option NAME=VALUE")
	flags.Float64Var(&w.errorThreshold, "et", 0, "error in source pixels up to which positions may be interpolated; 0 is exact")
	flags.StringVar(&w.overview, "ovr", "NONE", "overview of the sources to read: NONE, a level from 0, or AUTO for the one that fits the result")
	flags.StringVar(&w.extentSystem, "te_srs", "", "coordinate system of -te, instead of -t_srs")
	flags.BoolVar(&w.crop, "crop_to_cutline", false, "make the extent that of the cutline")
	flags.IntVar(&w.order, "order", 0, "order of the polynomial of control points: 1 to 3")
	flags.BoolVar(&w.spline, "tps", false, "place images by a thin plate spline of their control points")
	flags.BoolVar(&w.rpc, "rpc", false, "place images by their rational polynomials")
	flags.IntSliceVarP(&w.bands, "srcband", "b", nil, "bands of the sources, from 1")
	flags.IntSliceVar(&w.toBands, "dstband", nil, "bands of the result for those of -srcband")
	flags.BoolVar(&w.sourceAlpha, "srcalpha", false, "the last band of the sources is alpha")
	flags.BoolVar(&w.noSourceAlpha, "nosrcalpha", false, "no band of the sources is alpha")
	flags.StringVar(&w.sampleType, "ot", "", sampleTypeUsage)
	for name, usage := range map[string]string{"multi": "all cores are used", "setci": "colors are kept"} {
		flags.Bool(name, false, "accepted and not used: "+usage)
	}
	for name, usage := range map[string]string{"wt": "samples are computed in a type that has all values", "oo": "files are read on all cores"} {
		flags.StringArray(name, nil, "accepted and not used: "+usage)
	}
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
		if o.Width, o.Height = w.size[0], w.size[1]; o.Width < 0 || o.Height < 0 || o.Width == 0 && o.Height == 0 {
			return o, fmt.Errorf("-ts %d %d: want a width and a height; one of them may be 0", o.Width, o.Height)
		}
		if w.resolution != nil {
			return o, errors.New("-tr and -ts: give one of them")
		}
	}
	if !(w.errorThreshold >= 0) {
		return o, fmt.Errorf("-et %g: want 0 or more source pixels", w.errorThreshold)
	}
	o.Alpha, o.Tolerance = w.alpha, w.errorThreshold
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
	for _, parse := range []func(*warp.Options) error{w.parseWarper, w.parseBands, w.parseTransformer} {
		if err := parse(&o); err != nil {
			return o, err
		}
	}
	return o, w.parseSystems(&o)
}

// parseWarper reads the options -wo.
func (w *warping) parseWarper(o *warp.Options) error {
	for _, option := range w.warper {
		name, value, _ := strings.Cut(option, "=")
		switch name = strings.ToUpper(name); name {
		case "XSCALE", "YSCALE":
			v, err := strconv.ParseFloat(value, 64)
			if err != nil || !(v > 0) {
				return fmt.Errorf("-wo %s: want a positive number", option)
			}
			if name == "XSCALE" {
				o.XScale = v
			} else {
				o.YScale = v
			}
		case "INIT_DEST":
			if strings.EqualFold(value, "NO_DATA") {
				break // the default
			}
			var err error
			if o.Start, err = noDataValues("-wo INIT_DEST", value); err != nil {
				return err
			}
		case "UNIFIED_SRC_NODATA":
			switch strings.ToUpper(value) {
			case "YES":
				o.UnifiedNoData = true
			case "PARTIAL": // the default
			default:
				return fmt.Errorf("-wo %s: want YES or PARTIAL", option)
			}
		case "NUM_THREADS", "OPTIMIZE_SIZE", "WRITE_FLUSH", "SOURCE_EXTRA", "SAMPLE_GRID", "SAMPLE_STEPS": // windows of sources are exact, and all cores are used
		default:
			return fmt.Errorf("-wo %s: want XSCALE, YSCALE, INIT_DEST or UNIFIED_SRC_NODATA", option)
		}
	}
	return nil
}

// parseBands reads which bands are warped, and the type of the result.
func (w *warping) parseBands(o *warp.Options) error {
	switch {
	case w.sourceAlpha && w.noSourceAlpha:
		return errors.New("-srcalpha and -nosrcalpha: give one of them")
	case w.sourceAlpha:
		o.SourceAlpha = warp.AlphaLast
	case w.noSourceAlpha:
		o.SourceAlpha = warp.AlphaNone
	}
	switch n, err := strconv.Atoi(w.overview); {
	case strings.EqualFold(w.overview, "NONE"):
	case strings.EqualFold(w.overview, "AUTO"):
		o.Overview = warp.OverviewAuto
	case err == nil && n >= 0:
		o.Overview = n + 1
	default:
		return fmt.Errorf("-ovr %s: want NONE, AUTO or a level from 0", w.overview)
	}
	if w.sampleType != "" {
		var ok bool
		if o.Type, ok = sampleTypes[strings.ToLower(w.sampleType)]; !ok {
			return fmt.Errorf("-ot %s: the help of quern geo warp lists the types", w.sampleType)
		}
	}
	for _, b := range w.bands {
		if b < 1 {
			return fmt.Errorf("-srcband %d: bands are counted from 1", b)
		}
	}
	if w.bands == nil && w.toBands == nil {
		return nil
	}
	if w.toBands == nil {
		for _, b := range w.bands {
			o.Bands = append(o.Bands, b-1)
		}
		return nil
	}
	if len(w.bands) != len(w.toBands) {
		return fmt.Errorf("-srcband has %d bands and -dstband %d", len(w.bands), len(w.toBands))
	}
	o.Bands = make([]int, len(w.bands))
	seen := make([]bool, len(w.bands))
	for i, b := range w.toBands {
		if b < 1 || b > len(seen) || seen[b-1] {
			return fmt.Errorf("-dstband %v: want each of the bands 1 to %d once", w.toBands, len(seen))
		}
		seen[b-1], o.Bands[b-1] = true, w.bands[i]-1
	}
	return nil
}

// parseTransformer reads the options -to, -order and -tps. What concerns RPC is for rectify.
func (w *warping) parseTransformer(o *warp.Options) error {
	polynomial := w.order != 0
	for _, option := range w.transformer {
		name, value, _ := strings.Cut(option, "=")
		switch strings.ToUpper(name) {
		case "METHOD", "SRC_METHOD":
			switch strings.ToUpper(value) {
			case "GCP_POLYNOMIAL":
				polynomial = true
			case "GCP_TPS":
				w.spline = true
			case "RPC":
				w.rpc = true
			case "GEOTRANSFORM":
			default:
				return fmt.Errorf("-to %s: want GEOTRANSFORM, GCP_POLYNOMIAL, GCP_TPS or RPC", option)
			}
		case "MAX_GCP_ORDER":
			n, err := strconv.Atoi(value)
			if err != nil {
				return fmt.Errorf("-to %s: want a number", option)
			}
			if w.order = n; n == -1 {
				w.order, w.spline = 0, true
			}
			polynomial = n > 0
		case "RPC_DEM", "RPC_HEIGHT", "RPC_HEIGHT_SCALE":
		default:
			return fmt.Errorf("-to %s: want METHOD, MAX_GCP_ORDER, RPC_DEM, RPC_HEIGHT or RPC_HEIGHT_SCALE", option)
		}
	}
	switch {
	case w.order < 0 || w.order > 3:
		return fmt.Errorf("-order %d: want 1, 2 or 3", w.order)
	case w.spline && polynomial || w.rpc && (w.spline || polynomial):
		return errors.New("-order, -tps and -rpc: give one of them")
	case w.spline:
		o.Fit = warp.FitSpline
	case w.order != 0:
		o.Fit = [...]warp.Fit{warp.FitOrder1, warp.FitOrder2, warp.FitOrder3}[w.order-1]
	}
	return nil
}

func (w *warping) parseSystems(o *warp.Options) error {
	if err := w.parseSystemsOrPROJ(system{"-t_srs", w.target, &o.Target}, system{"-s_srs", w.source, &o.SourceCRS}, system{"-te_srs", w.extentSystem, &o.ExtentCRS}, system{"-cutline_srs", w.cutlineSystem, &w.system}); err != nil {
		return err
	}
	switch {
	case w.extent == nil && w.extentSystem != "":
		return errors.New("-te_srs needs -te")
	case w.cutline != "":
	case w.crop:
		return errors.New("-crop_to_cutline needs -cutline")
	case w.cutlineSystem != "":
		return errors.New("-cutline_srs needs -cutline")
	case w.blend != 0:
		return errors.New("-cblend needs -cutline")
	default:
		return nil
	}
	if !(w.blend >= 0) || math.IsInf(w.blend, 0) {
		return fmt.Errorf("-cblend %g: want 0 or more pixels", w.blend)
	}
	o.CropToCutline, o.CutlineBlend = w.crop, w.blend
	text, err := os.ReadFile(w.cutline)
	if err != nil {
		return fmt.Errorf("-cutline: %w", err)
	}
	if o.Cutline, err = warp.ParseCutline(text, w.system); err != nil {
		return fmt.Errorf("-cutline %s: %w", w.cutline, err)
	}
	return nil
}

// rectify warps images with RPC: as quern geo ortho does, but without the test of what the terrain hides, and without alpha.
func (w *warping) rectify(cmd *cobra.Command, sources []string, result string, o *warp.Options) error {
	if len(sources) != 1 {
		return errUsage{fmt.Errorf("-rpc takes one source; make a mosaic of the results"), cmd.CommandPath()}
	}
	for _, other := range []struct {
		name  string
		given bool
	}{{"-cutline", o.Cutline != nil}, {"-s_srs", o.SourceCRS != nil}, {"-te_srs", o.ExtentCRS != nil}, {"-srcband", o.Bands != nil}, {"-ot", o.Type != 0}, {"-ovr", o.Overview != 0}, {"-srcalpha", w.sourceAlpha || w.noSourceAlpha},
		{"-wo", w.warper != nil}, {"-ts without -te", w.size != nil && o.Extent == nil}} {
		if other.given {
			return errUsage{fmt.Errorf("%s with -rpc; rectify first, and warp the result", other.name), cmd.CommandPath()}
		}
	}
	r := rectification{computation: w.computation, placement: w.placement, imaging: imaging{rpc: true, seeThrough: true}, srcNoData: w.srcNoData, dstNoData: w.dstNoData, alpha: w.alpha}
	for _, option := range w.transformer {
		if strings.HasPrefix(strings.ToUpper(option), "RPC_") {
			r.transformer = append(r.transformer, option)
		}
	}
	if r.target == "" {
		r.target = "EPSG:4326"
	}
	if e := o.Extent; e != nil && w.size != nil {
		if w.size[0] <= 0 || w.size[1] <= 0 {
			return errUsage{errors.New("-ts with -rpc: want a width and a height"), cmd.CommandPath()}
		}
		r.resolution = []float64{(e.MaxX - e.MinX) / float64(w.size[0]), (e.MaxY - e.MinY) / float64(w.size[1])}
	}
	if !slices.ContainsFunc(r.transformer, func(s string) bool { return !strings.HasPrefix(strings.ToUpper(s), "RPC_HEIGHT_SCALE") }) {
		r.height = "0"
	}
	options, err := r.parse()
	if err != nil {
		return errUsage{err, cmd.CommandPath()}
	}
	options.Opaque = true
	return r.rectify(cmd, sources, result, options)
}
