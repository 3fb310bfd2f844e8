// Command mosaic measures time and memory of a mosaic with few images in a large extent.
//
//	go run ./bench/mosaic [-size 100000] [-images 200] [-side 2048] [-device cpu] [-of COG] [-folder DIR] [-limit MiB]
//
// It generates images of one scene, in clusters of images that overlap, and joins them with seams, gains and multiband blending,
// in another process, whose peak memory it prints. With -limit it fails if the peak is above.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"quern.dev/geo/mosaic"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/gpu"
)

var (
	size   = flag.Int("size", 100000, "width and height of the mosaic in pixels")
	images = flag.Int("images", 200, "number of images")
	side   = flag.Int("side", 2048, "width and height of an image in pixels")
	device = flag.String("device", "", "device; the best one if empty")
	format = flag.String("of", "GTiff", "format: GTiff or COG")
	folder = flag.String("folder", "", "folder for the files; a temporary one if empty")
	limit  = flag.Int("limit", 0, "most memory in MiB, or 0 for any")
	join   = flag.Bool("join", false, "join the images in the folder; the program calls itself so")
)

const originX, originY, pixel = 500000.0, 5300000.0, 0.1

func main() {
	flag.Parse()
	log.SetFlags(0)
	if *join {
		if err := joinImages(); err != nil {
			log.Fatal(err)
		}
		return
	}
	if *folder == "" {
		var err error
		if *folder, err = os.MkdirTemp("", "mosaic"); err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(*folder)
	}
	start := time.Now()
	for i := range *images {
		if err := generate(i); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("%d images of %d x %d pixels generated in %.1f s\n", *images, *side, *side, time.Since(start).Seconds())
	cmd := exec.Command(os.Args[0], append([]string{"-join"}, os.Args[1:]...)...)
	cmd.Args = append(cmd.Args, "-folder", *folder)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		log.Fatal(err)
	}
}

// generate writes an image: image i is one of nine in a cluster, with a brightness of its own.
func generate(i int) error {
	clusters := (*images + 8) / 9
	across := int(math.Ceil(math.Sqrt(float64(clusters))))
	cluster, k := i/9, i%9
	room := *size / across
	x := cluster%across*room + k%3**side*3/5
	y := cluster/across*room + k/3**side*3/5
	if i == *images-1 { // the last one reaches the corner
		x, y = *size-*side, *size-*side
	}
	h := tiff.Header{Width: *side, Height: *side, Bands: 3, Type: tiff.Uint8, Photometric: tiff.RGB}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{originX + float64(x)*pixel, pixel, 0, originY - float64(y)*pixel, 0, -pixel})
	w, err := tiff.Create(filepath.Join(*folder, fmt.Sprintf("image%04d.tif", i)), h, tiff.Options{Compression: tiff.ZSTD, Level: 1})
	if err != nil {
		return err
	}
	defer w.Abort()
	gain := 0.9 + 0.02*float64(i%10)
	row := make([]byte, *side*3)
	for j := range *side {
		for c := range *side {
			u, v := x+c, y+j
			n := float64(uint32(u*374761393+v*668265263)>>24) / 16
			s := 110 + 60*math.Sin(float64(u)/80)*math.Cos(float64(v)/60) + n
			for b := range 3 {
				row[c*3+b] = byte(gain * (s + 10*float64(b)))
			}
		}
		if err := w.WriteRows(context.Background(), tiff.Rows{Pixels: row}); err != nil {
			return err
		}
	}
	return w.Close()
}

func joinImages() (err error) {
	names, err := filepath.Glob(filepath.Join(*folder, "image*.tif"))
	if err != nil {
		return err
	}
	var sources []mosaic.Source
	for _, name := range names {
		f, err := tiff.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		sources = append(sources, mosaic.Source{Image: f.Image()})
	}
	dev, err := gpu.Open(gpu.Config{Device: *device})
	if err != nil {
		return err
	}
	defer dev.Close()
	result := filepath.Join(*folder, "mosaic.tif")
	o := mosaic.Options{Order: mosaic.Nearest, Seams: true, Balance: mosaic.Gain, Blend: mosaic.Multiband, Resampling: warp.Bilinear,
		Extent: &warp.Extent{MinX: originX, MinY: originY - float64(*size)*pixel, MaxX: originX + float64(*size)*pixel, MaxY: originY}, Resolution: [2]float64{pixel, pixel}}
	o.File.COG = *format == "COG"
	start := time.Now()
	if err := mosaic.File(context.Background(), dev, result, sources, o); err != nil {
		return err
	}
	seconds := time.Since(start).Seconds()
	info, err := os.Stat(result)
	if err != nil {
		return err
	}
	f, err := tiff.Open(result)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Printf("%s: %d x %d pixels, %d overviews, %d MiB, from %d images on %s\n", filepath.Base(result), f.Image().Width, f.Image().Height,
		len(f.Image().Overviews()), info.Size()>>20, len(sources), dev.Backend())
	fmt.Printf("%.1f s, %.1f Mpx of sources per second\n", seconds, float64(len(sources)**side**side)/1e6/seconds)
	peak, err := peakMemory()
	if err != nil {
		return err
	}
	fmt.Printf("peak memory %d MiB\n", peak)
	if *limit > 0 && peak > *limit {
		return fmt.Errorf("the peak is above %d MiB", *limit)
	}
	return nil
}

// peakMemory returns the most resident memory of the process in MiB.
func peakMemory() (int, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			return n >> 10, err
		}
	}
	return 0, fmt.Errorf("/proc/self/status has no VmHWM")
}
