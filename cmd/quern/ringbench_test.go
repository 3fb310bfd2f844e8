//go:build !bootstrap

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/ringbench"
)

var quick = []string{"ring", "bench", "-device", "cpu", "-actors", "1,2", "-payload", "16,64", "-batch", "1,8", "-duration", "2ms"}

func TestRingBenchMeasuresEveryCombination(t *testing.T) {
	code, stdout, stderr := quern(t, append(slices.Clone(quick), "-json")...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, standard error %q", code, stderr)
	}
	var r ringbench.Report
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Latency) != 4 || len(r.Throughput) != 8 || len(r.Relaying) != 2 || !r.Complete || r.Backend != "cpu" {
		t.Fatalf("report is %+v", r)
	}
	for i, l := range r.Latency {
		if l.Actors != []int{1, 2}[i/2] || l.Payload != []int{16, 64}[i%2] || l.Messages == 0 || l.P50 <= 0 || l.P50 > l.P99 || l.P99 > l.Max {
			t.Errorf("latency %d: %+v", i, l)
		}
	}
	for i, p := range r.Throughput {
		if p.Batch != []int{1, 8}[i%2] || p.Messages == 0 || p.Messages%p.Batch != 0 || p.Took <= 0 {
			t.Errorf("throughput %d: %+v", i, p)
		}
	}
}

func TestRingBenchPrintsTables(t *testing.T) {
	code, stdout, stderr := quern(t, quick...)
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d, standard error %q", code, stderr)
	}
	for _, c := range []struct {
		name, text string
		times      int
	}{
		{"all tables say their unit of messages", " B ", 4 + 8 + 2},
		{"the first table has one head", "p99.9", 1},
		{"the second table has one head", "M msg/s  GB/s each way", 1},
		{"the third table has one head", "p99 of a lap", 1},
		{"the peer is named", "PyDotCompute", 1},
		{"the result is in a line", "\nResult: on ", 1},
		{"what to do next is in another", "\nNext: --check compares", 1},
	} {
		if n := strings.Count(stdout, c.text); n != c.times {
			t.Errorf("%s: %q is there %d times, want %d, in\n%s", c.name, c.text, n, c.times, stdout)
		}
	}
}

// interrupter is an output that interrupts the command after a number of rows.
type interrupter struct {
	bytes.Buffer
	rows   int
	cancel func()
}

func (w *interrupter) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(" B ")) {
		if w.rows--; w.rows == 0 {
			w.cancel()
		}
	}
	return w.Buffer.Write(p)
}

func TestAnInterruptKeepsTheResultsSoFar(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, errs := &interrupter{rows: 3, cancel: cancel}, new(bytes.Buffer)
	code := run(ctx, quick, out, errs)
	if rows := strings.Count(out.String(), " B "); code != 1 || rows != 3 || !strings.Contains(errs.String(), "interrupted") {
		t.Errorf("exit code %d, %d rows, want 3; standard error %q, standard output\n%s", code, rows, errs, out)
	}
}

func TestRingBenchNamesAMissingDevice(t *testing.T) {
	code, stdout, stderr := quern(t, "ring", "bench", "-device", "abacus")
	if code != 1 || stdout != "" || !strings.Contains(stderr, "abacus") {
		t.Errorf("exit code %d, standard output %q, standard error %q", code, stdout, stderr)
	}
}
