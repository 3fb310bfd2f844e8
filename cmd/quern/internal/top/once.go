package top

import (
	"io"
	"strings"

	"quern.dev/monitor"
)

// Print writes a snapshot as text, with all GPUs and processes.
func Print(w io.Writer, s *monitor.Snapshot) error {
	v := &View{Look: Look{Unicode: true, Plain: true}}
	v.Update(s)
	const columns = 160
	p := &screen{look: v.Look, columns: columns, rows: 1 << 20}
	v.printHeader(p)
	if len(s.GPUs) > 0 {
		shown, _ := visible(columns)
		p.line(func(l *line) {
			for _, c := range shown {
				l.put(plain, fit(c.title, c.width, c.right)+" ")
			}
		})
		for i := range s.GPUs {
			g := &s.GPUs[i]
			p.line(func(l *line) {
				for k, c := range shown {
					if _, cell := c.cell(g); k < barColumn || g.Problem == "" {
						l.put(plain, fit(cell, c.width, c.right)+" ")
					}
				}
				l.put(plain, g.Problem)
			})
		}
		v.drawProcesses(p)
	}
	var b strings.Builder
	for _, l := range p.lines {
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (v *View) printHeader(p *screen) {
	n := v.snapshot
	if n.Unavailable != "" {
		p.columns = 1 << 10
		p.text(plain, "%s.", strings.TrimPrefix(n.Unavailable, "monitor: "))
		p.columns = 160
		p.text(plain, "This is the CPU, which runs kernels as device cpu:")
	} else {
		p.text(plain, "driver %s, CUDA %s", n.DriverVersion, n.CUDAVersion)
	}
	p.text(plain, "CPU: %s, %d cores, load %s, memory %s GiB", n.CPU.Name, len(n.CPU.Cores), show(n.CPU.LoadPercent, percent),
		pair(float(n.CPU.MemoryUsedBytes()), float(n.CPU.MemoryTotalBytes), inGiB))
}
