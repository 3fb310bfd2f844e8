// Compare prints the figures of several runs in one table and compares Quern with its
// goals.
//
//	compare peers-1.json quern-1.json ...
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"quern.dev/bench/results"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: compare file.json ...")
		os.Exit(2)
	}
	t := newTable()
	for _, name := range os.Args[1:] {
		f, err := results.Read(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "compare:", err)
			os.Exit(1)
		}
		t.add(f)
	}
	if err := t.print(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// table holds the best figure of each tool in each benchmark.
type table struct {
	devices    []string
	benchmarks []string // in order of first appearance
	tools      []string
	figures    map[key]results.Result
	errors     []string
}

type key struct{ benchmark, tool string }

func newTable() *table {
	return &table{figures: map[key]results.Result{}}
}

func (t *table) add(f results.File) {
	t.devices = addOnce(t.devices, f.Device)
	for _, r := range f.Results {
		if r.Error != "" {
			t.errors = addOnce(t.errors, fmt.Sprintf("%s, %s: %s", r.Tool, r.Benchmark, r.Error))
			continue
		}
		t.benchmarks = addOnce(t.benchmarks, r.Benchmark)
		t.tools = addOnce(t.tools, r.Tool)
		k := key{r.Benchmark, r.Tool}
		old, ok := t.figures[k]
		better := r.Value > old.Value
		if results.LowerIsBetter(r.Unit) {
			better = r.Value < old.Value
		}
		if !ok || better {
			t.figures[k] = r
		}
	}
}

func addOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// goal is a ratio that Quern should reach.
type goal struct {
	benchmark, tool, peer string
	ratio                 float64 // of the values
	most                  bool    // the ratio is an upper bound; otherwise a lower bound
}

var goals = []goal{
	{"launch", "Quern", "driver call", 1.15, true},
	{"launch", "Quern", "CuPy", 1, true},
	{"small program", "Quern", "driver call", 1.15, true},
	{"small program", "Quern", "CuPy", 1, true},
	{"saxpy", "Quern", "numba-cuda", 1, false},
	{"matmul 16x16", "Quern unchecked", "NVRTC", 0.97, false},
	{"matmul 16x16", "Quern", "NVRTC", 0.97, false},
	{"matmul 128x128x16", "Quern unchecked", "NVRTC", 1, false},
	{"matmul 128x128x16", "Quern", "NVRTC", 1, false},
	{"saxpy", "Quern", "Quern unchecked", 0.95, false},
	{"blur rows", "Quern", "Quern unchecked", 0.95, false},
	{"blur columns", "Quern", "Quern unchecked", 0.95, false},
	{"matmul 16x16", "Quern", "Quern unchecked", 0.85, false},
	{"matmul 128x128x16", "Quern", "Quern unchecked", 0.85, false},
}

func (t *table) print(w io.Writer) error {
	for _, d := range t.devices {
		fmt.Fprintln(w, d)
	}
	fmt.Fprintln(w)

	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "\tunit\t")
	for _, tool := range t.tools {
		fmt.Fprintf(tw, "%s\t", tool)
	}
	fmt.Fprintln(tw)
	for _, b := range t.benchmarks {
		fmt.Fprintf(tw, "%s\t%s\t", b, t.unit(b))
		for _, tool := range t.tools {
			if r, ok := t.figures[key{b, tool}]; ok {
				fmt.Fprintf(tw, "%.4g\t", r.Value)
			} else {
				fmt.Fprint(tw, "-\t")
			}
		}
		fmt.Fprintln(tw)
	}
	fmt.Fprintln(tw)
	if err := tw.Flush(); err != nil {
		return err
	}

	tw = tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(tw, "ratio\tof\tto\tgoal\t")
	for _, g := range goals {
		mine, ok := t.figures[key{g.benchmark, g.tool}]
		peer, ok2 := t.figures[key{g.benchmark, g.peer}]
		if !ok || !ok2 || peer.Value == 0 {
			continue
		}
		ratio := mine.Value / peer.Value
		word, met := "at least", ratio >= g.ratio
		if g.most {
			word, met = "at most", ratio <= g.ratio
		}
		mark := ""
		if !met {
			mark = "missed"
		}
		fmt.Fprintf(tw, "%.3f\t%s: %s\t%s\t%s %v\t%s\n", ratio, g.benchmark, g.tool, g.peer, word, g.ratio, mark)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	for _, e := range t.errors {
		fmt.Fprintf(w, "\nfailed: %s\n", e)
	}
	return nil
}

// unit returns the unit of a benchmark. All its figures have the same one.
func (t *table) unit(benchmark string) string {
	for _, tool := range t.tools {
		if r, ok := t.figures[key{benchmark, tool}]; ok {
			return r.Unit
		}
	}
	return ""
}
