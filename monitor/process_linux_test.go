package monitor

import (
	"os"
	"testing"

	"quern.dev/internal/nvml"
	"quern.dev/internal/nvml/fakenvml"
)

func TestProcessesHaveNamesUnlessTheirNumbersAreForeign(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		g := fakenvml.H200(0)
		g.Compute = []nvml.Process{{PID: uint32(os.Getpid())}}
		restore := nvml.Substitute(fakenvml.New(g).Open)
		m := Open()
		m.foreign = foreign
		s, err := m.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.ForeignPIDs != foreign {
			t.Errorf("ForeignPIDs = %v, want %v", s.ForeignPIDs, foreign)
		}
		if p := s.GPUs[0].Processes[0]; (p.Name == "") != foreign || (p.Command == "") != foreign || !p.MemoryBytes.IsZero() {
			t.Errorf("foreign %v: %+v", foreign, p)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		restore()
	}
}

func TestLoadIsBetweenTwoReadingsOfProcStat(t *testing.T) {
	// user nice system idle iowait irq softirq steal guest
	before := parseStat([]byte("cpu  100 0 100 800 0 0 0 0 50\ncpu0 100 0 100 800 0 0 0 0 50\nintr 5 6 7 8 9\n"))
	after := parseStat([]byte("cpu  130 0 110 850 10 0 0 0 70\ncpu0 130 0 110 850 10 0 0 0 70\n"))
	if len(before) != 2 || before[1].name != "cpu0" {
		t.Fatalf("%+v", before)
	}
	if v, known := after[1].times.load(before[1].times).Get(); !known || v != 40 {
		t.Errorf("load = %v, %v, want 40", v, known)
	}
	if _, known := after[1].times.load(after[1].times).Get(); known {
		t.Error("a load without time is known")
	}
}

func TestNamesCannotControlTheTerminal(t *testing.T) {
	if got := printable("a\x1b[2Jb\xff\n"); got != "a?[2Jb??" {
		t.Errorf("%q", got)
	}
}
