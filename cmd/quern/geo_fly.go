//go:build !bootstrap

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"quern.dev/geo/fly"
	"quern.dev/geo/raster"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
	"quern.dev/video"
)

// flying holds the options of quern geo fly, as text.
type flying struct {
	dem, path, output, device, size, rate, codec, preset, ffmpeg, sun string
	orbit                                                             []float64
	seconds, fov, visibility, exaggeration                            float64
	memory, bitrate                                                   int64
	crf, samples, segments                                            int
	bands                                                             []int
	preview, exact, shadows, overwrite, asJSON, quiet                 bool
}

func geoFlyCommand() *cobra.Command {
	var f flying
	cmd := &cobra.Command{
		Use:   "fly MOSAIC",
		Short: "Film a flight over an orthomosaic",
		Long: `fly renders a flight over a GeoTIFF mosaic that lies on a height field, and writes a
video with ffmpeg. The mosaic and the heights may have different coordinate systems.

The path is a file: JSON with waypoints, or CSV with a line per waypoint. Waypoints
have lon and lat, or x and y in the coordinates of the mosaic; height above the
ground, or altitude; heading and pitch in degrees, or a point to look at. Without a
file, the camera circles around the center: --orbit radius,height in meters.

Images larger than --memory are read from overviews, or reduced. --preview draws with
the GPU's texture units, --exact computes in float64.`,
		Example: `  quern geo fly ortho.tif --dem dsm.tif --path path.json -o flight.mp4
  quern geo fly ortho.tif --dem dsm.tif --orbit 300,120 --duration 30 --sun 135,35 -o orbit.mp4`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := f.parse()
			if err != nil {
				return errUsage{err, cmd.CommandPath()}
			}
			return f.run(cmd.Context(), args[0], o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.dem, "dem", "", "GeoTIFF file of heights in meters")
	flags.StringVar(&f.path, "path", "", "file of the path: .json or .csv")
	flags.Float64SliceVar(&f.orbit, "orbit", nil, "circle around the center instead of a path: radius,height in meters")
	flags.StringVarP(&f.output, "output", "o", "", "video to write: .mp4, .mov, .mkv or .webm")
	flags.StringVar(&f.size, "size", "1920x1080", "size of a frame in pixels")
	flags.StringVar(&f.rate, "fps", "30", "frames per second: a number, or a fraction such as 30000/1001")
	flags.Float64Var(&f.seconds, "duration", 0, "seconds; 0 means what the path says, or 20")
	flags.Float64Var(&f.fov, "fov", 0, "horizontal angle of view in degrees; 0 means what the path says, or 60")
	flags.StringVar(&f.codec, "codec", "auto", "encoder: x264, av1, h264-nvenc, hevc-nvenc, or auto (NVENC if there is one)")
	flags.IntVar(&f.crf, "crf", 0, "quality: lower is better; 0 means the default of the encoder")
	flags.Int64Var(&f.bitrate, "bitrate", 0, "bits per second, instead of a quality")
	flags.StringVar(&f.preset, "encoder-preset", "", "speed of the encoder, by its own name")
	flags.IntVar(&f.segments, "segments", 1, "encoders that work at the same time")
	flags.StringVar(&f.ffmpeg, "ffmpeg", "", "ffmpeg program; ffprobe is expected beside it")
	flags.StringVar(&f.sun, "sun", "", "light: azimuth,elevation in degrees")
	flags.BoolVar(&f.shadows, "shadows", false, "the terrain casts shadows; needs --sun")
	flags.Float64Var(&f.visibility, "visibility", 0, "distance in meters at which haze leaves a third of the light; 0 means no haze")
	flags.Float64Var(&f.exaggeration, "exaggeration", 1, "factor of the heights")
	flags.IntSliceVar(&f.bands, "band", nil, "bands of red, green and blue, from 1; or one")
	flags.IntVar(&f.samples, "samples", 1, "rays per pixel in each direction")
	flags.BoolVar(&f.preview, "preview", false, "read the mosaic with texture units: faster, less exact")
	flags.BoolVar(&f.exact, "exact", false, "compute positions and weights in float64")
	flags.Int64Var(&f.memory, "memory", 2048, "memory for the scene in MiB")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace a video that exists")
	flags.StringVar(&f.device, "device", "", "device: cuda, cuda:1, cpu or sim; the best one if empty")
	flags.BoolVar(&f.asJSON, "json", false, "describe the result in JSON")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	return cmd
}

// flightOptions are the checked options.
type flightOptions struct {
	scene fly.Options
	film  fly.FilmOptions
	path  *fly.Path // nil means an orbit
}

// parse makes options of the text. It reads the path.
func (f *flying) parse() (o flightOptions, err error) {
	for _, need := range [][2]string{{"--dem", f.dem}, {"--output", f.output}} {
		if need[1] == "" {
			return o, fmt.Errorf("%s is missing", need[0])
		}
	}
	w, h, ok := strings.Cut(f.size, "x")
	width, errW := strconv.Atoi(w)
	height, errH := strconv.Atoi(h)
	if !ok || errW != nil || errH != nil || width < 2 || height < 2 || width%2 != 0 || height%2 != 0 {
		return o, fmt.Errorf("--size %s: want an even width and height, such as 1920x1080", f.size)
	}
	num, den, _ := strings.Cut(f.rate, "/")
	rate := video.Rate{Den: 1}
	rate.Num, err = strconv.Atoi(num)
	if err == nil && den != "" {
		rate.Den, err = strconv.Atoi(den)
	}
	if err != nil || rate.Num <= 0 || rate.Den <= 0 {
		return o, fmt.Errorf("--fps %s: want a number, or a fraction", f.rate)
	}
	codec, ok := video.ParseCodec(f.codec)
	if !ok {
		return o, fmt.Errorf("--codec %s: want x264, av1, h264-nvenc, hevc-nvenc or auto", f.codec)
	}
	if f.preview && f.exact {
		return o, errors.New("--preview and --exact: want one of them")
	}
	if !(f.exaggeration > 0) || !(f.seconds >= 0) || !(f.fov >= 0) || !(f.visibility >= 0) || f.segments < 1 || f.memory < 1 {
		return o, errors.New("--exaggeration, --segments and --memory must be positive; --duration, --fov and --visibility not negative")
	}
	o.scene = fly.Options{Memory: f.memory << 20, HeightScale: f.exaggeration, Preview: f.preview}
	for _, b := range f.bands {
		o.scene.Bands = append(o.scene.Bands, b-1)
	}
	if f.sun != "" {
		sun := fly.Sun{Ambient: 0.4, Shadows: f.shadows}
		if n, err := fmt.Sscanf(f.sun, "%g,%g", &sun.Azimuth, &sun.Elevation); n != 2 || err != nil {
			return o, fmt.Errorf("--sun %s: want azimuth,elevation", f.sun)
		}
		o.scene.Sun = &sun
	} else if f.shadows {
		return o, errors.New("--shadows needs --sun")
	}
	tools := video.Tools{FFmpeg: f.ffmpeg}
	if f.ffmpeg != "" {
		tools.FFprobe = filepath.Join(filepath.Dir(f.ffmpeg), "ffprobe")
	}
	o.film = fly.FilmOptions{
		View:     fly.View{Width: width, Height: height, Samples: f.samples, Visibility: f.visibility},
		Video:    video.Options{Tools: tools, Rate: rate, Codec: codec, CRF: f.crf, Bitrate: f.bitrate, Preset: f.preset, FastStart: true},
		Segments: f.segments,
	}
	switch {
	case f.preview:
		o.film.View.Sampling = fly.Texture
	case f.exact:
		o.film.View.Sampling = fly.Float64
	}
	if len(f.orbit) != 0 && len(f.orbit) != 2 {
		return o, fmt.Errorf("--orbit has %d numbers: want radius,height", len(f.orbit))
	}
	if f.path == "" {
		return o, nil
	}
	if f.orbit != nil {
		return o, errors.New("--path and --orbit: want one of them")
	}
	o.path, err = readPath(f.path)
	return o, err
}

func readPath(name string) (*fly.Path, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--path: %w", err)
	}
	defer file.Close()
	if strings.EqualFold(filepath.Ext(name), ".csv") {
		return fly.ReadCSV(file)
	}
	return fly.ReadJSON(file)
}

