package worldfile

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
)

// sidecarBytes is how large a .prj or an .aux.xml may be.
const sidecarBytes = 16 << 20

// auxiliary is what this package knows of GDAL's .aux.xml.
type auxiliary struct {
	XMLName   xml.Name   `xml:"PAMDataset"`
	SRS       string     `xml:"SRS,omitempty"`
	Transform string     `xml:"GeoTransform,omitempty"`
	Metadata  []metadata `xml:"Metadata"`
	Bands     []auxBand  `xml:"PAMRasterBand"`
}

type metadata struct {
	Domain string `xml:"domain,attr,omitempty"`
	Items  []item `xml:"MDI"`
}

type item struct {
	Key   string `xml:"key,attr"`
	Value string `xml:",chardata"`
}

type auxBand struct {
	Band        int        `xml:"band,attr"`
	Description string     `xml:"Description,omitempty"`
	NoData      string     `xml:"NoDataValue,omitempty"`
	Unit        string     `xml:"UnitType,omitempty"`
	Offset      string     `xml:"Offset,omitempty"`
	Scale       string     `xml:"Scale,omitempty"`
	Metadata    []metadata `xml:"Metadata"`
}

// place adds to the header of an image what the files beside it say.
func place(name string, h *tiff.Header) error {
	aux, err := readAuxiliary(name)
	if err != nil {
		return err
	}
	system, from := aux.SRS, name+".aux.xml"
	if system == "" {
		if system, from, err = readProjection(name); err != nil {
			return err
		}
	}
	if strings.TrimSpace(system) != "" {
		if h.Geo.Keys, err = keys(system); err != nil {
			return fmt.Errorf("worldfile: %s: the coordinate system: %w", from, err)
		}
	}
	point := false
	for _, m := range aux.Metadata {
		for _, i := range m.Items {
			if m.Domain == "" && i.Key == "AREA_OR_POINT" {
				point = i.Value == "Point"
			} else if m.Domain != "IMAGE_STRUCTURE" && !strings.Contains(m.Domain, ":") {
				h.Metadata = append(h.Metadata, tiff.Item{Domain: m.Domain, Band: -1, Name: i.Key, Value: i.Value})
			}
		}
	}
	if point && len(h.Geo.Keys) > 0 {
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsPoint})
	}
	aux.bands(h)
	if a, ok := parseTransform(aux.Transform); ok {
		h.Geo.SetAffine(a)
		return nil
	}
	f, err := openFirst(worldNames(name)...)
	if err != nil || f == nil {
		return err
	}
	defer f.Close()
	a, err := Read(f)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	h.Geo.SetAffine(a)
	return nil
}

// keys are the GeoKeys of a definition.
func keys(text string) (tiff.GeoKeys, error) {
	c, err := crs.Parse(text)
	if err != nil {
		return nil, err
	}
	return c.GeoKeys()
}

func readAuxiliary(name string) (*auxiliary, error) {
	aux := new(auxiliary)
	f, err := openFirst(name + ".aux.xml")
	if err != nil || f == nil {
		return aux, err
	}
	defer f.Close()
	d := xml.NewDecoder(io.LimitReader(f, sidecarBytes))
	if err := d.Decode(aux); err != nil {
		return nil, failf(ErrFormat, "%s: %v", f.Name(), err)
	}
	return aux, nil
}

// readProjection reads a .prj file.
func readProjection(name string) (text, from string, err error) {
	base := name[:strings.LastIndexByte(name, '.')]
	f, err := openFirst(base + ".prj")
	if err != nil || f == nil {
		return "", "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, sidecarBytes))
	return string(b), f.Name(), err
}

func parseTransform(text string) (a tiff.Affine, ok bool) {
	fields := strings.Split(text, ",")
	if len(fields) != 6 {
		return a, false
	}
	for i, field := range fields {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil {
			return a, false
		}
		a[i] = v
	}
	return a, true
}

// bands adds the metadata of bands.
func (aux *auxiliary) bands(h *tiff.Header) {
	for _, b := range aux.Bands {
		if b.Band < 1 || b.Band > h.Bands {
			continue
		}
		if v := strings.TrimSpace(b.NoData); v != "" && h.NoData == "" {
			h.NoData = v
		}
		add := func(name, role, value string) {
			if value != "" {
				h.Metadata = append(h.Metadata, tiff.Item{Band: b.Band - 1, Name: name, Role: role, Value: value})
			}
		}
		for _, m := range b.Metadata {
			for _, i := range m.Items {
				if m.Domain == "" {
					add(i.Key, "", i.Value)
				}
			}
		}
		add("SCALE", "scale", b.Scale)
		add("OFFSET", "offset", b.Offset)
		add("UNITTYPE", "unittype", b.Unit)
		add("DESCRIPTION", "description", b.Description)
	}
}

// formatAuxiliary makes an .aux.xml. It is nil if there is nothing to say.
func formatAuxiliary(h *tiff.Header) ([]byte, error) {
	aux := &auxiliary{}
	if code, ok := h.Geo.Keys.EPSG(); ok {
		aux.SRS = fmt.Sprintf("EPSG:%d", code)
	}
	if a, ok := h.Geo.Affine(); ok {
		var text []string
		for _, v := range a {
			text = append(text, strconv.FormatFloat(v, 'e', 16, 64))
		}
		aux.Transform = strings.Join(text, ", ")
	}
	domains := map[string]int{}
	list := func(domain string) *metadata {
		if _, ok := domains[domain]; !ok {
			domains[domain] = len(aux.Metadata)
			aux.Metadata = append(aux.Metadata, metadata{Domain: domain})
		}
		return &aux.Metadata[domains[domain]]
	}
	if h.Geo.PixelIsPoint() {
		list("").Items = append(list("").Items, item{"AREA_OR_POINT", "Point"})
	}
	bands := make([]auxBand, h.Bands)
	for i := range bands {
		bands[i] = auxBand{Band: i + 1, NoData: h.NoData}
	}
	for _, m := range h.Metadata {
		switch {
		case m.Band < 0:
			list(m.Domain).Items = append(list(m.Domain).Items, item{m.Name, m.Value})
		case m.Band >= h.Bands || m.Domain != "":
		default:
			bands[m.Band].add(m)
		}
	}
	for _, b := range bands {
		if b.NoData != "" || b.Description != "" || b.Unit != "" || b.Offset != "" || b.Scale != "" || b.Metadata != nil {
			aux.Bands = append(aux.Bands, b)
		}
	}
	if aux.SRS == "" && aux.Transform == "" && aux.Metadata == nil && aux.Bands == nil {
		return nil, nil
	}
	text, err := xml.MarshalIndent(aux, "", "  ")
	return append(text, '\n'), err
}

func (b *auxBand) add(m tiff.Item) {
	switch m.Role {
	case "scale":
		b.Scale = m.Value
	case "offset":
		b.Offset = m.Value
	case "unittype":
		b.Unit = m.Value
	case "description":
		b.Description = m.Value
	case "":
		if b.Metadata == nil {
			b.Metadata = []metadata{{}}
		}
		b.Metadata[0].Items = append(b.Metadata[0].Items, item{m.Name, m.Value})
	}
}
