package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// table is a stream of readings in CSV format.
type table struct {
	name   string
	buffer *bufio.Reader
	rows   *csv.Reader
	closer io.Closer // may be nil

	sensor, value, anomaly int // columns; anomaly is -1 if there is none
}

func openTable(name string) (*table, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	t, err := newTable(name, f, f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

// newTable returns a table. It reads the header row.
func newTable(name string, r io.Reader, closer io.Closer) (*table, error) {
	t := &table{name: name, buffer: bufio.NewReaderSize(r, 1<<16), closer: closer}
	t.rows = csv.NewReader(t.buffer)
	t.rows.ReuseRecord = true
	t.rows.TrimLeadingSpace = true
	header, err := t.rows.Read()
	if err == io.EOF {
		return nil, fmt.Errorf("%s: the file is empty; its first row must name the columns, including sensor and value", name)
	}
	if err != nil {
		return nil, t.wrong(err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	column := func(name string) int {
		return slices.IndexFunc(header, func(h string) bool { return strings.EqualFold(strings.TrimSpace(h), name) })
	}
	t.sensor, t.value, t.anomaly = column("sensor"), column("value"), column("anomaly")
	for what, at := range map[string]int{"sensor": t.sensor, "value": t.value} {
		if at < 0 {
			return nil, fmt.Errorf("%s:1: there is no column %q; the first row names the columns %q", name, what, header)
		}
	}
	return t, nil
}

func (t *table) judged() bool { return t.anomaly >= 0 }

func (t *table) close() error {
	if t.closer == nil {
		return nil
	}
	return t.closer.Close()
}

// read returns early instead of waiting for more input.
func (t *table) read(ctx context.Context, batch []sample) (int, error) {
	for i := range batch {
		if i > 0 && t.buffer.Buffered() == 0 {
			return i, nil
		}
		s, err := t.row()
		if err != nil {
			return i, err
		}
		batch[i] = s
	}
	return len(batch), ctx.Err()
}

// row reads one reading.
func (t *table) row() (s sample, err error) {
	row, err := t.rows.Read()
	if err == io.EOF {
		return s, err
	}
	if err != nil {
		return s, t.wrong(err)
	}
	if s.sensor = strings.Clone(strings.TrimSpace(row[t.sensor])); s.sensor == "" {
		return s, t.at(t.sensor, "the sensor is empty")
	}
	text := strings.TrimSpace(row[t.value])
	s.value, err = strconv.ParseFloat(text, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return s, t.at(t.value, "value %q of sensor %s is too large for a float64", text, s.sensor)
	case err != nil:
		return s, t.at(t.value, "value %q of sensor %s is not a number", text, s.sensor)
	case math.IsNaN(s.value) || math.IsInf(s.value, 0):
		return s, t.at(t.value, "value %q of sensor %s is not finite; omit missing readings", text, s.sensor)
	}
	if t.anomaly >= 0 {
		text := strings.TrimSpace(row[t.anomaly])
		if s.strange, err = strconv.ParseBool(text); err != nil {
			return s, t.at(t.anomaly, "anomaly %q is neither 0 nor 1", text)
		}
	}
	return s, nil
}

// at returns an error for a field of the last row.
func (t *table) at(field int, format string, args ...any) error {
	line, column := t.rows.FieldPos(field)
	return fmt.Errorf("%s:%d:%d: %s", t.name, line, column, fmt.Sprintf(format, args...))
}

// wrong adds the file name to an error of package csv.
func (t *table) wrong(err error) error {
	if p, ok := errors.AsType[*csv.ParseError](err); ok {
		return fmt.Errorf("%s:%d:%d: %w", t.name, p.Line, p.Column, p.Err)
	}
	return fmt.Errorf("%s: %w", t.name, err)
}
