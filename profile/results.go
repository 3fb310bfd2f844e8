package profile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Results are the results of several benchmarks.
type Results []Result

// WriteJSON writes the results with all samples, for [ReadResults].
func (list Results) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "\t")
	if err := enc.Encode(list); err != nil {
		return fmt.Errorf("profile: write results: %w", err)
	}
	return nil
}

// ReadResults reads what WriteJSON has written, or the output of go test -bench. There, the
// lines of one name are its samples, and ns/op is the time.
func ReadResults(r io.Reader) (Results, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("profile: read results: %w", err)
	}
	var list Results
	if b := bytes.TrimSpace(text); len(b) > 0 && b[0] == '[' {
		if err := json.Unmarshal(b, &list); err != nil {
			return nil, fmt.Errorf("profile: read results: %w", err)
		}
		for i := range list {
			for _, x := range list[i].Samples {
				if !(x >= 0) || math.IsInf(x, 0) {
					return nil, fmt.Errorf("profile: read results: %s has a time of %v ns", list[i].Name, x)
				}
			}
		}
	} else if list, err = readGoBenchmarks(text); err != nil {
		return nil, fmt.Errorf("profile: read results: %w", err)
	}
	for i := range list {
		list[i].summarize()
	}
	return list, nil
}

// readGoBenchmarks reads lines such as "BenchmarkSaxpy-8   100   1234 ns/op".
func readGoBenchmarks(text []byte) (Results, error) {
	var list Results
	at := map[string]int{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		for i := 2; i+1 < len(f); i += 2 {
			if f[i+1] != "ns/op" {
				continue
			}
			ns, err := strconv.ParseFloat(f[i], 64)
			if err != nil || !(ns >= 0) || math.IsInf(ns, 0) {
				return nil, fmt.Errorf("%q is not a time", f[i])
			}
			name := strings.TrimPrefix(f[0], "Benchmark")
			if dash := strings.LastIndexByte(name, '-'); dash > 0 {
				if _, err := strconv.Atoi(name[dash+1:]); err == nil {
					name = name[:dash]
				}
			}
			n, known := at[name]
			if !known {
				n = len(list)
				at[name] = n
				list = append(list, Result{Name: name})
			}
			list[n].Samples = append(list[n].Samples, ns)
		}
	}
	return list, lines.Err()
}

// WriteMarkdown writes a table.
func (list Results) WriteMarkdown(w io.Writer) error {
	rows := [][]string{{"benchmark", "median", "min", "quartiles", "mean", "noise", "samples", "elements/s", "bytes/s", "of copy", "FLOP/s", "of peak"}}
	for i := range list {
		r := &list[i]
		rows = append(rows, []string{
			r.Name, duration(r.Median), duration(r.Min), duration(r.Q1) + " to " + duration(r.Q3), duration(r.Mean),
			strconv.FormatFloat(100*r.noise(), 'f', 2, 64) + " %", strconv.Itoa(len(r.Samples)),
			rate(r.ElementsPerSecond(), ""), rate(r.BytesPerSecond(), "B/s"), share(r.BandwidthShare()),
			rate(r.FlopsPerSecond(), "FLOP/s"), share(r.FlopShare()),
		})
	}
	if _, err := io.WriteString(w, markdown(rows)); err != nil {
		return fmt.Errorf("profile: write results: %w", err)
	}
	return nil
}

// cellText escapes what would end a cell of a table.
var cellText = strings.NewReplacer("|", `\|`, "\r", " ", "\n", " ")

// markdown formats a table without the columns that are empty in all rows. The first column
// is text, the others are numbers.
func markdown(rows [][]string) string {
	var b strings.Builder
	used := make([]bool, len(rows[0]))
	for _, row := range rows[1:] {
		for i, cell := range row {
			used[i] = used[i] || cell != ""
		}
	}
	for n, row := range rows {
		for i, cell := range row {
			if used[i] || len(rows) == 1 {
				b.WriteString("| " + cellText.Replace(cell) + " ")
			}
		}
		b.WriteString("|\n")
		if n > 0 {
			continue
		}
		for i := range row {
			switch {
			case i == 0:
				b.WriteString("|---")
			case used[i] || len(rows) == 1:
				b.WriteString("|---:")
			}
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// String describes the result in one line.
func (r Result) String() string {
	parts := []string{fmt.Sprintf("%s: median %s, min %s, noise %.2f %%, %d samples", r.Name, duration(r.Median), duration(r.Min), 100*r.noise(), len(r.Samples))}
	if n := r.ElementsPerSecond(); n > 0 {
		parts = append(parts, rate(n, "elements/s"))
	}
	for _, p := range []struct{ rate, share, of string }{
		{rate(r.BytesPerSecond(), "B/s"), share(r.BandwidthShare()), "copying"}, {rate(r.FlopsPerSecond(), "FLOP/s"), share(r.FlopShare()), "the peak"},
	} {
		if p.rate != "" && p.share != "" {
			p.rate += " (" + p.share + " of " + p.of + ")"
		}
		if p.rate != "" {
			parts = append(parts, p.rate)
		}
	}
	if !r.Converged {
		parts = append(parts, "still noisy")
	}
	return strings.Join(parts, ", ")
}

// duration formats nanoseconds with three digits.
func duration(ns float64) string {
	for _, u := range []struct {
		unit string
		size float64
	}{{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}} {
		if ns >= u.size {
			return digits(ns/u.size) + " " + u.unit
		}
	}
	return digits(ns) + " ns"
}

// rate formats a number per second, "" if it is zero.
func rate(n float64, unit string) string {
	if n == 0 {
		return ""
	}
	prefix := ""
	for _, u := range []struct {
		prefix string
		size   float64
	}{{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"k", 1e3}} {
		if n >= u.size {
			n, prefix = n/u.size, u.prefix
			break
		}
	}
	return strings.TrimSpace(digits(n) + " " + prefix + unit)
}

// digits formats with about three digits.
func digits(x float64) string {
	switch {
	case x >= 100:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case x >= 10:
		return strconv.FormatFloat(x, 'f', 1, 64)
	default:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
}

func share(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(100*x, 'f', 1, 64) + " %"
}