// flightJSON is the output of quern geo fly --json.
type flightJSON struct {
	File       string  `json:"file"`
	Bytes      int64   `json:"bytes"`
	Width      int     `json:"width"`
	Height     int     `json:"height"`
	Frames     int     `json:"frames"`
	Seconds    float64 `json:"seconds"`
	Meters     float64 `json:"path_meters"`
	Codec      string  `json:"codec"`
	Device     string  `json:"device"`
	Mosaic     [2]int  `json:"mosaic_in_memory"`
	RenderRate float64 `json:"render_fps"`
	Rate       float64 `json:"fps"`
	Wait       float64 `json:"encoder_wait_seconds"`
	Limit      string  `json:"limit"` // "encoder" or "renderer"
}

func (f *flying) run(ctx context.Context, mosaic string, o flightOptions, stdout, stderr io.Writer) (err error) {
	if err := checkResult(f.output, f.overwrite, mosaic, f.dem); err != nil {
		return err
	}
	var images [2]*tiff.Image
	for i, name := range []string{mosaic, f.dem} {
		file, err := raster.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		images[i] = file.Image()
	}
	dev, err := gpu.Open(gpu.Config{Device: f.device})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.Close()) }()
	scene, err := fly.Load(ctx, dev, images[0], images[1], o.scene)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scene.Close()) }()
	flight, err := f.plan(scene, o.path)
	if err != nil {
		return err
	}
	show := translation{quiet: f.quiet}
	o.film.Progress = func(done, total int) { show.progress(stderr, done, total) }
	stats, err := fly.Film(ctx, flight, f.output, o.film)
	if err != nil {
		return err
	}
	return f.report(stats, flight, scene, dev, o, stdout)
}

