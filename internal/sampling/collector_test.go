package sampling

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"quern.dev/internal/cupti"
	"quern.dev/internal/cupti/fakecupti"
)

func with(t *testing.T, lib *fakecupti.Library) {
	t.Cleanup(SetLibrary(func() (cupti.Library, error) { return lib, nil }))
}

func read(t *testing.T, file string) (s Samples) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSamplesAreSummedByLine(t *testing.T) {
	code, other := []byte("machine code"), []byte("of another library")
	lib := &fakecupti.Library{
		Sampled: []fakecupti.Sample{
			{Code: code, Function: "blur", Offset: 16, Reasons: map[uint32]uint32{0: 5, 1: 70, 2: 60}},
			{Code: code, Function: "blur", Offset: 32, Reasons: map[uint32]uint32{1: 30}},
			{Code: code, Function: "blur", Offset: 48, Reasons: map[uint32]uint32{0: 2}},
			{Code: code, Function: "blur", Offset: 64, Reasons: map[uint32]uint32{0: 1}},
			{Code: other, Function: "gemm", Offset: 0, Reasons: map[uint32]uint32{0: 400}},
		},
		Positions: map[string]fakecupti.Position{
			"blur+16": {Dir: "/home/me", File: "blur.go", Line: 30},
			"blur+32": {Dir: "/home/me", File: "blur.go", Line: 30},
			"blur+48": {Dir: "/home/me/quern.dev/kernel", File: "math.go", Line: 7},
		},
	}
	with(t, lib)
	file := filepath.Join(t.TempDir(), "samples.json")
	c, err := Into(file)
	check(t, err)
	if again, err := Into(file); again != c || err != nil {
		t.Fatalf("another collector of the same file, %v", err)
	}
	check(t, c.Begin(9))
	check(t, c.Begin(9)) // a second device of the same GPU
	check(t, c.Code("photo.blur", ".file 1 \"blur.go\"\n\t.file 2 \"quern.dev/kernel/math.go\", 1, 2\n", code))
	check(t, c.End(9))
	if n := len(lib.Sampled); n != 5 {
		t.Errorf("%d samples are left while the context is used, want 5", n)
	}
	check(t, c.End(9))
	check(t, c.End(9))
	want := Samples{Total: 568, Kernels: []Kernel{
		{"gemm", []Line{{"", 0, map[string]uint64{"selected": 400}}}},
		{"photo.blur", []Line{
			{"", 0, map[string]uint64{"selected": 1}},
			{"blur.go", 30, map[string]uint64{"selected": 5, "long_scoreboard": 100}},
			{"quern.dev/kernel/math.go", 7, map[string]uint64{"selected": 2}},
		}},
	}}
	if got := read(t, file); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if n := want.Kernels[1].Total(); n != 108 {
		t.Errorf("%d samples of the kernel, want 108", n)
	}
}

// A program may be killed: the file is written while it runs.
func TestTheFileIsWrittenWhileTheProgramRuns(t *testing.T) {
	lib := &fakecupti.Library{Sampled: []fakecupti.Sample{{Code: []byte("x"), Function: "f", Reasons: map[uint32]uint32{1: 3}}}}
	with(t, lib)
	file := filepath.Join(t.TempDir(), "samples.json")
	c, err := Into(file)
	check(t, err)
	if s := read(t, file); len(s.Kernels) != 0 {
		t.Errorf("there are samples before the start: %+v", s)
	}
	check(t, c.Begin(1))
	c.mu.Lock()
	check(t, c.contexts[1].sampler.Read(func(p *cupti.PCSamples) { c.add(c.contexts[1], p) }))
	check(t, c.write())
	c.mu.Unlock()
	if s := read(t, file); s.Total != 3 || len(s.Kernels) != 1 {
		t.Errorf("the file has %+v", s)
	}
	check(t, c.End(1))
}

func TestWhySamplingIsImpossibleIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		lib  *fakecupti.Library
		want string
	}{
		"no permission":   {&fakecupti.Library{Fail: map[string]int{"cuptiPCSamplingEnable": 35}}, "NVreg_RestrictProfilingToAdminUsers=0"},
		"an old library":  {&fakecupti.Library{Missing: []string{"cuptiPCSamplingGetData"}}, "this version of CUPTI has no function cuptiPCSamplingGetData"},
		"its attributes":  {&fakecupti.Library{Fail: map[string]int{"cuptiPCSamplingSetConfigurationAttribute": 7}}, "cuptiPCSamplingSetConfigurationAttribute: CUPTI_ERROR_FAKE"},
		"another session": {&fakecupti.Library{Fail: map[string]int{"cuptiPCSamplingEnable": 39}}, "another tool uses CUPTI in this process"},
	} {
		t.Run(name, func(t *testing.T) {
			with(t, c.lib)
			k, err := Into(filepath.Join(t.TempDir(), "samples.json"))
			check(t, err)
			if err := k.Begin(1); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), Variable) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
	with(t, &fakecupti.Library{})
	if _, err := Into(filepath.Join(t.TempDir(), "missing", "samples.json")); err == nil || !strings.Contains(err.Error(), Variable) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
