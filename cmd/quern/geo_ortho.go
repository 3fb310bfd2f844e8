//go:build !bootstrap

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"quern.dev/geo/ortho"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

// rectification holds the options of quern geo ortho, as text.
type rectification struct {
	computation
	placement
	imaging
	srcNoData, dstNoData string
	errorThreshold       float64
	alpha, multi         bool
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
	r.computation.addTo(flags)
	r.addPlacement(flags, "surface model")
	r.imaging.addTo(flags)
	flags.StringVar(&r.srcNoData, "srcnodata", "", "value of source pixels without data, or one per band")
	flags.StringVar(&r.dstNoData, "dstnodata", "", "value of result pixels without data, or one per band")
	flags.BoolVar(&r.alpha, "dstalpha", false, "add an alpha band; the default without values for no data")
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
	if err := r.check(); err != nil {
		return o, err
	}
	return o, parseSystems(system{"-t_srs", r.target, &o.Target})
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
	names := []string{result}
	if folder {
		if names, err = orthoNames(sources, result); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := checkResult(name, r.overwrite, slices.Concat(sources, r.files())...); err != nil {
			return err
		}
	}
	return r.with(func(dev *gpu.Device) error {
		return r.rectifyAll(cmd, dev, sources, names, func(ctx context.Context, i int, images []*tiff.Image, progress func(done, total int)) error {
			sensor, err := r.sensor(shots, sources[i], images[0])
			if err != nil {
				return err
			}
			o := o
			o.Memory /= int64(min(len(sources), atOnce))
			o.Progress = progress
			out, err := ortho.New(ctx, dev, images[0], sensor, surface, o)
			if err != nil {
				return err
			}
			if err = checkSpace(cmd.ErrOrStderr(), names[i], out.Header(), o.File, r.quiet); err == nil {
				err = out.WriteFile(ctx, names[i])
			}
			return errors.Join(err, out.Close())
		})
	})
}

// orthoNames returns the names of results in a folder.
func orthoNames(sources []string, folder string) ([]string, error) {
	var names []string
	for i, source := range sources {
		base := filepath.Base(source)
		name := filepath.Join(folder, strings.TrimSuffix(base, filepath.Ext(base))+"_ORTHO.tif")
		if k := slices.Index(names, name); k >= 0 {
			return nil, fmt.Errorf("%s and %s would both be written to %s; use two folders", sources[k], sources[i], name)
		}
		names = append(names, name)
	}
	return names, nil
}

// atOnce is how many images are under way: while one is opened, the others keep the device and the cores busy.
const atOnce = 3

// rectifyAll computes the results, several at a time, and describes them in their order. The first error ends all.
func (r *rectification) rectifyAll(cmd *cobra.Command, dev *gpu.Device, sources, names []string, compute func(ctx context.Context, i int, images []*tiff.Image, progress func(done, total int)) error) error {
	group, ctx := errgroup.WithContext(cmd.Context())
	group.SetLimit(atOnce)
	var mu sync.Mutex
	done := make([]float64, len(sources)) // parts of the images
	texts := make([]*bytes.Buffer, len(sources))
	shown := 0
	for i, source := range sources {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			var stdout, stderr bytes.Buffer
			err := r.runOn(&stdout, &stderr, dev, []string{source}, names[i], func(dev *gpu.Device, images []*tiff.Image, _ func(done, total int)) error {
				return compute(ctx, i, images, func(rows, total int) {
					mu.Lock()
					defer mu.Unlock()
					done[i] = float64(rows) / float64(total)
					all := 0.0
					for _, part := range done {
						all += part
					}
					r.progress(cmd.ErrOrStderr(), int(all*1000), len(done)*1000)
				})
			})
			mu.Lock()
			defer mu.Unlock()
			r.clearProgress(cmd.ErrOrStderr())
			cmd.ErrOrStderr().Write(stderr.Bytes())
			texts[i] = &stdout
			for ; shown < len(texts) && texts[shown] != nil; shown++ {
				cmd.OutOrStdout().Write(texts[shown].Bytes())
			}
			switch parent := cmd.Context(); {
			case err == nil:
				return nil
			case parent.Err() != nil:
				return context.Cause(parent)
			}
			return fmt.Errorf("%s: %w", source, err)
		})
	}
	return group.Wait()
}
