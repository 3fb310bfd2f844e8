//go:build !bootstrap

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"quern.dev/geo/mosaic"
	"quern.dev/geo/ortho"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/gpu"
)

// joining holds the options of quern geo mosaic, as text.
type joining struct {
	computation
	placement
	throughPROJ
	imaging
	source, order, blend, balance    string
	srcNoData, dstNoData, list, work string
	seams                            bool
	radius, levels                   int
}

func geoMosaicCommand() *cobra.Command {
	var j joining
	cmd := &cobra.Command{
		Use:   "mosaic SOURCE... RESULT",
		Short: "Join many images to one",
		Long: `mosaic joins georeferenced images, in any coordinate systems, to one image. It reads
each part of the sources when it is needed, so the number and the size of images are
not limited by memory. Blocks without data are not written. The result is the same
bit for bit on every device.

-order says which image a pixel is taken from: the last one of the list (the default),
the first one, or the one whose center is nearest. -seams moves the borders between
images to where they differ least, around cars for example. -balance evens out
differences of brightness, and -blend what is left of them.

Photographs and satellite images are orthorectified where the mosaic needs them, without
files in between, with -dem or -height and the options of quern geo ortho. Pixels are at
multiples of their size, which is that of the first image without -tr. With -order
nearest, the pixel of the camera counts that stands above it most nearly. JPEG and PNG
stay decoded in memory: convert many large ones with quern geo translate first.

Finished tiles are kept in RESULT.work until the result is complete. If the command
is stopped, or killed, the same command continues.

Options with the names of gdalwarp have its meaning. Creation options (-co) are those
of quern geo translate.`,
		Example: `  quern geo mosaic -order nearest -seams -balance gain -blend multiband -of COG ortho/*.tif mosaic.tif
  quern geo mosaic -t_srs EPSG:3857 -tr 0.5 0.5 -r cubic -input_file_list list.txt mosaic.tif
  quern geo mosaic -dem dsm.tif -reconstruction reconstruction.json -r cubic -order nearest -seams images/*.tif mosaic.tif`,
		Args: func(cmd *cobra.Command, args []string) error {
			if j.list != "" && len(args) == 1 {
				return nil
			}
			return sourcesAndResult(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := j.parse()
			if err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			sources, result := args[:len(args)-1], args[len(args)-1]
			if j.list != "" {
				names, err := readList(j.list)
				if err != nil {
					return errUsage{err, cmd.CommandPath()}
				}
				sources = append(names, sources...)
			}
			if err := checkResult(result, j.overwrite, slices.Concat(sources, j.files(), []string{j.list})...); err != nil {
				return err
			}
			if j.rectifying() {
				return j.rectify(cmd, sources, result, o)
			}
			return j.run(cmd, sources, result, func(dev *gpu.Device, images []*tiff.Image, progress func(done, total int)) error {
				o.Progress = progress
				var err error
				if o.Converter, err = j.converter(cmd, images, j.ballpark, o.SourceCRS, o.Target); err != nil {
					return err
				}
				if o.Converter != nil {
					o.Shift = nil
				}
				all := make([]mosaic.Source, len(images))
				for i, im := range images {
					all[i].Image = im
				}
				return mosaic.File(cmd.Context(), dev, result, all, o)
			})
		},
	}
	flags := cmd.Flags()
	j.computation.addTo(flags)
	j.addPlacement(flags, "first source")
	j.throughPROJ.addTo(flags)
	j.imaging.addTo(flags)
	flags.StringVar(&j.source, "s_srs", "", "coordinate system of the sources, instead of their own")
	flags.StringVar(&j.srcNoData, "srcnodata", "", "value of source pixels without data, or one per band")
	flags.StringVar(&j.dstNoData, "dstnodata", "", "value of result pixels without data; if empty, that of the sources, or alpha")
	flags.StringVar(&j.list, "input_file_list", "", "file with the names of sources, one per line")
	flags.StringVar(&j.order, "order", "last", "which image counts: last, first or nearest")
	flags.BoolVar(&j.seams, "seams", false, "move borders between images to where they differ least")
	flags.StringVar(&j.blend, "blend", "none", "what happens at borders: none, feather or multiband")
	flags.IntVar(&j.radius, "radius", 32, "pixels on both sides of a border where feather fades")
	flags.IntVar(&j.levels, "levels", 5, "levels of the pyramids of multiband")
	flags.StringVar(&j.balance, "balance", "none", "what is evened out: none, gain or gain-offset")
	flags.StringVar(&j.work, "work", "", "file that keeps finished tiles; RESULT.work if empty")
	return cmd
}

// readList reads names, one per line.
func readList(name string) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("-input_file_list: %w", err)
	}
	defer f.Close()
	var names []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if text := strings.TrimSpace(lines.Text()); text != "" {
			names = append(names, text)
		}
	}
	return names, lines.Err()
}

