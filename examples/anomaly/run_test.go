package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"quern.dev/gpu"
)

// anomaly runs the program on the CPU device unless args say otherwise.
func anomaly(ctx context.Context, stdin io.Reader, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(ctx, append([]string{"-device", "cpu"}, args...), stdin, &out, &errs)
	return code, out.String(), errs.String()
}

var qualityLine = regexp.MustCompile(`quality +([\d,]+) known anomalies, ([\d,]+) found: precision ([\d.]+), recall ([\d.]+)`)

// checkQuality checks the quality figures in the summary.
func checkQuality(t *testing.T, stdout string, known int) {
	t.Helper()
	m := qualityLine.FindStringSubmatch(stdout)
	if m == nil {
		t.Fatalf("the summary has no quality figures:\n%s", stdout)
	}
	n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
	if err != nil || n < known {
		t.Errorf("%s known anomalies, want at least %d", m[1], known)
	}
	for i, what := range []string{"precision", "recall"} {
		if v, err := strconv.ParseFloat(m[3+i], 64); err != nil || v < 0.95 {
			t.Errorf("%s %s, want at least 0.95:\n%s", what, m[3+i], stdout)
		}
	}
}

func TestAnomaliesOfASyntheticStreamAreFound(t *testing.T) {
	for _, tt := range []struct {
		backend  gpu.Backend
		readings string
		known    int
	}{{gpu.CPU, "200000", 150}, {gpu.Sim, "20000", 8}, {gpu.CUDA, "2000000", 2000}} {
		t.Run(string(tt.backend), func(t *testing.T) {
			dev, err := gpu.Open(gpu.Config{Require: tt.backend})
			if err != nil {
				t.Skipf("no %s device: %v; go tool quern doctor says what to do", tt.backend, err)
			}
			dev.Close()
			code, stdout, stderr := anomaly(t.Context(), nil, "-device", string(tt.backend), "-sensors", "8", "-readings", tt.readings, "-rate", "0")
			if code != exitOK || stderr != "" {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			checkQuality(t, stdout, tt.known)
			if !strings.Contains(stdout, "nothing lost") || !strings.Contains(stdout, "from 8 sensors") {
				t.Errorf("the summary:\n%s", stdout)
			}
		})
	}
}

// writeTable writes a synthetic stream as CSV.
func writeTable(t *testing.T, readings int64) string {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write([]string{"time", "value", "sensor", "anomaly"})
	src := newScene(options{sensors: 3, readings: readings, period: 24, seed: 7})
	batch := make([]sample, readings)
	if n, err := src.read(t.Context(), batch); n != len(batch) || err != nil {
		t.Fatalf("%d readings: %v", n, err)
	}
	for i, s := range batch {
		w.Write([]string{fmt.Sprint(i), fmt.Sprint(s.value), s.sensor, strconv.FormatBool(s.strange)})
	}
	w.Flush()
	return writeFile(t, b.String())
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "readings.csv")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestAlertsOfAFileAreWritten(t *testing.T) {
	in := writeTable(t, 30_000)
	out := filepath.Join(t.TempDir(), "alerts.csv")
	code, stdout, stderr := anomaly(t.Context(), nil, "-in", in, "-period", "24", "-alerts", out)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	checkQuality(t, stdout, 15)
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 15 || strings.Join(rows[0], " ") != "sensor reading value forecast score" || !strings.HasPrefix(rows[1][0], "sensor-0") {
		t.Errorf("%d rows of alerts, %v, %v", len(rows), rows[:min(2, len(rows))], err)
	}
}

func TestAStreamWithoutAnomalies(t *testing.T) {
	text := "sensor,value\n"
	for i := range 1000 {
		text += fmt.Sprintf("pump,%d\n", i%2)
	}
	code, stdout, stderr := anomaly(t.Context(), nil, "-in", writeFile(t, text), "-period", "2")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"ran       1,000 readings from 1 sensor ", "result    no anomalies: no reading deviated from its forecast by 5 standard deviations", "nothing lost", "next      try a lower -threshold than 5"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the summary lacks %q:\n%s", want, stdout)
		}
	}
	if strings.Contains(stdout, "p50") {
		t.Errorf("the summary has the latency of no alert:\n%s", stdout)
	}
}

