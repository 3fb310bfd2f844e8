package monitor

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// cpuReader reads the load of the cores and the memory. It remembers the times of the last
// reading.
type cpuReader struct {
	name string
	last map[string]cpuTimes // by the line's name: "cpu", "cpu0", ...
}

// cpuTimes are times since the machine was started, in ticks.
type cpuTimes struct{ busy, total uint64 }

// load returns the load since last.
func (t cpuTimes) load(last cpuTimes) Optional[float64] {
	if t.total <= last.total || last.total == 0 || t.busy < last.busy {
		return Optional[float64]{}
	}
	return Some(min(100, 100*float64(t.busy-last.busy)/float64(t.total-last.total)))
}

func (r *cpuReader) read() CPU {
	if r.name == "" {
		r.name = cpuName()
	}
	c := CPU{Name: r.name}
	if text, err := os.ReadFile("/proc/stat"); err == nil {
		now := parseStat(text)
		for _, l := range now {
			load := l.times.load(r.last[l.name])
			if l.name == "cpu" {
				c.LoadPercent = load
			} else if n, err := strconv.Atoi(l.name[len("cpu"):]); err == nil {
				c.Cores = append(c.Cores, Core{n, load})
			}
		}
		r.last = make(map[string]cpuTimes, len(now))
		for _, l := range now {
			r.last[l.name] = l.times
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		c.MemoryTotalBytes, c.MemoryAvailableBytes = memoryField(text, "MemTotal:"), memoryField(text, "MemAvailable:")
	}
	return c
}

// statLine is a line of /proc/stat.
type statLine struct {
	name  string
	times cpuTimes
}

// parseStat returns the lines about processors of /proc/stat.
func parseStat(text []byte) (list []statLine) {
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if len(fields) < 5 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		// user nice system idle iowait irq softirq steal; what follows is part of user.
		var t cpuTimes
		for i, f := range fields[1:min(len(fields), 9)] {
			n, err := strconv.ParseUint(f, 10, 64)
			if err != nil {
				continue
			}
			t.total += n
			if idle := i == 3 || i == 4; !idle {
				t.busy += n
			}
		}
		list = append(list, statLine{fields[0], t})
	}
	return list
}

// memoryField returns a size in /proc/meminfo.
func memoryField(text []byte, name string) Optional[int64] {
	for line := range bytes.Lines(text) {
		fields := strings.Fields(string(line))
		if len(fields) < 2 || fields[0] != name {
			continue
		}
		if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			return Some(n << 10)
		}
	}
	return Optional[int64]{}
}

// cpuName returns the model of the processor.
func cpuName() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // without it the name is unknown
	for line := range bytes.Lines(text) {
		if key, value, _ := strings.Cut(string(line), ":"); strings.TrimSpace(key) == "model name" {
			return printable(strings.TrimSpace(value))
		}
	}
	return "CPU"
}
