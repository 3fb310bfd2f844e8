//go:build !bootstrap

package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quern.dev/geo/crs"
	"quern.dev/geo/raster"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/gpu"
)

// computation holds the options that all commands have that compute an image on a device.
type computation struct {
	translation // -of, -co and -q
	device      string
	overwrite   bool
	asJSON      bool
}

func (c *computation) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&c.format, "of", "GTiff", "format: GTiff or COG")
	flags.StringArrayVar(&c.creation, "co", nil, "creation option NAME=VALUE")
	flags.BoolVar(&c.overwrite, "overwrite", false, "replace a result that exists")
	flags.StringVar(&c.device, "device", "", "device: cuda, cuda:1, cpu or sim; the best one if empty")
	flags.BoolVar(&c.asJSON, "json", false, "describe the result in JSON")
	flags.BoolVarP(&c.quiet, "quiet", "q", false, "no progress")
}

// with opens the device.
func (c *computation) with(use func(dev *gpu.Device) error) (err error) {
	dev, err := gpu.Open(gpu.Config{Device: c.device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	return use(dev)
}

// run opens the sources and the device, computes the result, and describes it if that is asked for.
func (c *computation) run(cmd *cobra.Command, sources []string, result string, compute func(dev *gpu.Device, images []*tiff.Image, progress func(done, total int)) error) error {
	return c.with(func(dev *gpu.Device) error {
		return c.runOn(cmd.OutOrStdout(), cmd.ErrOrStderr(), dev, sources, result, compute)
	})
}

// runOn is run on an open device.
func (c *computation) runOn(stdout, stderr io.Writer, dev *gpu.Device, sources []string, result string, compute func(dev *gpu.Device, images []*tiff.Image, progress func(done, total int)) error) error {
	if err := checkResult(result, c.overwrite, sources...); err != nil {
		return err
	}
	begin := time.Now()
	images, warnings, closeAll, err := openImages(sources)
	if err != nil {
		return err
	}
	defer closeAll()
	if !c.quiet {
		for _, text := range warnings {
			fmt.Fprintln(stderr, text)
		}
	}
	progress := func(done, total int) { c.progress(stderr, done, total) }
	if err := compute(dev, images, progress); err != nil {
		return err
	}
	if !c.asJSON && c.quiet {
		return nil
	}
	f, err := tiff.Open(result)
	if err != nil {
		return err
	}
	defer f.Close()
	if c.asJSON {
		return printJSON(stdout, describeFile(result, &raster.File{File: f, Format: "GTiff"}))
	}
	return describeResult(stdout, result, f.Image(), begin, fmt.Sprintf(" on %s (%s)", dev.ID(), dev.Name()))
}

// openImages opens the first images of files. Warnings begin with the names of the files.
func openImages(names []string) (images []*tiff.Image, warnings []string, closeAll func(), err error) {
	var files []*raster.File
	closeAll = func() {
		for _, f := range files {
			f.Close()
		}
	}
	for _, name := range names {
		f, err := raster.Open(name)
		if err != nil {
			closeAll()
			return nil, nil, nil, err
		}
		for _, text := range f.Warnings {
			warnings = append(warnings, name+": "+text)
		}
		files = append(files, f)
		images = append(images, f.Image())
	}
	return images, warnings, closeAll, nil
}

// sourcesAndResult accepts one source or more, and the result.
func sourcesAndResult(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return errUsage{fmt.Errorf("%s: want one source or more, and the result", count(len(args), "argument")), cmd.CommandPath()}
	}
	return nil
}

// placement holds the options that say where the pixels of a result are, as text.
type placement struct {
	target, resampling string
	extent, resolution []float64
	align, ballpark    bool
	memory             int64
}

// addPlacement adds the options. from says whose coordinate system counts without -t_srs.
func (p *placement) addPlacement(flags *pflag.FlagSet, from string) {
	flags.StringVar(&p.target, "t_srs", "", "coordinate system of the result: EPSG:code, WKT, PROJJSON or PROJ string; that of the "+from+" if empty")
	flags.Float64SliceVar(&p.extent, "te", nil, "extent of the result: xmin ymin xmax ymax")
	flags.Float64SliceVar(&p.resolution, "tr", nil, "size of a pixel of the result: x y")
	flags.BoolVar(&p.align, "tap", false, "make the extent a multiple of the pixel size")
	flags.StringVarP(&p.resampling, "resampling", "r", "near", "resampling method, as in quern geo warp")
	flags.BoolVar(&p.ballpark, "ballpark", false, "skip a datum shift that is not known: an error of up to some hundred meters")
	flags.Int64Var(&p.memory, "wm", 0, "memory to use in MiB")
}

// position is what the options say.
type position struct {
	resampling warp.Resampling
	extent     *warp.Extent
	resolution [2]float64
	shift      []crs.Option
	memory     int64
}

func (p *placement) place() (r position, err error) {
	var ok bool
	if r.resampling, ok = warp.ParseResampling(p.resampling); !ok {
		return r, fmt.Errorf("-r %s: want near, bilinear, cubic, cubicspline, lanczos, average, mode, min, max, med, q1 or q3", p.resampling)
	}
	if err := checkCounts(counted{"-te", len(p.extent), 4}, counted{"-tr", len(p.resolution), 2}); err != nil {
		return r, err
	}
	if p.extent != nil {
		r.extent = &warp.Extent{MinX: p.extent[0], MinY: p.extent[1], MaxX: p.extent[2], MaxY: p.extent[3]}
	}
	switch {
	case slices.ContainsFunc(p.resolution, func(v float64) bool { return v == 0 || math.IsNaN(v) || math.IsInf(v, 0) }):
		return r, fmt.Errorf("-tr %g %g: want the width and the height of a pixel", p.resolution[0], p.resolution[1])
	case p.align && p.resolution == nil:
		return r, errors.New("-tap needs -tr")
	case p.memory < 0:
		return r, fmt.Errorf("-wm %d: want a number of MiB", p.memory)
	}
	if p.resolution != nil {
		r.resolution = [2]float64{math.Abs(p.resolution[0]), math.Abs(p.resolution[1])}
	}
	if p.ballpark {
		r.shift = append(r.shift, crs.Ballpark())
	}
	r.memory = p.memory << 20
	return r, nil
}

// openRaster opens a layer of the map server.
func openRaster(name string) (*tiff.File, error) {
	f, err := raster.Open(name)
	if err != nil {
		return nil, err
	}
	return f.File, nil
}
