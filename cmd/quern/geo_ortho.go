//go:build !bootstrap

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"quern.dev/geo/crs"
	"quern.dev/geo/ortho"
	"quern.dev/geo/raster"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

// rectification holds the options of quern geo ortho, as text.
type rectification struct {
	computation
	placement
	dem, demSystem, height               string
	heightOffset, heightScale, tolerance float64
	reconstruction, cameras, exterior    string
	exteriorSystem, srcNoData, dstNoData string
	transformer                          []string
	errorThreshold                       float64
	alpha, rpc, multi, seeThrough        bool
}

func geoOrthoCommand() *cobra.Command {
	var r rectification
	cmd := &cobra.Command{
		Use:   "ortho SOURCE... RESULT",
		Short: "Orthorectify images of cameras and satellites",
		Long: `ortho computes what an image would show if every point were seen from above: an image
on a map. It needs a surface model (-dem), or a height (-height), and where the image was
taken from:

  -reconstruction FILE   reconstruction.json of OpenSfM or ODM, with the names of images;
                         -cameras FILE replaces its cameras by those of ODM's cameras.json
  -exterior FILE         a table of filename,x,y,z,omega,phi,kappa[,camera] in -a_srs, with
                         -cameras FILE
  -rpc                   the rational polynomials of the image itself; the default

What the surface hides from the camera has no data, unless -see_through is given. Heights
have to be above the same surface as those of the camera: above the ellipsoid for RPC.
-height_offset adds the height of the geoid if it is not.

Several sources are written to a folder, with _ORTHO.tif appended to their names.
Options with the names of gdalwarp have its meaning, among them -to RPC_DEM=FILE,
RPC_HEIGHT=VALUE and RPC_HEIGHT_SCALE=VALUE. Creation options (-co) are those of quern
geo translate.`,
		Example: `  quern geo ortho -dem dsm.tif -reconstruction reconstruction.json -r cubic images/*.tif orthos/
  quern geo ortho -rpc -dem dem.tif -height_offset 47.2 -t_srs EPSG:32633 -r bilinear scene.tif ortho.tif`,
		Args: sourcesAndResult,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := r.parse()
			if err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			return r.rectify(cmd, args[:len(args)-1], args[len(args)-1], o)
		},
	}
	flags := cmd.Flags()
	r.addTo(flags)
	r.addPlacement(flags, "surface model")
	flags.StringVar(&r.dem, "dem", "", "surface model")
	flags.StringVar(&r.demSystem, "dem_srs", "", "coordinate system of the surface model, instead of the file's")
	flags.StringVar(&r.height, "height", "", "height of a level surface, instead of -dem")
	flags.Float64Var(&r.heightOffset, "height_offset", 0, "meters to add to heights")
	flags.Float64Var(&r.heightScale, "height_scale", 0, "factor of heights")
	flags.StringVar(&r.reconstruction, "reconstruction", "", "reconstruction of OpenSfM or ODM")
	flags.StringVar(&r.cameras, "cameras", "", "cameras of OpenSfM or ODM")
	flags.StringVar(&r.exterior, "exterior", "", "table of poses")
	flags.StringVar(&r.exteriorSystem, "a_srs", "", "coordinate system of -exterior; that of the surface model if empty")
	flags.BoolVar(&r.rpc, "rpc", false, "use the rational polynomials of the images")
	flags.StringArrayVar(&r.transformer, "to", nil, "RPC_DEM=FILE, RPC_HEIGHT=VALUE or RPC_HEIGHT_SCALE=VALUE")
	flags.StringVar(&r.srcNoData, "srcnodata", "", "value of source pixels without data, or one per band")
	flags.StringVar(&r.dstNoData, "dstnodata", "", "value of result pixels without data, or one per band")
	flags.BoolVar(&r.alpha, "dstalpha", false, "add an alpha band; the default without values for no data")
	flags.BoolVar(&r.seeThrough, "see_through", false, "do not test what the surface hides")
	flags.Float64Var(&r.tolerance, "tolerance", 0, "meters by which the surface may be above a line of sight")
	flags.Float64Var(&r.errorThreshold, "et", 0, "accepted and not used: the transform is exact")
	flags.BoolVar(&r.multi, "multi", false, "accepted and not used: all cores are used")
	return cmd
}

