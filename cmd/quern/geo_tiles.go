//go:build !bootstrap

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quern.dev/geo/raster"
	"quern.dev/geo/wms"
	"quern.dev/gpu"
)

// tiling holds the options of quern geo tiles.
type tiling struct {
	translation            // -q
	first, last            int
	format, ramp, style    string
	device                 string
	bands                  []int
	rescale                []float64
	resampling             string
	exact, overwrite, json bool
}

func geoTilesCommand() *cobra.Command {
	var t tiling
	cmd := &cobra.Command{
		Use:   "tiles SOURCE RESULT.pmtiles",
		Short: "Write map tiles to a PMTiles archive",
		Long: `tiles writes the tiles of an image in Web Mercator to one file, in the format PMTiles 3,
from which maps can be shown without a map server. The source is an image file, or a
folder whose files lie side by side. Tiles without data are left out, and equal tiles
are stored once.`,
		Example: `  quern geo tiles scene.tif scene.pmtiles
  quern geo tiles --max-zoom 14 --format jpg images/ mosaic.pmtiles
  quern geo tiles --ramp terrain --rescale 0,3000 dem.tif dem.pmtiles
  quern geo tiles --style hillshade --format png8 dem.tif hills.pmtiles`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return errUsage{fmt.Errorf("%s: want a file or a folder, and the result", count(len(args), "argument")), cmd.CommandPath()}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := t.export(cmd)
			if err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			return t.write(cmd.Context(), args[0], args[1], e, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&t.first, "min-zoom", -1, "first level; that of the whole image in about a tile by default")
	flags.IntVar(&t.last, "max-zoom", -1, "last level; that of the image's pixels by default")
	flags.StringVar(&t.format, "format", "png", "format of the tiles: png, png8 (up to 256 colors) or jpg")
	flags.IntSliceVarP(&t.bands, "band", "b", nil, "one band or three, from 1")
	flags.Float64SliceVar(&t.rescale, "rescale", nil, "values of the first and the last color: low,high for all bands or each band")
	flags.StringVar(&t.ramp, "ramp", "", "color ramp for one band: "+strings.Join(wms.Ramps(), ", "))
	flags.StringVar(&t.style, "style", "", "shading of heights: "+strings.Join(wms.Shadings(), ", "))
	flags.StringVarP(&t.resampling, "resampling", "r", "bilinear", "resampling method: near or bilinear")
	flags.BoolVar(&t.exact, "exact", false, "compute the exact position of each pixel")
	flags.StringVar(&t.device, "device", "", "device: cuda, cuda:1, cpu or sim; the best one if empty")
	flags.BoolVar(&t.overwrite, "overwrite", false, "replace a result that exists")
	flags.BoolVar(&t.json, "json", false, "describe the result in JSON")
	flags.BoolVarP(&t.quiet, "quiet", "q", false, "no progress")
	return cmd
}

// export makes options of the text.
func (t *tiling) export(cmd *cobra.Command) (e wms.Export, err error) {
	if cmd.Flags().Changed("min-zoom") {
		e.MinZoom = &t.first
	}
	if cmd.Flags().Changed("max-zoom") {
		e.MaxZoom = &t.last
	}
	switch t.format {
	case "png":
	case "png8":
		e.Palette = true
	case "jpg", "jpeg":
		e.JPEG = true
	default:
		return e, fmt.Errorf("--format %s: want png, png8 or jpg", t.format)
	}
	switch t.resampling {
	case "near":
		e.Rendering.Nearest = true
	case "bilinear":
	default:
		return e, fmt.Errorf("-r %s: want near or bilinear", t.resampling)
	}
	if len(t.rescale)%2 != 0 {
		return e, fmt.Errorf("--rescale has %d numbers: want pairs", len(t.rescale))
	}
	for i := 0; i < len(t.rescale); i += 2 {
		e.Rendering.Low, e.Rendering.High = append(e.Rendering.Low, t.rescale[i]), append(e.Rendering.High, t.rescale[i+1])
	}
	e.Rendering.Bands, e.Rendering.Ramp, e.Rendering.Shading = t.bands, t.ramp, t.style
	return e, nil
}

// tilesJSON is the output of quern geo tiles --json.
type tilesJSON struct {
	File    string  `json:"file"`
	Tiles   int     `json:"tiles"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
}

func (t *tiling) write(ctx context.Context, source, result string, e wms.Export, stdout, stderr io.Writer) (err error) {
	layers, err := wms.FindImages(raster.IsImage, source)
	if err != nil {
		return err
	}
	layer := wms.Layer{Name: layers[0].Name}
	for _, l := range layers {
		if len(l.Times) > 0 {
			return fmt.Errorf("layer %s has files of several times; name one of them", l.Name)
		}
		layer.Files = append(layer.Files, l.Files...)
	}
	if err := checkResult(result, t.overwrite, append(layer.Files, source)...); err != nil {
		return err
	}
	dev, err := gpu.Open(gpu.Config{Device: t.device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	s, err := wms.New(dev, wms.Config{Layers: []wms.Layer{layer}, Open: openRaster, TileCache: -1, Exact: t.exact})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	e.Layer = layer.Name
	e.Progress = func(done, total int) { t.progress(stderr, done, total) }
	begin := time.Now()
	own := fmt.Sprintf("%s.%d", result, os.Getpid()) // not that of another process with the same result
	n, err := s.WritePMTiles(ctx, own, e)
	if err != nil {
		return err
	}
	if err := os.Rename(own, result); err != nil {
		return errors.Join(err, os.Remove(own))
	}
	info, err := os.Stat(result)
	if err != nil {
		return err
	}
	out := tilesJSON{result, n, info.Size(), time.Since(begin).Seconds()}
	if t.json {
		return printJSON(stdout, out)
	}
	if !t.quiet {
		fmt.Fprintf(stdout, "%s: %d tiles, %.1f MB in %.1f s\n", out.File, out.Tiles, float64(out.Bytes)/1e6, out.Seconds)
	}
	return nil
}
