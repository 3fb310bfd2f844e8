package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"quern.dev/algo"
	"quern.dev/gpu"
	"quern.dev/internal/report"
	"quern.dev/internal/trace"
)

// programMode is set in the process that the commands record. It says how the program ends.
const programMode = "QUERN_TEST_PROGRAM"

// TestProgram is the program that the commands record: it sums numbers, fetches a buffer and
// uploads it again, and leaks one.
func TestProgram(t *testing.T) {
	mode := os.Getenv(programMode)
	if mode == "" {
		t.Skip("other tests run this one as a program")
	}
	if mode == "without a device" {
		return
	}
	d, err := gpu.Open(gpu.Config{})
	check(t, err)
	s := d.DefaultStream()
	host := make([]float32, 10_000)
	x, err := gpu.Upload(s, host)
	check(t, err)
	sum, err := gpu.Alloc[float32](d, 1)
	check(t, err)
	exact, err := gpu.Alloc[algo.Compensated[float32]](d, 1)
	check(t, err)
	for range 5 {
		check(t, algo.Reduce(s, algo.Sum[float32](), sum, x))
		check(t, algo.SumCompensated(s, exact, x)) // has the same kernels on every device
		check(t, gpu.Download(t.Context(), s, host, x))
		check(t, gpu.CopyIn(s, x, host))
	}
	check(t, sum.Close())
	check(t, exact.Close())
	switch mode {
	case "killed":
		trace.Flush()
		self, err := os.FindProcess(os.Getpid())
		check(t, err)
		self.Kill()
		select {}
	case "failed":
		t.Error("it fails")
	}
	d.Close() // reports x, which was not closed
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// programArgs returns the arguments that run TestProgram.
func programArgs(t *testing.T, mode string) []string {
	t.Setenv(programMode, mode)
	t.Setenv("QUERN_DEVICE", "cpu")
	return []string{"--", os.Args[0], "-test.run=^TestProgram$"}
}

var dataOf = regexp.MustCompile(`(?s)<script id="data" type="application/json">(.*?)</script>`)

// reportIn reads the data of a report.
func reportIn(t *testing.T, file string) *report.Report {
	t.Helper()
	page, err := os.ReadFile(file)
	check(t, err)
	m := dataOf.FindSubmatch(page)
	if m == nil {
		t.Fatalf("%s has no data", file)
	}
	var r report.Report
	check(t, json.Unmarshal(m[1], &r))
	return &r
}

func TestProfileReportsOnAProgram(t *testing.T) {
	for _, c := range []struct {
		mode string
		exit int
		want string // in Exit of the report
	}{
		{"closed", 0, ""},
		{"failed", 1, "exit status 1"},
		{"killed", 1, "killed"},
	} {
		t.Run(c.mode, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "report.html")
			code, _, stderr := quern(t, append([]string{"profile", "-measure=false", "-out", file}, programArgs(t, c.mode)...)...)
			if code != c.exit || !strings.Contains(stderr, "wrote "+file) {
				t.Fatalf("exit code %d, want %d: %s", code, c.exit, stderr)
			}
			r := reportIn(t, file)
			if !strings.Contains(r.Exit, c.want) || (r.Exit == "") != (c.want == "") {
				t.Errorf("the report says of the end: %q, want %q", r.Exit, c.want)
			}
			if len(r.Kernels) == 0 || r.Kernels[0].Calls%5 != 0 || r.Totals.Copied != 11*40_000 {
				t.Errorf("%d kernels, %d bytes copied", len(r.Kernels), r.Totals.Copied)
			}
			if len(r.Trips) != 1 || r.Trips[0].Kind != "round trip" || r.Trips[0].Count != 5 || !strings.Contains(r.Trips[0].To, "profile_test.go:") {
				t.Errorf("needless copies are %+v, want 5 round trips", r.Trips)
			}
			leaked := int64(0)
			for _, m := range r.Memory {
				for _, p := range m.Places {
					if !p.Pool {
						leaked += p.Left
					}
				}
			}
			if leaked != 40_000 {
				t.Errorf("%d bytes leaked, want those of x, 40000", leaked)
			}
		})
	}
}

func TestProfileCountsOnTheSimulator(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.html")
	code, _, stderr := quern(t, append([]string{"profile", "--count", "--measure=false", "-o", file}, programArgs(t, "closed")...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	r := reportIn(t, file)
	counted := 0
	for _, k := range r.Kernels {
		if strings.HasPrefix(k.Name, "sumCompensated") {
			if counted++; !k.Counted || k.Bytes == 0 {
				t.Errorf("%+v was not counted", k)
			}
		}
		if k.Counted == (k.Note != "") {
			t.Errorf("%s was counted: %v, and the report says of that %q", k.Name, k.Counted, k.Note)
		}
	}
	if len(r.Listings) == 0 || counted == 0 {
		t.Fatalf("%d listings; the kernels are %+v", len(r.Listings), r.Kernels)
	}
	if l := r.Listings[0]; l.Total.Instructions == 0 || len(l.Files) == 0 || l.Files[0].Lines[0].Text == "" && l.Files[0].Lines[len(l.Files[0].Lines)-1].Text == "" {
		t.Errorf("the first listing is %+v", l)
	}
}

func TestAnnotateShowsTheLinesOfKernels(t *testing.T) {
	code, stdout, stderr := quern(t, append([]string{"annotate"}, programArgs(t, "closed")...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{"quern.dev/algo", "10 launches", "reduce.go", "func ", "warp instructions", "warp ops", "sectors"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the output does not have %q:\n%s", want, stdout)
		}
	}
}

func TestWhatCannotBeRecordedIsExplained(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, c := range []struct {
		name string
		args []string
		exit int
		want string
	}{
		{"no program", []string{"profile"}, 2, "no program: write two dashes"},
		{"a program without dashes", []string{"annotate", "./photo"}, 2, "write two dashes before it, as in quern annotate -- ./photo"},
		{"a flag of the program without dashes", []string{"profile", "./photo", "-n", "1"}, 2, "write two dashes before the program, as in quern profile -- ./prog"},
		{"a report in the place of a folder", []string{"profile", "-o", t.TempDir(), "--", os.Args[0]}, 1, "it is not a regular file"},
		{"a program that does not exist", []string{"profile", "-o", missing, "--", missing}, 1, "no such file or directory"},
		{"a report that cannot be written", []string{"profile", "-o", filepath.Join(missing, "report.html"), "--", os.Args[0]}, 1, "no such file or directory"},
		{"a program without a device", append([]string{"profile", "-o", missing}, programArgs(t, "without a device")...), 1, "opened no device"},
		{"a GPU that is not there", append([]string{"annotate", "--gpu"}, programArgs(t, "closed")...), 1, "cuda"},
		{"a kernel that did not run", append([]string{"annotate", "--kernel=blur"}, programArgs(t, "closed")...), 1, "kernel blur did not run; these did: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.HasPrefix(c.name, "a program without a device") {
				t.Setenv(programMode, "without a device")
			}
			code, _, stderr := quern(t, c.args...)
			if code != c.exit || !strings.Contains(stderr, c.want) {
				t.Errorf("exit code %d, want %d; %q does not say %q", code, c.exit, stderr, c.want)
			}
		})
	}
}
