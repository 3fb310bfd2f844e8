package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"quern.dev/geo/tiff"
	"quern.dev/geo/translate"
)

// conversion holds the options of quern geo translate that say what is copied, and how it changes, as text.
type conversion struct {
	window, extent, corners, resolution []float64
	extentSystem, system                string
	size                                []string
	resampling                          string
	sampleType, scale, expand           string
	unscale                             bool
}

// scaleGiven is the text of -scale without numbers.
const scaleGiven = "range"

func (c *conversion) addTo(flags *pflag.FlagSet) {
	flags.Float64SliceVar(&c.window, "srcwin", nil, "part of the source in pixels: x y width height")
	flags.Float64SliceVar(&c.extent, "projwin", nil, "part of the source in coordinates: left top right bottom")
	flags.StringVar(&c.extentSystem, "projwin_srs", "", "coordinate system of -projwin, instead of the source's")
	flags.StringSliceVar(&c.size, "outsize", nil, "size of the result in pixels, or in % of the part: width height; one of them may be 0")
	flags.Float64SliceVar(&c.resolution, "tr", nil, "size of a pixel of the result: x y")
	flags.StringVarP(&c.resampling, "resampling", "r", "near", "resampling method")
	flags.StringVar(&c.system, "a_srs", "", "coordinate system to assign; none removes it")
	flags.Float64SliceVar(&c.corners, "a_ullr", nil, "corners of the result to assign: left top right bottom")
	flags.StringVar(&c.sampleType, "ot", "", sampleTypeUsage)
	flags.StringVar(&c.scale, "scale", "", "map values linearly: src_min src_max dst_min dst_max; the last two or all may be left out")
	flags.Lookup("scale").NoOptDefVal = scaleGiven
	flags.BoolVar(&c.unscale, "unscale", false, "apply the scale and the offset of bands")
	flags.StringVar(&c.expand, "expand", "", "make bands of a palette: gray, rgb or rgba")
}

// sampleTypeUsage is the help of option -ot.
const sampleTypeUsage = "type of samples: Byte, Int8, UInt16, Int16, UInt32, Int32, UInt64, Int64, Float32, Float64, CInt16, CInt32, CFloat32, CFloat64"

// sampleTypes are GDAL's names of types, in lower case.
var sampleTypes = map[string]tiff.Type{"byte": tiff.Uint8, "uint8": tiff.Uint8, "int8": tiff.Int8, "uint16": tiff.Uint16, "int16": tiff.Int16, "uint32": tiff.Uint32,
	"int32": tiff.Int32, "uint64": tiff.Uint64, "int64": tiff.Int64, "float32": tiff.Float32, "float64": tiff.Float64,
	"cint16": tiff.ComplexI16, "cint32": tiff.ComplexI32, "cfloat32": tiff.Complex64, "cfloat64": tiff.Complex128}

// parse makes options of the text.
func (c *conversion) parse(t *translation) (o translate.Options, err error) {
	if t.mask != "" && t.mask != "none" {
		return o, fmt.Errorf("-mask %s: want none", t.mask)
	}
	o.NoMask = t.mask != ""
	for _, b := range t.bands {
		o.Bands = append(o.Bands, b-1)
	}
	switch t.noData {
	case "":
	case "none":
		o.NoData = new(string)
	default:
		if _, err := strconv.ParseFloat(t.noData, 64); err != nil || strings.ContainsAny(t.noData, "_xX") { // which other programs do not read
			return o, fmt.Errorf("-a_nodata %s: want a number, or none", t.noData)
		}
		o.NoData = &t.noData
	}
	for _, parse := range []func(*translate.Options) error{c.parseParts, c.parseSize, c.parseSamples} {
		if err := parse(&o); err != nil {
			return o, err
		}
	}
	assigned := c.system
	if o.NoCRS = strings.EqualFold(assigned, "none"); o.NoCRS {
		assigned = ""
	}
	return o, parseSystems(system{"-projwin_srs", c.extentSystem, &o.ExtentCRS}, system{"-a_srs", assigned, &o.CRS})
}