func (r *rectification) parse() (o ortho.Options, err error) {
	at, err := r.place()
	if err != nil {
		return o, err
	}
	if o.File, err = r.options(); err != nil {
		return o, err
	}
	o.Resampling, o.Extent, o.Resolution, o.AlignPixels, o.Shift, o.Memory = at.resampling, at.extent, at.resolution, r.align, at.shift, at.memory
	o.Alpha = r.alpha
	o.SeeThrough, o.Tolerance = r.seeThrough, r.tolerance
	if o.SourceNoData, err = noDataValues("-srcnodata", r.srcNoData); err != nil {
		return o, err
	}
	if o.NoData, err = noDataValues("-dstnodata", r.dstNoData); err != nil {
		return o, err
	}
	if err := r.parseTransformer(); err != nil {
		return o, err
	}
	switch {
	case (r.dem == "") == (r.height == ""):
		return o, errors.New("want -dem with a surface model, or -height with a number")
	case r.reconstruction != "" && r.exterior != "":
		return o, errors.New("-reconstruction and -exterior: give one of them")
	case r.exterior != "" && r.cameras == "":
		return o, errors.New("-exterior needs -cameras")
	case r.rpc && (r.reconstruction != "" || r.exterior != ""):
		return o, errors.New("-rpc and poses of cameras: give one of them")
	}
	return o, parseSystems(system{"-t_srs", r.target, &o.Target})
}

// parseTransformer reads gdalwarp's option -to.
func (r *rectification) parseTransformer() error {
	for _, option := range r.transformer {
		name, value, _ := strings.Cut(option, "=")
		switch strings.ToUpper(name) {
		case "RPC_DEM":
			r.dem = value
		case "RPC_HEIGHT":
			r.height = value
		case "RPC_HEIGHT_SCALE":
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return fmt.Errorf("-to %s: want a number", option)
			}
			r.heightScale = v
		default:
			return fmt.Errorf("-to %s: want RPC_DEM, RPC_HEIGHT or RPC_HEIGHT_SCALE", option)
		}
	}
	return nil
}

// surface opens the surface model.
func (r *rectification) surface(cmd *cobra.Command) (s *ortho.Surface, system *crs.CRS, closeFile func(), err error) {
	closeFile = func() {}
	if r.height != "" {
		h, err := strconv.ParseFloat(r.height, 64)
		if err != nil {
			return nil, nil, closeFile, fmt.Errorf("-height %s: want a number", r.height)
		}
		return ortho.Flat(h + r.heightOffset), nil, closeFile, nil
	}
	o := ortho.SurfaceOptions{Scale: r.heightScale, Offset: r.heightOffset}
	if r.demSystem != "" {
		if o.CRS, err = crs.Parse(r.demSystem); err != nil {
			return nil, nil, closeFile, fmt.Errorf("-dem_srs: %w", err)
		}
	}
	f, err := raster.Open(r.dem)
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
func (r *rectification) shots(demSystem *crs.CRS) ([]ortho.Shot, error) {
	var cameras map[string]ortho.Camera
	if r.cameras != "" {
		f, err := os.Open(r.cameras)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if cameras, err = ortho.ReadCameras(f); err != nil {
			return nil, fmt.Errorf("%s: %w", r.cameras, err)
		}
	}
	name := r.reconstruction + r.exterior
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var shots []ortho.Shot
	if r.reconstruction != "" {
		shots, err = ortho.ReadReconstruction(f, cameras, nil)
	} else {
		own := demSystem
		if r.exteriorSystem != "" {
			if own, err = crs.Parse(r.exteriorSystem); err != nil {
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

// rectify writes one result, or several to a folder.
func (r *rectification) rectify(cmd *cobra.Command, sources []string, result string, o ortho.Options) error {
	surface, system, closeSurface, err := r.surface(cmd)
	if err != nil {
		return err
	}
	defer closeSurface()
	shots, err := r.shots(system)
	if err != nil {
		return err
	}
	info, err := os.Stat(result)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	folder := err == nil && info.IsDir()
	if !folder && len(sources) > 1 {
		return fmt.Errorf("%s is not a folder, which %d results need", result, len(sources))
	}
	return r.with(func(dev *gpu.Device) error {
		for _, source := range sources {
			name := result
			if folder {
				base := filepath.Base(source)
				name = filepath.Join(result, strings.TrimSuffix(base, filepath.Ext(base))+"_ORTHO.tif")
			}
			err := r.runOn(cmd, dev, []string{source}, name, func(dev *gpu.Device, images []*tiff.Image, progress func(done, total int)) error {
				sensor, err := r.sensor(shots, source, images[0])
				if err != nil {
					return err
				}
				o := o
				o.Progress = progress
				return ortho.File(cmd.Context(), dev, name, images[0], sensor, surface, o)
			})
			if err != nil {
				return fmt.Errorf("%s: %w", source, err)
			}
		}
		return nil
	})
}

func (r *rectification) sensor(shots []ortho.Shot, source string, im *tiff.Image) (*ortho.Sensor, error) {
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
