package tiff

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Item is an entry of GDAL's metadata. Band is the band that it belongs to, from 0, or
// -1 for the whole image. Role is empty or what the value is to the band: "offset",
// "scale", "unittype", "description" or "colorinterp".
type Item struct {
	Domain string
	Band   int
	Name   string
	Role   string
	Value  string
}

// readMetadata reads everything that does not decide how pixels are read.
func (im *Image) readMetadata(d *directory) error {
	for _, t := range []struct {
		tag Tag
		to  *string
	}{{ImageDescription, &im.Description}, {Software, &im.Software}, {DateTime, &im.DateTime}, {GDALNoData, &im.NoData}} {
		text, err := d.text(t.tag)
		if err != nil {
			return err
		}
		*t.to = text
	}
	im.NoData = strings.TrimSpace(im.NoData)
	var err error
	if im.Geo, err = readGeoreference(d); err != nil {
		return err
	}
	if im.RPC, err = readRPC(d); err != nil {
		return err
	}
	im.Metadata, err = readItems(d)
	return err
}

func readItems(d *directory) ([]Item, error) {
	text, err := d.text(GDALMetadata)
	if err != nil || text == "" {
		return nil, err
	}
	items, err := parseItems(text)
	if err != nil {
		return nil, d.damaged(GDALMetadata, d.entries[GDALMetadata].offset, "the XML cannot be read").because(err)
	}
	return items, nil
}

// parseItems reads GDAL's XML.
func parseItems(text string) ([]Item, error) {
	var items []Item
	decoder := xml.NewDecoder(strings.NewReader(text))
	decoder.Strict = false
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return items, nil
		}
		if err != nil {
			return nil, err
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "Item" {
			continue
		}
		item := Item{Band: -1}
		for _, a := range start.Attr {
			switch a.Name.Local {
			case "name":
				item.Name = a.Value
			case "domain":
				item.Domain = a.Value
			case "role":
				item.Role = a.Value
			case "sample":
				if _, err := fmt.Sscanf(a.Value, "%d", &item.Band); err != nil {
					return nil, fmt.Errorf("item %q has sample %q", item.Name, a.Value)
				}
			}
		}
		if err := decoder.DecodeElement(&item.Value, &start); err != nil {
			return nil, err
		}
		item.Value = unescape(item.Value)
		items = append(items, item)
	}
}

// unescape undoes the second escaping that GDAL applies to values.
func unescape(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&").Replace(s)
}

var escaper = strings.NewReplacer("<", "&lt;", ">", "&gt;", `"`, "&quot;", "&", "&amp;")

// formatItems writes GDAL's XML.
func formatItems(items []Item) string {
	if len(items) == 0 {
		return ""
	}
	var b strings.Builder
	attribute := func(name, value string) {
		b.WriteString(" " + name + `="`)
		_ = xml.EscapeText(&b, []byte(value)) // a strings.Builder returns no errors
		b.WriteString(`"`)
	}
	b.WriteString("<GDALMetadata>\n")
	for _, item := range items {
		b.WriteString("  <Item")
		attribute("name", item.Name)
		if item.Band >= 0 {
			attribute("sample", fmt.Sprint(item.Band))
		}
		if item.Role != "" {
			attribute("role", item.Role)
		}
		if item.Domain != "" {
			attribute("domain", item.Domain)
		}
		b.WriteString(">")
		_ = xml.EscapeText(&b, []byte(escaper.Replace(item.Value)))
		b.WriteString("</Item>\n")
	}
	b.WriteString("</GDALMetadata>\n")
	return b.String()
}

// RPC is a camera model of rational polynomials: the line of a point is
// LineNum/LineDen of its normalized latitude, longitude and height, and so on.
type RPC struct {
	ErrBias, ErrRand                                       float64 // metres
	LineOff, SampOff, LatOff, LongOff, HeightOff           float64 // pixels, degrees, metres
	LineScale, SampScale, LatScale, LongScale, HeightScale float64
	LineNum, LineDen, SampNum, SampDen                     [20]float64
}

// scalars are the numbers before the coefficients, in the order of the tag.
func (r *RPC) scalars() []*float64 {
	return []*float64{&r.ErrBias, &r.ErrRand, &r.LineOff, &r.SampOff, &r.LatOff, &r.LongOff, &r.HeightOff,
		&r.LineScale, &r.SampScale, &r.LatScale, &r.LongScale, &r.HeightScale}
}

func (r *RPC) coefficients() []*[20]float64 {
	return []*[20]float64{&r.LineNum, &r.LineDen, &r.SampNum, &r.SampDen}
}

// rpcValues is the number of values of the tag RPCCoefficient.
const rpcValues = 92

func readRPC(d *directory) (*RPC, error) {
	v, err := d.floats(RPCCoefficients)
	if err != nil || v == nil {
		return nil, err
	}
	if len(v) != rpcValues {
		return nil, d.damaged(RPCCoefficients, d.entries[RPCCoefficients].at, "%d values instead of %d", len(v), rpcValues)
	}
	r := new(RPC)
	for _, p := range r.scalars() {
		*p, v = v[0], v[1:]
	}
	for _, p := range r.coefficients() {
		v = v[copy(p[:], v):]
	}
	return r, nil
}

// values returns the values of the tag.
func (r *RPC) values() []float64 {
	v := make([]float64, 0, rpcValues)
	for _, p := range r.scalars() {
		v = append(v, *p)
	}
	for _, p := range r.coefficients() {
		v = append(v, p[:]...)
	}
	return v
}
