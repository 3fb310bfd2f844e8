// Package epsg has an extract of the EPSG Geodetic Parameter Dataset of the International Association of Oil & Gas
// Producers (IOGP), made by generate.py: systems with codes, and Helmert operations between them. The dataset is
// owned by IOGP and may be used under its terms of use, https://epsg.org/terms-of-use.html; its numbers are
// converted here to degrees and meters, and not changed otherwise.
package epsg

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"strconv"
	"strings"
	"sync"
)

//go:embed epsg.txt.gz
var archive []byte

// Key is a kind of row and its code.
type Key struct {
	Kind string
	Code int
}

// Table is the extract.
type Table struct {
	rows map[Key]string
	// Helmert are the rows of operations, in the order of their codes.
	Helmert []Row
	// Datums are the codes of datums by their names and aliases, as Normal returns them.
	Datums map[string]int
}

// Row is the fields after the kind and the code.
type Row struct {
	Code   int
	fields []string
}

// Load returns the table, which is unpacked once.
var Load = sync.OnceValue(func() *Table {
	t := &Table{rows: map[Key]string{}, Datums: map[string]int{}}
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		panic(err) // the archive is part of the program
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(text)) {
		kind, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		first, rest, _ := strings.Cut(rest, "\t")
		code, err := strconv.Atoi(first)
		if err != nil {
			continue // the version
		}
		if kind == "alias" {
			if _, taken := t.Datums[Normal(rest)]; !taken {
				t.Datums[Normal(rest)] = code
			}
			continue
		}
		t.rows[Key{kind, code}] = rest
		switch kind {
		case "helmert":
			t.Helmert = append(t.Helmert, Row{code, strings.Split(rest, "\t")})
		case "datum":
			r := Row{code, strings.Split(rest, "\t")}
			t.Datums[Normal(r.Text(2))] = code
		}
	}
	return t
})

// Greenwich returns the code of the datum that differs from a datum by its prime meridian only, or the datum's own.
func (t *Table) Greenwich(code int) int {
	if r, ok := t.Row("sibling", code); ok {
		return r.Int(0)
	}
	return code
}

// Row returns a row.
func (t *Table) Row(kind string, code int) (Row, bool) {
	text, ok := t.rows[Key{kind, code}]
	if !ok {
		return Row{}, false
	}
	return Row{code, strings.Split(text, "\t")}, true
}

// Codes returns the codes of a kind, in no order.
func (t *Table) Codes(kind string) []int {
	var codes []int
	for k := range t.rows {
		if k.Kind == kind {
			codes = append(codes, k.Code)
		}
	}
	return codes
}

// Len returns the number of fields.
func (r Row) Len() int { return len(r.fields) }

// Text returns a field.
func (r Row) Text(i int) string {
	if i >= len(r.fields) {
		return ""
	}
	return r.fields[i]
}

// Int returns a field, or 0.
func (r Row) Int(i int) int {
	n, _ := strconv.Atoi(r.Text(i))
	return n
}

// Number returns a field, or 0.
func (r Row) Number(i int) float64 {
	f, _ := strconv.ParseFloat(r.Text(i), 64)
	return f
}

// Normal returns a name without case, spaces and punctuation, by which names of different formats are
// compared.
func Normal(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "D_"), "GCS_")
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else if r == '+' {
			b.WriteString("plus") // CH1903+ is not CH1903
		}
	}
	return strings.TrimSuffix(b.String(), "ensemble")
}
