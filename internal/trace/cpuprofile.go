package trace

import (
	"fmt"
	"os"
	"runtime/pprof"
	"time"
)

// Lengths of the files of a profile of the CPU. Each is longer than the one before it, so a
// program that is killed loses at most a third of its time, and at most a minute.
const (
	firstProfile   = 500 * time.Millisecond
	longestProfile = time.Minute
	shortProfile   = 20 * time.Millisecond // is not ended early
)

// cpuProfile is a profile of the CPU in several files, so that most of it can be read after the
// program was killed. The zero value is inactive.
type cpuProfile struct {
	name   string
	number int
	file   *os.File
	begun  time.Time
	length time.Duration // of the current file
}

// CPUProfile returns the name of a file of the profile of the CPU that belongs to a recording.
// They are numbered from 0.
func CPUProfile(recording string, number int) string {
	return fmt.Sprintf("%s.cpu.%d", recording, number)
}

// start begins a profile. It fails if the program profiles the CPU itself.
func (p *cpuProfile) start(recording string) error {
	p.name, p.length = recording, firstProfile
	return p.begin()
}

func (p *cpuProfile) begin() error {
	file, err := os.Create(CPUProfile(p.name, p.number))
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		file.Close()
		os.Remove(file.Name())
		return err
	}
	p.file, p.begun = file, time.Now()
	p.number++
	return nil
}

// round begins a new file if it is time, or if the program may end soon.
func (p *cpuProfile) round(s Summary) error {
	age := time.Since(p.begun)
	if p.file == nil || !s.Final && age < p.length && !(s.Urgent && age > shortProfile) {
		return nil
	}
	pprof.StopCPUProfile()
	err := p.file.Close()
	p.file = nil
	if s.Final || err != nil {
		return err
	}
	p.length = min(p.length*3/2, longestProfile)
	_ = p.begin() // fails if the program has begun a profile of its own in the meantime
	return nil
}