func TestReadingsFromStandardInputAreHandledImmediately(t *testing.T) {
	r, w := io.Pipe()
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		io.WriteString(w, "sensor,value\n")
		for i := range 100 {
			fmt.Fprintf(w, "pump,%d\n", i%2)
		}
		interrupt() // the input stays open
	}()
	code, stdout, stderr := anomaly(ctx, r, "-in", "-")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if !strings.Contains(stdout, "interrupted") || !strings.Contains(stdout, "nothing lost") || strings.Contains(stdout, "quality") {
		t.Errorf("the summary:\n%s", stdout)
	}
}

func TestInterruptEndsAnEndlessStream(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupted := writerFunc(func(p []byte) (int, error) {
		interrupt() // with the first alerts
		return len(p), nil
	})
	var stderr bytes.Buffer
	code := run(ctx, []string{"-device", "cpu", "-sensors", "2", "-period", "4", "-readings", "0", "-rate", "0", "-alerts", "-"}, nil, interrupted, &stderr)
	if code != exitOK || stderr.Len() > 0 {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestBadInput(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		args       []string
		code       int
		want       []string // in the message
	}{
		{"a missing file", "", []string{"-in", "absent.csv"}, exitFailed, []string{"absent.csv"}},
		{"an empty file", "\n", nil, exitFailed, []string{"readings.csv: the file is empty", "sensor and value"}},
		{"a file without the column of values", "sensor,time\na,1\n", nil, exitFailed, []string{"readings.csv:1", `"value"`, `"time"`}},
		{"a value that is a word", "sensor,value\na,1\na,high\n", nil, exitFailed, []string{"readings.csv:3:3", `"high"`, "sensor a"}},
		{"a value that is NaN", "sensor,value\na,NaN\n", nil, exitFailed, []string{"readings.csv:2:3", `"NaN"`, "finite"}},
		{"an infinite value", "value,sensor\n-Inf,a\n", nil, exitFailed, []string{"readings.csv:2:1", `"-Inf"`, "finite"}},
		{"a value that is too large", "sensor,value\na,1e999\n", nil, exitFailed, []string{"readings.csv:2:3", "1e999", "too large"}},
		{"a row with a field too many", "sensor,value\na,1\n\na,1,2\n", nil, exitFailed, []string{"readings.csv:4:1", "wrong number of fields"}},
		{"a quote that does not end", "sensor,value\na,\"1\n", nil, exitFailed, []string{"readings.csv:2", `"`}},
		{"a reading without a sensor", "sensor,value\n ,1\n", nil, exitFailed, []string{"readings.csv:2", "sensor is empty"}},
		{"a truth that is a word", "sensor,value,anomaly\na,1,perhaps\n", nil, exitFailed, []string{"readings.csv:2:5", "perhaps"}},
		{"alerts in a missing folder", "sensor,value\n", []string{"-alerts", filepath.Join("absent", "alerts.csv")}, exitFailed, []string{"absent"}},
		{"an unknown device", "sensor,value\n", []string{"-device", "abacus"}, exitFailed, []string{"abacus"}},
		{"no sensors", "", []string{"-sensors", "0"}, exitFailed, []string{"-sensors 0", "4096"}},
		{"a negative number of readings", "", []string{"-readings", "-5"}, exitFailed, []string{"-readings -5"}},
		{"a rate that is not a number", "", []string{"-rate", "NaN"}, exitFailed, []string{"-rate NaN"}},
		{"a period that is too long", "", []string{"-period", "513"}, exitFailed, []string{"-period 513", "512"}},
		{"a threshold of nothing", "", []string{"-threshold", "0"}, exitFailed, []string{"-threshold 0"}},
		{"an unknown flag", "", []string{"-color"}, exitUsage, []string{"-color"}},
		{"an argument too many", "", []string{"readings.csv"}, exitUsage, []string{"readings.csv", "-in"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := tt.args
			if tt.file != "" {
				args = append([]string{"-in", writeFile(t, strings.TrimPrefix(tt.file, "\n"))}, args...)
			}
			code, _, stderr := anomaly(t.Context(), nil, args...)
			if code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			for _, want := range tt.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("%q lacks %q", stderr, want)
				}
			}
		})
	}
}
