//go:build !bootstrap

package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"quern.dev/geo/crs"
	"quern.dev/geo/ortho"
	"quern.dev/geo/raster"
	"quern.dev/geo/tiff"
)

// imaging holds the options that say where images were taken from, and of what surface, as text.
type imaging struct {
	dem, demSystem, height               string
	heightOffset, heightScale, tolerance float64
	reconstruction, cameras, exterior    string
	exteriorSystem                       string
	transformer                          []string
	rpc, seeThrough                      bool
}

func (i *imaging) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&i.dem, "dem", "", "surface model")
	flags.StringVar(&i.demSystem, "dem_srs", "", "coordinate system of the surface model, instead of the file's")
	flags.StringVar(&i.height, "height", "", "height of a level surface, instead of -dem")
	flags.Float64Var(&i.heightOffset, "height_offset", 0, "meters to add to heights")
	flags.Float64Var(&i.heightScale, "height_scale", 0, "factor of heights")
	flags.StringVar(&i.reconstruction, "reconstruction", "", "reconstruction of OpenSfM or ODM")
	flags.StringVar(&i.cameras, "cameras", "", "cameras of OpenSfM or ODM")
	flags.StringVar(&i.exterior, "exterior", "", "table of poses")
	flags.StringVar(&i.exteriorSystem, "a_srs", "", "coordinate system of -exterior; that of the surface model if empty")
	flags.BoolVar(&i.rpc, "rpc", false, "use the rational polynomials of the images")
	flags.StringArrayVar(&i.transformer, "to", nil, "RPC_DEM=FILE, RPC_HEIGHT=VALUE or RPC_HEIGHT_SCALE=VALUE")
	flags.BoolVar(&i.seeThrough, "see_through", false, "do not test what the surface hides")
	flags.Float64Var(&i.tolerance, "tolerance", 0, "meters by which the surface may be above a line of sight")
}

// check parses the options that can be checked without files.
func (i *imaging) check() error {
	if err := i.parseTransformer(); err != nil {
		return err
	}
	switch {
	case (i.dem == "") == (i.height == ""):
		return errors.New("want -dem with a surface model, or -height with a number")
	case i.reconstruction != "" && i.exterior != "":
		return errors.New("-reconstruction and -exterior: give one of them")
	case i.exterior != "" && i.cameras == "":
		return errors.New("-exterior needs -cameras")
	case i.rpc && (i.reconstruction != "" || i.exterior != ""):
		return errors.New("-rpc and poses of cameras: give one of them")
	}
	return nil
}

// parseTransformer reads gdalwarp's option -to.
func (i *imaging) parseTransformer() error {
	for _, option := range i.transformer {
		name, value, _ := strings.Cut(option, "=")
		switch strings.ToUpper(name) {
		case "RPC_DEM":
			i.dem = value
		case "RPC_HEIGHT":
			i.height = value
		case "RPC_HEIGHT_SCALE":
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return fmt.Errorf("-to %s: want a number", option)
			}
			i.heightScale = v
		default:
			return fmt.Errorf("-to %s: want RPC_DEM, RPC_HEIGHT or RPC_HEIGHT_SCALE", option)
		}
	}
	return nil
}

// files returns the names of the files that the options have, or "".
func (i *imaging) files() []string { return []string{i.dem, i.reconstruction, i.cameras, i.exterior} }

// surface opens the surface model.
func (i *imaging) surface(cmd *cobra.Command) (s *ortho.Surface, system *crs.CRS, closeFile func(), err error) {
	closeFile = func() {}
	if i.height != "" {
		h, err := strconv.ParseFloat(i.height, 64)
		if err != nil {
			return nil, nil, closeFile, fmt.Errorf("-height %s: want a number", i.height)
		}
		return ortho.Flat(h + i.heightOffset), nil, closeFile, nil
	}
	o := ortho.SurfaceOptions{Scale: i.heightScale, Offset: i.heightOffset}
	if i.demSystem != "" {
		if o.CRS, err = crs.Parse(i.demSystem); err != nil {
			return nil, nil, closeFile, fmt.Errorf("-dem_srs: %w", err)
		}
	}
	f, err := raster.Open(i.dem)
	if err != nil {
		return nil, nil, closeFile, err
	}
	closeFile = func() { f.Close() }
	if s, err = ortho.NewSurface(cmd.Context(), f.Image(), o); err != nil {
		closeFile()
		return nil, nil, func() {}, err
	}
	return s, s.CRS(), closeFile, nil
}

// shots reads the poses of cameras: none with RPC.
func (i *imaging) shots(demSystem *crs.CRS) ([]ortho.Shot, error) {
	var cameras map[string]ortho.Camera
	if i.cameras != "" {
		f, err := os.Open(i.cameras)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if cameras, err = ortho.ReadCameras(f); err != nil {
			return nil, fmt.Errorf("%s: %w", i.cameras, err)
		}
	}
	name := i.reconstruction + i.exterior
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var shots []ortho.Shot
	if i.reconstruction != "" {
		shots, err = ortho.ReadReconstruction(f, cameras, nil)
	} else {
		own := demSystem
		if i.exteriorSystem != "" {
			if own, err = crs.Parse(i.exteriorSystem); err != nil {
				return nil, fmt.Errorf("-a_srs: %w", err)
			}
		}
		shots, err = ortho.ReadExterior(f, own, cameras)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return shots, nil
}

func (i *imaging) sensor(shots []ortho.Shot, source string, im *tiff.Image) (*ortho.Sensor, error) {
	if shots == nil {
		if im.RPC == nil {
			return nil, errors.New("the image has no RPC (rational polynomials); quern geo ortho takes poses of cameras with -reconstruction or -exterior")
		}
		return ortho.RPC(im.RPC, im.Width, im.Height)
	}
	shot, err := ortho.Find(shots, source)
	if err != nil {
		return nil, err
	}
	return shot.Sensor()
}
