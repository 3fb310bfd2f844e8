package trace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"quern.dev/internal/report"
	"quern.dev/internal/trace"
)

var (
	stream = &trace.Track{Process: "cpu", Thread: "default stream"}
	blur   = &trace.Label{Name: "blur", File: "example.com/filters/blur.go", Line: 14}
)

// launch records n launches of 3 us.
func launch(n int) {
	r := trace.Active()
	for i := range n {
		o := r.Begin(trace.Launch, blur, stream, 0)
		o.Launches(&trace.Shape{Grid: [3]int32{4, 1, 1}, Block: [3]int32{256, 1, 1}})
		o.End(false)
		o.OnDevice(int64(i)*10_000, int64(i)*10_000+3000)
	}
}

func TestARecordingIsReadWhileTheProgramRuns(t *testing.T) {
	name := filepath.Join(t.TempDir(), "recording")
	var messages strings.Builder
	stop := trace.StartFiles("", "", name, &messages)
	launch(5)
	trace.Flush() // as a program does that is killed then
	r, err := report.ReadFiles(name)
	if err != nil {
		t.Fatal(err)
	}
	rep := report.Analyze(report.Input{Recording: r})
	if len(rep.Kernels) != 1 || rep.Kernels[0].Calls != 5 || rep.Kernels[0].Total != 15_000 || rep.Kernels[0].Block[0] != 256 {
		t.Errorf("kernels are %+v", rep.Kernels)
	}
	stop()
	if messages.Len() > 0 {
		t.Error(messages.String())
	}
	f, err := os.Open(trace.CPUProfile(name, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := profile.Parse(f); err != nil {
		t.Errorf("the profile of the CPU: %v", err)
	}
}

func TestALongRecordingKeepsItsEndAndItsTotals(t *testing.T) {
	name := filepath.Join(t.TempDir(), "recording")
	f, err := trace.NewRecordFile(name, 20_000, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	stop := trace.Start(f)
	const rounds, n = 20, 100
	for range rounds {
		launch(n)
		trace.Flush()
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	r, err := report.ReadFiles(name)
	if err != nil {
		t.Fatal(err)
	}
	if r.Removed == 0 || uint64(len(r.Events))+r.Removed != 2*rounds*n {
		t.Errorf("%d events and %d removed ones, want %d together", len(r.Events), r.Removed, 2*rounds*n)
	}
	for _, file := range []string{name, trace.PreviousRecord(name)} {
		if info, err := os.Stat(file); err != nil || info.Size() > 60_000 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
	rep := report.Analyze(report.Input{Recording: r})
	if k := rep.Kernels; len(k) != 1 || k[0].Calls != rounds*n || k[0].Total != rounds*n*3000 {
		t.Errorf("kernels are %+v", k)
	}
	if rep.Totals.Launches != rounds*n || !strings.Contains(strings.Join(rep.Notes, "\n"), "were removed to bound the size") {
		t.Errorf("%d launches; notes %q", rep.Totals.Launches, rep.Notes)
	}
}