func (f *flying) plan(scene *fly.Scene, path *fly.Path) (*fly.Flight, error) {
	if path == nil {
		x, y := scene.Center()
		width, height := scene.Size()
		radius := 0.4 * min(width, height)
		orbit := []float64{radius, 0.5 * radius}
		if f.orbit != nil {
			orbit = f.orbit
		}
		var err error
		if path, err = fly.Orbit(scene, fly.Map(x, y, 0), orbit[0], orbit[1]); err != nil {
			return nil, err
		}
	}
	if f.seconds > 0 {
		path.Seconds = f.seconds
	}
	if f.fov > 0 {
		path.FieldOfView = f.fov
	}
	return scene.Plan(path)
}

func (f *flying) report(stats fly.Stats, flight *fly.Flight, scene *fly.Scene, dev *gpu.Device, o flightOptions, stdout io.Writer) error {
	info, err := os.Stat(f.output)
	if err != nil {
		return err
	}
	w, h := scene.Texels()
	j := flightJSON{File: f.output, Bytes: info.Size(), Width: o.film.View.Width, Height: o.film.View.Height, Frames: stats.Frames, Seconds: stats.Wall.Seconds(),
		Meters: flight.Length(), Codec: string(stats.Codec), Device: dev.Name(), Mosaic: [2]int{w, h}, RenderRate: stats.RenderRate(), Rate: stats.Rate(),
		Wait: stats.Wait.Seconds(), Limit: "renderer"}
	if stats.EncoderIsTheLimit() {
		j.Limit = "encoder"
	}
	if f.asJSON {
		return printJSON(stdout, j)
	}
	limit := ""
	if j.Limit == "encoder" {
		limit = "; the encoder is the limit"
	}
	fmt.Fprintf(stdout, "%s: %d frames of %d x %d, %s, %.1f MB\n", j.File, j.Frames, j.Width, j.Height, j.Codec, float64(j.Bytes)/1e6)
	fmt.Fprintf(stdout, "  %.1f frames/s drawn on %s, %.1f frames/s with encoding%s\n", j.RenderRate, j.Device, j.Rate, limit)
	return nil
}
