package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"quern.dev/geo/tiff"
)

func geoCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "geo",
		Short: "Work with GeoTIFF images",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(geoInfoCommand(), geoTranslateCommand(), geoOverviewsCommand())
	cmd.AddCommand(compiledGeo()...)
	return cmd
}

func geoInfoCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "info FILE",
		Short: "Describe a GeoTIFF file",
		Long: `info prints the size, type, storage, georeference, overviews, masks and metadata of
each image of a TIFF file. It reads no pixels.`,
		Example: `  quern geo info image.tif
  quern geo info --json image.tif`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := tiff.Open(args[0])
			if err != nil {
				return err
			}
			defer f.Close()
			info := describeFile(args[0], f)
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

// oneFile accepts one argument.
func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errUsage{fmt.Errorf("%d arguments: want the name of one file", len(args)), cmd.CommandPath()}
	}
	return nil
}

// fileJSON is the output of quern geo info --json.
type fileJSON struct {
	File      string      `json:"file"`
	BigTIFF   bool        `json:"big_tiff"`
	BigEndian bool        `json:"big_endian"`
	Images    []imageJSON `json:"images"`
}

type imageJSON struct {
	Width       int        `json:"width"`
	Height      int        `json:"height"`
	Bands       int        `json:"bands"`
	Type        string     `json:"type"`
	Bits        int        `json:"bits,omitempty"` // if fewer than the type has
	Compression string     `json:"compression"`
	Predictor   int        `json:"predictor"`
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

func describeFile(name string, f *tiff.File) fileJSON {
	out := fileJSON{File: name, BigTIFF: f.BigTIFF(), BigEndian: f.BigEndian()}
	for _, im := range f.Images() {
		out.Images = append(out.Images, describeImage(im))
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
	j.EPSG, _ = im.Geo.Keys.EPSG()
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
	if j.BigTIFF {
		kind = "BigTIFF"
	}
	fmt.Fprintf(w, "%s: %s\n", j.File, kind)
	for i, im := range j.Images {
		if len(j.Images) > 1 {
			fmt.Fprintf(w, "image %d\n", i)
		}
		im.print(w)
	}
}

func (j imageJSON) print(w io.Writer) {
	blocks := "tiles"
	if j.Strips {
		blocks = "strips"
	}
	fmt.Fprintf(w, "  size         %d x %d pixels, %d bands of %s\n", j.Width, j.Height, j.Bands, j.Type)
	fmt.Fprintf(w, "  storage      %s, predictor %d, interleave %s, %s of %d x %d\n", j.Compression, j.Predictor, j.Interleave, blocks, j.Block[0], j.Block[1])
	if j.NoData != "" {
		fmt.Fprintf(w, "  nodata       %s\n", j.NoData)
	}
	if j.Mask {
		fmt.Fprintln(w, "  mask         yes")
	}
	if j.EPSG != 0 || j.Citation != "" {
		fmt.Fprintf(w, "  system       EPSG:%d %s\n", j.EPSG, j.Citation)
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

// severalValues are the options of gdalwarp that take several arguments.
var severalValues = map[string]int{"-te": 4, "-tr": 2, "-ts": 2}

// warpArguments joins the values of options that gdalwarp takes as several arguments: -tr 10 10 becomes --tr=10,10.
func warpArguments(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		n := severalValues[strings.Replace(args[i], "--", "-", 1)]
		if n == 0 || i+n >= len(args) || strings.Contains(args[i+1], ",") {
			out = append(out, args[i])
			continue
		}
		out = append(out, "--"+strings.TrimLeft(args[i], "-")+"="+strings.Join(args[i+1:i+1+n], ","))
		i += n
	}
	return out
}
