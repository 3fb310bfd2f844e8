package top

import (
	"context"
	"fmt"
	"os"
	"strings"

	"quern.dev/internal/terminal"
	"quern.dev/monitor"
)

// Control sequences of ANSI terminals.
const (
	enter      = "\x1b[?1049h\x1b[?25l\x1b[?7l" // the other screen, without cursor and wrapping
	leave      = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	clearAll   = "\x1b[2J"
	eraseRight = "\x1b[K"
)

// Run shows v on a terminal until the user quits or ctx ends.
func Run(ctx context.Context, in, out *os.File, v *View) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	restore, err := terminal.Raw(in)
	if err != nil {
		return err
	}
	d := &display{out: out}
	defer func() {
		restore()
		fmt.Fprint(out, leave)
	}()
	fmt.Fprint(out, enter)
	resized, stop := terminal.Resized()
	defer stop()
	snapshots, typed := sample(ctx, v), read(in)
	for {
		if err := d.draw(v); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case s, ok := <-snapshots:
			if !ok {
				return nil
			}
			v.Update(s)
		case <-resized:
		case text, ok := <-typed:
			if !ok {
				return nil // the terminal is gone
			}
			v.Keys(text)
		}
		if v.quit {
			return nil
		}
		if v.suspend {
			v.suspend = false
			fmt.Fprint(out, leave)
			restore()
			if err := terminal.Suspend(); err != nil {
				return err
			}
			if restore, err = terminal.Raw(in); err != nil {
				return err
			}
			fmt.Fprint(out, enter)
			d.lines = nil
		}
	}
}

// sample returns the snapshots of the machine. If they are not taken in time, the newest stays.
func sample(ctx context.Context, v *View) <-chan *monitor.Snapshot {
	c := make(chan *monitor.Snapshot, 1)
	go func() {
		defer close(c)
		for s := range monitor.Sample(ctx, v.Interval) {
			select {
			case <-c:
			default:
			}
			c <- s
		}
	}()
	return c
}

// read returns what is typed. Its goroutine ends with the process, because a read cannot be
// interrupted.
func read(in *os.File) <-chan string {
	c := make(chan string)
	go func() {
		defer close(c)
		b := make([]byte, 256)
		for {
			n, err := in.Read(b)
			if err != nil || n == 0 {
				return
			}
			c <- string(b[:n])
		}
	}()
	return c
}

// display writes the lines that have changed.
type display struct {
	out           *os.File
	columns, rows int
	lines         []string
}

func (d *display) draw(v *View) error {
	columns, rows, err := terminal.Size(d.out)
	if err != nil {
		return err
	}
	if columns <= 0 || rows <= 0 { // serial lines do not know
		columns, rows = MinColumns, MinRows
	}
	var b strings.Builder
	if d.lines == nil || columns != d.columns || rows != d.rows {
		b.WriteString(clearAll)
		d.columns, d.rows, d.lines = columns, rows, nil
	}
	lines := v.Frame(columns, rows)
	for i, l := range lines {
		if i < len(d.lines) && d.lines[i] == l {
			continue
		}
		fmt.Fprintf(&b, "\x1b[%d;1H%s%s", i+1, eraseRight, l)
	}
	d.lines = lines
	if b.Len() == 0 {
		return nil
	}
	_, err = d.out.WriteString(b.String())
	return err
}