func (j *joining) parse() (o mosaic.Options, err error) {
	at, err := j.place()
	if err != nil {
		return o, err
	}
	var known [3]bool
	o.Order, known[0] = mosaic.ParseOrder(j.order)
	o.Blend, known[1] = mosaic.ParseBlend(j.blend)
	o.Balance, known[2] = mosaic.ParseBalance(j.balance)
	for i, option := range []string{"-order " + j.order, "-blend " + j.blend, "-balance " + j.balance} {
		if !known[i] {
			return o, fmt.Errorf("%s: the help lists what is possible", option)
		}
	}
	if o.File, err = j.options(); err != nil {
		return o, err
	}
	o.Resampling, o.Extent, o.Resolution, o.AlignPixels, o.Shift, o.Memory = at.resampling, at.extent, at.resolution, j.align, at.shift, at.memory
	o.Seams, o.Radius, o.Levels, o.Work = j.seams, j.radius, j.levels, j.work
	if o.SourceNoData, err = noDataValues("-srcnodata", j.srcNoData); err != nil {
		return o, err
	}
	values, err := noDataValues("-dstnodata", j.dstNoData)
	if err != nil || len(values) > 1 {
		return o, fmt.Errorf("-dstnodata %s: want one number", j.dstNoData)
	}
	if len(values) == 1 {
		o.NoData = &values[0]
	}
	if j.rectifying() {
		switch {
		case j.source != "":
			return o, errors.New("-s_srs with -dem or -height: cameras and RPC say where images are")
		case j.always:
			return o, errors.New("-proj with -dem or -height: make the mosaic first, and warp it")
		}
		if err := j.check(); err != nil {
			return o, err
		}
		return o, parseSystems(system{"-t_srs", j.target, &o.Target})
	}
	return o, j.parseSystemsOrPROJ(system{"-t_srs", j.target, &o.Target}, system{"-s_srs", j.source, &o.SourceCRS})
}

// rectifying reports whether the sources are images of cameras or satellites.
func (j *joining) rectifying() bool {
	return j.dem != "" || j.height != "" || j.reconstruction != "" || j.exterior != "" || j.rpc || j.transformer != nil
}

// rectify makes a mosaic of orthorectified images.
func (j *joining) rectify(cmd *cobra.Command, sources []string, result string, o mosaic.Options) error {
	surface, system, closeSurface, err := j.surface(cmd)
	if err != nil {
		return err
	}
	defer closeSurface()
	shots, err := j.shots(system)
	if err != nil {
		return err
	}
	if o.Target != nil {
		system = o.Target
	}
	rectified := ortho.Options{Target: system, Shift: o.Shift, Resolution: o.Resolution, Resampling: o.Resampling, SourceNoData: o.SourceNoData,
		SeeThrough: j.seeThrough, Tolerance: j.tolerance, Memory: o.Memory / 2}
	o.Memory /= 2
	o.Target, o.Shift, o.Resampling, o.SourceNoData, o.AlignPixels = nil, nil, warp.Nearest, nil, true
	return j.run(cmd, sources, result, func(dev *gpu.Device, images []*tiff.Image, progress func(done, total int)) (err error) {
		set := ortho.NewImages(dev, surface, rectified)
		defer func() { err = errors.Join(err, set.Close()) }()
		all := make([]mosaic.Source, len(images))
		for i, im := range images {
			sensor, err := j.sensor(shots, sources[i], im)
			if err != nil {
				return fmt.Errorf("%s: %w", sources[i], err)
			}
			f, err := set.Add(cmd.Context(), im, sensor)
			if err != nil {
				return fmt.Errorf("%s: %w", sources[i], err)
			}
			all[i].Image = f.Image()
			if eye, ok, err := sensor.Eye(system); err != nil {
				return fmt.Errorf("%s: %w", sources[i], err)
			} else if ok {
				all[i].Center = &[2]float64{eye[0], eye[1]}
			}
		}
		a, _ := all[0].Image.Geo.Affine()
		o.Resolution, o.Progress = [2]float64{a[1], -a[5]}, progress
		return mosaic.File(cmd.Context(), dev, result, all, o)
	})
}
