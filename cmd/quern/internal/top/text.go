package top

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// style is an SGR parameter of ANSI terminals.
type style string

const (
	plain   style = ""
	bold    style = "1"
	dim     style = "2"
	reverse style = "7"
	red     style = "31"
	green   style = "32"
	yellow  style = "33"
	cyan    style = "36"
)

// Look is what a terminal can show.
type Look struct {
	Color   bool
	Unicode bool
	Plain   bool // no control sequences at all
}

// line is a line of text that is at most as wide as the terminal.
type line struct {
	look Look
	b    strings.Builder
	room int // columns left
}

// put appends s, or as much of it as there is room for.
func (l *line) put(st style, s string) {
	if n := utf8.RuneCountInString(s); n > l.room {
		s = string([]rune(s)[:l.room])
	}
	if s == "" {
		return
	}
	l.room -= utf8.RuneCountInString(s)
	if !l.look.Unicode {
		s = strings.Map(func(r rune) rune {
			if r >= utf8.RuneSelf {
				return '?'
			}
			return r
		}, s)
	}
	styled := st != plain && !l.look.Plain && (l.look.Color || st == bold || st == dim || st == reverse)
	if styled {
		fmt.Fprintf(&l.b, "\x1b[%sm", st)
	}
	l.b.WriteString(s)
	if styled {
		l.b.WriteString("\x1b[0m")
	}
}

func (l *line) putf(st style, format string, args ...any) { l.put(st, fmt.Sprintf(format, args...)) }

// fit returns s in exactly n columns.
func fit(s string, n int, right bool) string {
	w := utf8.RuneCountInString(s)
	switch {
	case n <= 0:
		return ""
	case w > n:
		return string([]rune(s)[:n])
	case right:
		return strings.Repeat(" ", n-w) + s
	}
	return s + strings.Repeat(" ", n-w)
}

var (
	eighths = []rune(" ▏▎▍▌▋▊▉█")
	levels  = []rune(" ▁▂▃▄▅▆▇█")
	shades  = []rune(" .:-=+*#@")
)

// bar returns a bar of n columns. fraction is from 0 to 1.
func (look Look) bar(fraction float64, n int) string {
	fraction = min(max(fraction, 0), 1)
	if !look.Unicode {
		full := int(math.Round(fraction * float64(n)))
		return strings.Repeat("#", full) + strings.Repeat(".", n-full)
	}
	cells := make([]rune, n)
	for i := range cells {
		part := min(max(fraction*float64(n)-float64(i), 0), 1)
		cells[i] = eighths[int(math.Round(part*8))]
	}
	return string(cells)
}

// chart returns a chart of the given height, from the top down. Values are from 0 to most;
// absent ones are NaN. The newest value is on the right.
func (look Look) chart(values []float64, most float64, width, height int) []string {
	rows := make([]string, height)
	cells := make([]rune, width)
	for row := range rows {
		for i := range cells {
			cells[i] = ' '
			at := len(values) - width + i
			if at < 0 || math.IsNaN(values[at]) || most <= 0 {
				continue
			}
			filled := values[at]/most*float64(height) - float64(height-1-row)
			part := min(max(filled, 0), 1)
			level := int(math.Ceil(part * 8))
			switch {
			case look.Unicode:
				cells[i] = levels[level]
			case height > 1 && part >= 0.5:
				cells[i] = '#'
			case height == 1:
				cells[i] = shades[level]
			}
		}
		rows[row] = string(cells)
	}
	return rows
}
