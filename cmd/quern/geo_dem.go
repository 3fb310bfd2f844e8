//go:build !bootstrap

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"quern.dev/geo/algebra"
	"quern.dev/geo/terrain"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

func geoDEMCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dem",
		Short: "Derive hillshade, slope or aspect from a surface model",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(hillshadeCommand(), slopeCommand(), aspectCommand())
	return cmd
}

// derivation holds the options of the commands below quern geo dem.
type derivation struct {
	computation
	band  int
	edges bool
}

// command returns a command. derivative makes what is derived of the other options.
func (d *derivation) command(name, short, long string, derivative func() terrain.Derivative) *cobra.Command {
	cmd := &cobra.Command{
		Use:     name + " SOURCE RESULT",
		Short:   short,
		Long:    long + "\n\nOptions have the names and the meaning of gdaldem. Creation options (-co) are those of quern geo translate.",
		Example: "  quern geo dem " + name + " dem.tif " + name + ".tif",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errUsage{fmt.Errorf("%s: want the names of two files", count(len(args), "argument")), cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := d.options()
			if err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			return d.run(cmd, args[:1], args[1], func(dev *gpu.Device, images []*tiff.Image, progress func(done, total int)) error {
				o := terrain.Options{Band: d.band - 1, ComputeEdges: d.edges, File: file, Progress: progress}
				return terrain.File(cmd.Context(), dev, args[1], images[0], derivative(), o)
			})
		},
	}
	d.addTo(cmd.Flags())
	cmd.Flags().IntVarP(&d.band, "band", "b", 1, "band, from 1")
	cmd.Flags().BoolVar(&d.edges, "compute_edges", false, "compute pixels at the edges, and next to pixels without data")
	return cmd
}

// scaleUsage is the help of option -s.
const scaleUsage = "units of height per unit of coordinates: 111120 for degrees and meters"

func hillshadeCommand() *cobra.Command {
	var d derivation
	var h terrain.Hillshade
	cmd := d.command("hillshade", "Shade a surface", `hillshade writes the brightness of a surface from 1 to 255; 0 has no data.`, func() terrain.Derivative {
		h.NorthLight = h.Azimuth == 0
		return h
	})
	cmd.Flags().Float64Var(&h.Azimuth, "az", 315, "direction of the light in degrees from the north")
	cmd.Flags().Float64Var(&h.Altitude, "alt", 45, "angle of the light above the horizon in degrees")
	cmd.Flags().Float64VarP(&h.ZFactor, "exaggeration", "z", 1, "factor of heights")
	cmd.Flags().Float64VarP(&h.Scale, "scale", "s", 0, scaleUsage)
	return cmd
}

func slopeCommand() *cobra.Command {
	var d derivation
	var s terrain.Slope
	cmd := d.command("slope", "Compute the slope of a surface", `slope writes the angle of a surface in degrees; -9999 has no data.`, func() terrain.Derivative { return s })
	cmd.Flags().BoolVarP(&s.Percent, "percent", "p", false, "percent instead of degrees")
	cmd.Flags().Float64VarP(&s.Scale, "scale", "s", 0, scaleUsage)
	return cmd
}

func aspectCommand() *cobra.Command {
	var d derivation
	var a terrain.Aspect
	cmd := d.command("aspect", "Compute the direction of a surface", `aspect writes the direction in which a surface goes down, in degrees from the north,
clockwise; -9999 has no data, or is level.`, func() terrain.Derivative { return a })
	cmd.Flags().BoolVar(&a.Trigonometric, "trigonometric", false, "degrees from the east, counterclockwise")
	cmd.Flags().BoolVar(&a.ZeroForFlat, "zero_for_flat", false, "0 instead of -9999")
	return cmd
}

func geoCalcCommand() *cobra.Command {
	var c computation
	var text, noData string
	cmd := &cobra.Command{
		Use:   "calc SOURCE... RESULT",
		Short: "Compute an image from bands, such as NDVI",
		Long: `calc evaluates an expression for each pixel, and writes one band of float32. Bands of
all sources, which have the same size, are b1, b2 and so on. The expression has
numbers, parentheses, min(a,b), max(a,b), abs(a), sqrt(a), where(condition,yes,no), and
operators, from the strongest to the weakest:

  ! - +              not, and signs
  * /
  + -
  < <= > >= == !=    1 or 0
  &&                 and; numbers other than 0 are true
  ||                 or

Creation options (-co) are those of quern geo translate.`,
		Example: `  quern geo calc -calc "(b4-b1)/(b4+b1)" scene.tif ndvi.tif
  quern geo calc -calc "where(b1>=100 && b1<200, 1, 0)" dem.tif zone.tif`,
		Args: sourcesAndResult,
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := c.options()
			if err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			e, err := algebra.Parse(text)
			if err != nil {
				return errUsage{fmt.Errorf("-calc: %w", err), cmd.CommandPath()}
			}
			o := algebra.Options{File: file}
			values, err := noDataValues("-dstnodata", noData)
			if err != nil || len(values) > 1 {
				return errUsage{fmt.Errorf("-dstnodata %s: want one number", noData), cmd.CommandPath()}
			}
			if len(values) == 1 {
				o.NoData = &values[0]
			}
			sources, result := args[:len(args)-1], args[len(args)-1]
			return c.run(cmd, sources, result, func(dev *gpu.Device, images []*tiff.Image, progress func(done, total int)) error {
				o.Progress = progress
				return algebra.File(cmd.Context(), dev, result, images, e, o)
			})
		},
	}
	c.addTo(cmd.Flags())
	cmd.Flags().StringVar(&text, "calc", "", "expression")
	cmd.Flags().StringVar(&noData, "dstnodata", "", "value of pixels without data; NaN if empty")
	return cmd
}
