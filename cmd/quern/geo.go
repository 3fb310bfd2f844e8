package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"quern.dev/geo/crs"
	"quern.dev/geo/gdal"
	"quern.dev/geo/raster"
	"quern.dev/geo/tiff"
)

func geoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "geo",
		Short: "Work with images of the Earth",
		Long: `geo has the commands for georeferenced images. Sources are GeoTIFF files, PNG and JPEG
with world files, and through an installed GDAL every other format that it reads, such
as netCDF, HDF, JPEG 2000, ENVI and VRT, also by names such as NETCDF:"file.nc":variable.
QUERN_GDAL names the file of GDAL's library if it is not found.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(geoInfoCommand(), geoTranslateCommand(), geoOverviewsCommand())
	cmd.AddCommand(compiledGeo()...)
	return cmd
}

func geoInfoCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info FILE",
		Short: "Describe an image file",
		Long: `info prints the size, type, storage, georeference, overviews, masks and metadata of
each image of a file, and the names of the datasets in it. It reads no pixels.`,
		Example: `  quern geo info image.tif
  quern geo info --json image.tif`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			info, err := describeName(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), info)
			}
			info.print(cmd.OutOrStdout())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// checkResult refuses a result that is a source, whatever name it has, or that exists and must not be replaced. Sources are all
// files that a command reads; those that are "" do not count.
func checkResult(result string, overwrite bool, sources ...string) error {
	info, err := os.Stat(result)
	switch {
	case result != "" && slices.Contains(sources, result):
		return fmt.Errorf("%s is a source and the result; name another result", result)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder; name a file", result)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is a device or a pipe, which a file would replace; name a file", result)
	}
	for _, name := range sources {
		for _, file := range filesOf(name) {
			if source, err := os.Stat(file); err == nil && os.SameFile(source, info) {
				return fmt.Errorf("%s is a source and the result, %s; name another result", name, result)
			}
		}
	}
	if !overwrite {
		return fmt.Errorf("%s exists; -overwrite replaces it", result)
	}
	return nil
}

// filesOf returns a source's name, and what may be the name of a file in it, as in NETCDF:"file.nc":variable, HDF5:file.h5://variable and
// /vsizip/file.zip/image.tif.
func filesOf(name string) []string {
	all := []string{name}
	if quoted := strings.Split(name, `"`); len(quoted) == 3 {
		return append(all, quoted[1])
	}
	parts := strings.Split(name, ":")
	for i := range parts {
		for end := i + 1; end <= len(parts) && len(parts) > 1; end++ {
			if part := strings.Join(parts[i:end], ":"); !strings.HasPrefix(part, "//") { // a host
				all = append(all, part)
			}
		}
	}
	for rest := name; strings.HasPrefix(rest, "/vsi"); { // a file system of GDAL, or one in another
		_, rest, _ = strings.Cut(rest[1:], "/")
		for path := rest; path != ""; path = path[:max(strings.LastIndex(path, "/"), 0)] {
			all = append(all, path)
		}
	}
	return all
}

// oneFile accepts one argument.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errUsage{fmt.Errorf("%s: want the name of one file", count(len(args), "argument")), cmd.CommandPath()}
	}
	return nil
}

// fileJSON is the output of quern geo info --json.
type fileJSON struct {
	File        string           `json:"file"`
	Format      string           `json:"format"`
	Title       string           `json:"format_title,omitempty"`
	BigTIFF     bool             `json:"big_tiff"`
	BigEndian   bool             `json:"big_endian"`
	Images      []imageJSON      `json:"images"`
	Subdatasets []subdatasetJSON `json:"subdatasets,omitempty"`
	Warnings    []string         `json:"warnings,omitempty"`
}

// subdatasetJSON is a part of a file that commands open by its name.
type subdatasetJSON struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type imageJSON struct {
	Width       int        `json:"width"`
	Height      int        `json:"height"`
	Bands       int        `json:"bands"`
	Type        string     `json:"type"`
	Bits        int        `json:"bits,omitempty"` // if fewer than the type has
	Compression string     `json:"compression,omitempty"`
	Predictor   int        `json:"predictor,omitempty"`
	Interleave  string     `json:"interleave"`
	Block       [2]int     `json:"block"`
	Strips      bool       `json:"strips"`
	NoData      string     `json:"nodata,omitempty"`
	Mask        bool       `json:"mask"`
	Palette     int        `json:"palette_colors,omitempty"`
	EPSG        int        `json:"epsg,omitempty"`
	Citation    string     `json:"citation,omitempty"`
	Transform   []float64  `json:"transform,omitempty"` // in GDAL's order
	PixelPoint  bool       `json:"pixel_is_point"`
	Points      int        `json:"control_points,omitempty"`
	RPC         bool       `json:"rpc"`
	Overviews   [][2]int   `json:"overviews,omitempty"`
	Metadata    []metaJSON `json:"metadata,omitempty"`
}