// parseParts reads what is copied, and where it is.
func (c *conversion) parseParts(o *translate.Options) error {
	for _, l := range []struct {
		name, want string
		values     []float64
	}{{"-srcwin", "x y width height, with a width and a height above 0", c.window}, {"-projwin", "left top right bottom", c.extent}, {"-a_ullr", "left top right bottom", c.corners}} {
		if l.values != nil && (len(l.values) != 4 || slices.ContainsFunc(l.values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })) {
			return fmt.Errorf("%s %v: want four numbers, %s", l.name, l.values, l.want)
		}
	}
	extent := func(v []float64) *translate.Extent {
		if v == nil {
			return nil
		}
		return &translate.Extent{Left: v[0], Top: v[1], Right: v[2], Bottom: v[3]}
	}
	o.Extent, o.Corners = extent(c.extent), extent(c.corners)
	if w := c.window; w != nil {
		o.Window = &translate.Window{X: w[0], Y: w[1], Width: w[2], Height: w[3]}
	}
	switch {
	case o.Window != nil && o.Extent != nil:
		return errors.New("-srcwin and -projwin: give one of them")
	case o.Window != nil && !(o.Window.Width > 0 && o.Window.Height > 0):
		return fmt.Errorf("-srcwin %v: want x y width height, with a width and a height above 0", c.window)
	case o.Extent == nil && c.extentSystem != "":
		return errors.New("-projwin_srs needs -projwin")
	case o.Corners != nil && (o.Corners.Left == o.Corners.Right || o.Corners.Top == o.Corners.Bottom):
		return fmt.Errorf("-a_ullr %v: want left top right bottom of an area", c.corners)
	}
	return nil
}

// parseSize reads the size of the result, and how it is resampled.
func (c *conversion) parseSize(o *translate.Options) error {
	if err := checkCounts(counted{"-outsize", len(c.size), 2}, counted{"-tr", len(c.resolution), 2}); err != nil {
		return err
	}
	var ok bool
	if o.Resampling, ok = translate.ParseResampling(c.resampling); !ok {
		return fmt.Errorf("-r %s: want one of %s; quern geo warp has more", c.resampling, strings.Join(translate.Resamplings(), ", "))
	}
	if c.resolution != nil {
		if o.Resolution = [2]float64{math.Abs(c.resolution[0]), math.Abs(c.resolution[1])}; !(o.Resolution[0] > 0 && o.Resolution[1] > 0) {
			return fmt.Errorf("-tr %g %g: want the width and the height of a pixel", c.resolution[0], c.resolution[1])
		}
		if c.size != nil {
			return errors.New("-outsize and -tr: give one of them")
		}
	}
	pixels, shares := [2]*int{&o.Width, &o.Height}, [2]*float64{&o.XShare, &o.YShare}
	for i, text := range c.size {
		number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || !(v >= 0) || v > math.MaxInt32 || !percent && v != math.Trunc(v) {
			return fmt.Errorf("-outsize %s: want two numbers of pixels or percentages", strings.Join(c.size, " "))
		}
		if percent {
			*shares[i] = v / 100
		} else {
			*pixels[i] = int(v)
		}
	}
	if c.size != nil && o.Width == 0 && o.Height == 0 && o.XShare == 0 && o.YShare == 0 {
		return errors.New("-outsize 0 0: want a width or a height")
	}
	return nil
}

// parseSamples reads how samples change.
func (c *conversion) parseSamples(o *translate.Options) error {
	if c.sampleType != "" {
		var ok bool
		if o.Type, ok = sampleTypes[strings.ToLower(c.sampleType)]; !ok {
			return fmt.Errorf("-ot %s: the help of quern geo translate lists the types", c.sampleType)
		}
	}
	o.Unscale = c.unscale
	if c.scale != "" {
		o.Scale = &translate.Scale{To: [2]float64{0, 255.999}} // gdal_translate's default
	}
	if c.scale != "" && c.scale != scaleGiven {
		v, err := noDataValues("-scale", c.scale)
		if err != nil || len(v) != 2 && len(v) != 4 {
			return fmt.Errorf("-scale %s: want no number, src_min src_max, or src_min src_max dst_min dst_max", c.scale)
		}
		o.Scale.From = &[2]float64{v[0], v[1]}
		if len(v) == 4 {
			o.Scale.To = [2]float64{v[2], v[3]}
		}
	}
	if o.Scale != nil && o.Unscale {
		return errors.New("-scale and -unscale: give one of them")
	}
	expansions := map[string]translate.Expansion{"": translate.KeepPalette, "gray": translate.Gray, "rgb": translate.RGB, "rgba": translate.RGBA}
	var ok bool
	if o.Expand, ok = expansions[strings.ToLower(c.expand)]; !ok {
		return fmt.Errorf("-expand %s: want gray, rgb or rgba", c.expand)
	}
	return nil
}
