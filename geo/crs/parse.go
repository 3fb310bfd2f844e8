package crs

import (
	"strconv"
	"strings"
)

// Parse returns the system that a text describes: "EPSG:32633", "urn:ogc:def:crs:EPSG::32633", "OGC:CRS84", WKT 1 (also
// of Esri), WKT 2, PROJJSON or a PROJ string such as "+proj=utm +zone=33 +datum=WGS84". Definitions count as they are
// written; codes in them identify the datum and the area.
func Parse(text string) (*CRS, error) {
	c, err := parse(text)
	if err == nil && c.code == 0 {
		c.text = text
	}
	return c, err
}

func parse(text string) (*CRS, error) {
	const op = "parse"
	text = strings.TrimSpace(strings.TrimRight(text, "\x00"))
	switch {
	case text == "":
		return nil, failure(ErrFormat, op, "", "the text is empty")
	case len(text) > maxText:
		return nil, failure(ErrFormat, op, "", "the text has %d bytes; %d are supported", len(text), maxText)
	case text[0] == '{':
		return parsePROJJSON(text)
	case isPROJ(text):
		return parsePROJ(text)
	case strings.ContainsAny(text, "[("):
		return parseWKT(text)
	}
	upper := strings.ToUpper(text)
	switch upper {
	case "OGC:CRS84", "CRS:84", "CRS84", "URN:OGC:DEF:CRS:OGC:1.3:CRS84", "HTTP://WWW.OPENGIS.NET/DEF/CRS/OGC/1.3/CRS84":
		c, err := EPSG(4326)
		if err != nil {
			return nil, err
		}
		c.name, c.code, c.axes = "WGS 84 (CRS84)", 0, "EN"
		return c, nil
	}
	rest := upper
	for _, prefix := range []string{"HTTP://WWW.OPENGIS.NET/DEF/CRS/", "HTTPS://WWW.OPENGIS.NET/DEF/CRS/", "URN:OGC:DEF:CRS:"} {
		rest = strings.TrimPrefix(rest, prefix)
	}
	fields := strings.FieldsFunc(rest, func(r rune) bool { return r == ':' || r == '/' })
	if len(fields) >= 2 && len(fields) <= 3 && fields[0] == "EPSG" {
		code, err := strconv.Atoi(fields[len(fields)-1])
		if err == nil {
			return EPSG(code)
		}
	}
	if code, err := strconv.Atoi(text); err == nil && code > 0 {
		return nil, failure(ErrFormat, op, text, "a code needs its authority: EPSG:%d", code)
	}
	return nil, failure(ErrFormat, op, strconv.Quote(text[:min(len(text), 60)]), "the text is not a code of EPSG, WKT, PROJJSON or a PROJ string")
}