type metaJSON struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Domain string `json:"domain,omitempty"`
	Band   *int   `json:"band,omitempty"`
}

// describeName describes the file of a name, also one that has only subdatasets.
func describeName(name string) (fileJSON, error) {
	f, err := raster.Open(name)
	var parts *gdal.SubdatasetsError
	if errors.As(err, &parts) {
		out := fileJSON{File: name, Images: []imageJSON{}}
		out.addSubdatasets(parts.Subdatasets)
		return out, nil
	}
	if err != nil {
		return fileJSON{}, err
	}
	defer f.Close()
	return describeFile(name, f), nil
}

func (j *fileJSON) addSubdatasets(all []gdal.Subdataset) {
	for _, s := range all {
		j.Subdatasets = append(j.Subdatasets, subdatasetJSON(s))
	}
}

func describeFile(name string, f *raster.File) fileJSON {
	out := fileJSON{File: name, Format: f.Format, Title: f.Title, Warnings: f.Warnings}
	if f.TIFF() {
		out.BigTIFF, out.BigEndian = f.BigTIFF(), f.BigEndian()
	}
	out.addSubdatasets(f.Subdatasets)
	for _, im := range f.Images() {
		j := describeImage(im)
		if !f.TIFF() { // the storage is not that of the file
			j.Compression, j.Predictor = "", 0
		}
		out.Images = append(out.Images, j)
	}
	return out
}

func describeImage(im *tiff.Image) imageJSON {
	j := imageJSON{Width: im.Width, Height: im.Height, Bands: im.Bands, Type: im.Type.String(), Bits: im.Bits,
		Compression: im.Compression.String(), Predictor: int(im.Predictor), Interleave: "PIXEL", Block: [2]int{im.BlockWidth, im.BlockHeight},
		Strips: im.Strips, NoData: im.NoData, Mask: im.Mask() != nil, Palette: len(im.Palette), PixelPoint: im.Geo.PixelIsPoint(),
		Points: len(im.Geo.ControlPoints()), RPC: im.RPC != nil}
	if im.Layout == tiff.ByBand {
		j.Interleave = "BAND"
	}
	if code, ok := im.Geo.Keys.EPSG(); ok {
		j.EPSG = code
	}
	for _, key := range []tiff.GeoKey{tiff.GTCitation, tiff.ProjectedCitation, tiff.GeodeticCitation} {
		if text, ok := im.Geo.Keys.Text(key); ok && j.Citation == "" {
			j.Citation = text
		}
	}
	if a, ok := im.Geo.Affine(); ok {
		j.Transform = a[:]
	}
	for _, o := range im.Overviews() {
		j.Overviews = append(j.Overviews, [2]int{o.Width, o.Height})
	}
	for _, item := range im.Metadata {
		m := metaJSON{Name: item.Name, Value: item.Value, Domain: item.Domain}
		if item.Band >= 0 {
			m.Band = &item.Band
		}
		j.Metadata = append(j.Metadata, m)
	}
	return j
}

func (j fileJSON) print(w io.Writer) {
	kind := "TIFF"
	switch {
	case len(j.Images) == 0:
		kind = fmt.Sprintf("%d datasets", len(j.Subdatasets))
	case j.Title != "":
		kind = fmt.Sprintf("%s (%s), through GDAL", j.Format, j.Title)
	case j.Format != "GTiff":
		kind = j.Format
	case j.BigTIFF:
		kind = "BigTIFF"
	}
	fmt.Fprintf(w, "%s: %s\n", j.File, kind)
	for i, im := range j.Images {
		if len(j.Images) > 1 {
			fmt.Fprintf(w, "image %d\n", i)
		}
		im.print(w)
	}
	for _, s := range j.Subdatasets {
		fmt.Fprintf(w, "  dataset      %s  %s\n", s.Name, s.Description)
	}
	for _, text := range j.Warnings {
		fmt.Fprintf(w, "  warning      %s\n", text)
	}
}

