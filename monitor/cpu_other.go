//go:build !linux

package monitor

import "runtime"

// cpuReader returns what is known of the processors on systems without /proc.
type cpuReader struct{}

func (cpuReader) read() CPU {
	c := CPU{Name: runtime.GOARCH, Cores: make([]Core, runtime.NumCPU())}
	for i := range c.Cores {
		c.Cores[i].Index = i
	}
	return c
}
