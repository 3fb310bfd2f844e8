package cupti_test

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/cupti"
	"quern.dev/internal/cupti/fakecupti"
)

func start(t *testing.T, l *fakecupti.Library) *cupti.Session {
	t.Helper()
	s, err := cupti.Start(l)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(func(*cupti.Record) {}) })
	return s
}

func read(t *testing.T, s *cupti.Session) (list []cupti.Record) {
	t.Helper()
	if err := s.Read(false, func(r *cupti.Record) { list = append(list, *r) }); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestRecordsAreRead(t *testing.T) {
	l := &fakecupti.Library{}
	s := start(t, l)
	l.External(1<<40, 9)
	l.DriverCall(307, 1234, 9, 100, 200)
	l.Other()
	l.Kernel("saxpy", 9, 7, 300, 400)
	l.Copy(1, 4096, 10, 7, 500, 600)
	l.Copy(2, 8, 11, 7, 500, 600)
	l.Copy(8, 8, 12, 7, 500, 600)
	l.PeerCopy(64, 13, 7, 700, 800)
	l.Fill(128, 14, 7, 900, 1000)
	l.DriverCall(277, 1234, 10, 100, 200)
	want := []cupti.Record{
		{Kind: cupti.External, Correlation: 9, External: 1 << 40},
		{Kind: cupti.Call, Correlation: 9, Start: 100, End: 200, Thread: 1234, Name: "cuLaunchKernel"},
		{Kind: cupti.Kernel, Correlation: 9, Start: 300, End: 400, Stream: 7, Name: "saxpy", Registers: 32,
			Grid: [3]int32{8, 1, 1}, Block: [3]int32{256, 1, 1}},
		{Kind: cupti.Copy, Direction: cupti.In, Bytes: 4096, Correlation: 10, Start: 500, End: 600, Stream: 7},
		{Kind: cupti.Copy, Direction: cupti.Out, Bytes: 8, Correlation: 11, Start: 500, End: 600, Stream: 7},
		{Kind: cupti.Copy, Direction: cupti.Within, Bytes: 8, Correlation: 12, Start: 500, End: 600, Stream: 7},
		{Kind: cupti.Copy, Direction: cupti.Between, Bytes: 64, Correlation: 13, Start: 700, End: 800, Stream: 7},
		{Kind: cupti.Fill, Bytes: 128, Correlation: 14, Start: 900, End: 1000, Stream: 7},
		{Kind: cupti.Call, Correlation: 10, Start: 100, End: 200, Thread: 1234, Name: "cuMemcpyHtoDAsync"},
	}
	if got := read(t, s); !slices.Equal(got, want) {
		t.Errorf("read %+v\nwant %+v", got, want)
	}
	if s.Version() != 130000 {
		t.Errorf("version %d", s.Version())
	}
}

func TestMoreRecordsThanBuffersAreCounted(t *testing.T) {
	l := &fakecupti.Library{}
	s := start(t, l)
	const n = 300_000 // kernels, of 216 bytes, in 48 MiB
	for i := range n {
		l.Kernel("k", uint32(i), 7, 1, 2)
	}
	got := len(read(t, s))
	if dropped := int(s.Dropped()); got == 0 || dropped == 0 || got+dropped != n {
		t.Errorf("%d records, %d dropped, want %d together", got, dropped, n)
	}
	l.Kernel("k", 0, 7, 1, 2)
	if got := len(read(t, s)); got != 1 {
		t.Errorf("%d records with buffers that are free again, want 1", got)
	}
}

func TestMarksNestPerThread(t *testing.T) {
	var marks []uint64
	l := &fakecupti.Library{OnPop: func(_ *fakecupti.Library, mark uint64) { marks = append(marks, mark) }}
	s := start(t, l)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s.Push(1)
	s.Push(2)
	s.Pop()
	s.Pop()
	if !slices.Equal(marks, []uint64{2, 1}) {
		t.Errorf("marks ended in the order %v", marks)
	}
	if n := testing.AllocsPerRun(100, func() { s.Push(3); s.Pop() }); n > 1 { // the test appends to marks
		t.Errorf("a mark allocates %v times", n)
	}
}

func TestStartSaysWhyItFails(t *testing.T) {
	for _, c := range []struct {
		name string
		lib  *fakecupti.Library
		want string
	}{
		{"another tool has subscribed", &fakecupti.Library{Fail: map[string]int{"cuptiSubscribe": 39}}, "another tool uses CUPTI in this process (cuptiSubscribe: CUPTI_ERROR_FAKE)"},
		{"permission is missing", &fakecupti.Library{Fail: map[string]int{"cuptiActivityEnable": 35}}, "for administrators only"},
		{"the driver is too old", &fakecupti.Library{Fail: map[string]int{"cuptiSubscribe": 14}}, "older than this version of CUPTI"},
		{"a function is missing", &fakecupti.Library{Missing: []string{"cuptiActivityFlushAll"}}, "has no function cuptiActivityFlushAll"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := cupti.Start(c.lib)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, now := c.lib.Subscriptions(); now {
				t.Error("the subscription remains")
			}
			if kinds, _ := c.lib.Enabled(); len(kinds) > 0 {
				t.Errorf("the activities %v remain enabled", kinds)
			}
		})
	}
}

func TestStopDisablesEverything(t *testing.T) {
	l := &fakecupti.Library{Missing: []string{"cuptiActivityEnableDriverApi"}}
	s := start(t, l)
	if kinds, quiet := l.Enabled(); len(kinds) != 6 || quiet != 0 {
		t.Errorf("enabled %v", kinds)
	}
	if _, err := cupti.Start(l); !errors.Is(err, cupti.ErrActive) {
		t.Errorf("a second session: %v", err)
	}
	l.Kernel("last", 1, 7, 1, 2)
	var names []string
	if err := s.Stop(func(r *cupti.Record) { names = append(names, r.Name) }); err != nil || !slices.Equal(names, []string{"last"}) {
		t.Errorf("the last records are %v, %v", names, err)
	}
	if kinds, _ := l.Enabled(); len(kinds) != 0 {
		t.Errorf("still enabled: %v", kinds)
	}
	again := start(t, l)
	l.Kernel("again", 1, 7, 1, 2)
	if got := read(t, again); len(got) != 1 {
		t.Errorf("a second session has %d records, want 1", len(got))
	}
}

// TestRealLibrary tries the library of this machine. Without a driver, it has to say so.
func TestRealLibrary(t *testing.T) {
	lib, err := cupti.Open()
	if err != nil {
		t.Skip(err)
	}
	s, err := cupti.Start(lib)
	if err != nil {
		t.Skip(err)
	}
	before := s.Now()
	if after := s.Now(); before == 0 || after < before {
		t.Errorf("the clock went from %d to %d", before, after)
	}
	if err := s.Stop(func(*cupti.Record) {}); err != nil {
		t.Error(err)
	}
}