func (j imageJSON) print(w io.Writer) {
	blocks := "tiles"
	if j.Strips {
		blocks = "strips"
	}
	fmt.Fprintf(w, "  size         %d x %d pixels, %s of %s\n", j.Width, j.Height, count(j.Bands, "band"), j.Type)
	if j.Compression != "" {
		fmt.Fprintf(w, "  storage      %s, predictor %d, interleave %s, %s of %d x %d\n", j.Compression, j.Predictor, j.Interleave, blocks, j.Block[0], j.Block[1])
	}
	if j.NoData != "" {
		fmt.Fprintf(w, "  nodata       %s\n", j.NoData)
	}
	if j.Mask {
		fmt.Fprintln(w, "  mask         yes")
	}
	switch {
	case j.EPSG != 0:
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  system       EPSG:%d %s", j.EPSG, j.Citation), " "))
	case j.Citation != "":
		fmt.Fprintf(w, "  system       %s\n", j.Citation)
	}
	if t := j.Transform; t != nil {
		fmt.Fprintf(w, "  origin       %.15g, %.15g\n", t[0], t[3])
		fmt.Fprintf(w, "  pixel        %.15g, %.15g\n", t[1], t[5])
		if t[2] != 0 || t[4] != 0 {
			fmt.Fprintf(w, "  rotation     %.15g, %.15g\n", t[2], t[4])
		}
	}
	if j.Points > 0 {
		fmt.Fprintf(w, "  points       %d ground control points\n", j.Points)
	}
	if j.RPC {
		fmt.Fprintln(w, "  rpc          yes")
	}
	if len(j.Overviews) > 0 {
		var sizes []string
		for _, o := range j.Overviews {
			sizes = append(sizes, fmt.Sprintf("%d x %d", o[0], o[1]))
		}
		fmt.Fprintf(w, "  overviews    %s\n", strings.Join(sizes, ", "))
	}
	for _, m := range j.Metadata {
		name := m.Name
		if m.Domain != "" {
			name = m.Domain + ":" + name
		}
		if m.Band != nil {
			name = fmt.Sprintf("band %d %s", *m.Band+1, name)
		}
		fmt.Fprintf(w, "  metadata     %s = %s\n", name, m.Value)
	}
}

// system is an option that names a coordinate system.
type system struct {
	name, text string
	to         **crs.CRS
}

// parseSystems sets those that are given.
func parseSystems(systems ...system) error {
	for _, s := range systems {
		if s.text == "" {
			continue
		}
		c, err := crs.Parse(s.text)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		*s.to = c
	}
	return nil
}

// counted is an option of several numbers.
type counted struct {
	name  string
	n, of int
}

// checkCounts reports options with a wrong number of values.
func checkCounts(lists ...counted) error {
	for _, l := range lists {
		if l.n != 0 && l.n != l.of {
			return fmt.Errorf("%s has %s: want %d", l.name, count(l.n, "number"), l.of)
		}
	}
	return nil
}

// severalValues are the options of GDAL's programs that take several arguments.
var severalValues = map[string]int{"-te": 4, "-tr": 2, "-ts": 2, "-outsize": 2, "-projwin": 4, "-srcwin": 4, "-a_ullr": 4}

// joinedArguments joins the values of options that GDAL's programs take as several arguments: -tr 10 10 becomes --tr=10,10.
func joinedArguments(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		name := strings.Replace(args[i], "--", "-", 1)
		n := severalValues[name]
		if name == "-scale" && slices.Contains(args[:i], "translate") { // none, two or four
			n = min(numbers(args[i+1:]), 4) &^ 1
			if n == 0 {
				out = append(out, args[i])
				continue
			}
		}
		if n == 0 || i+n >= len(args) || strings.Contains(args[i+1], ",") {
			out = append(out, args[i])
			continue
		}
		out = append(out, "--"+strings.TrimLeft(args[i], "-")+"="+strings.Join(args[i+1:i+1+n], ","))
		i += n
	}
	return out
}

// numbers counts the arguments that are numbers, up to the first that is not.
func numbers(args []string) int {
	for i, a := range args {
		if _, err := strconv.ParseFloat(a, 64); err != nil {
			return i
		}
	}
	return len(args)
}

// noDataValues parses one number or several.
func noDataValues(name, text string) ([]float64, error) {
	var values []float64
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' }) {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return nil, fmt.Errorf("%s %s: want a number, or one per band", name, text)
		}
		values = append(values, v)
	}
	return values, nil
}

// describeResult prints the size of a result and how long it took.
func describeResult(stdout io.Writer, name string, im *tiff.Image, begin time.Time, where string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: %d x %d pixels, %s of %s, %.1f MB in %.2f s%s\n", name, im.Width, im.Height, count(im.Bands, "band"), im.Type,
		float64(info.Size())/1e6, time.Since(begin).Seconds(), where)
	return err
}

// describeNamed is describeResult for a file that is not open.
func describeNamed(stdout io.Writer, name string, begin time.Time) error {
	f, err := raster.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(describeResult(stdout, name, f.Image(), begin, ""), f.Close())
}
