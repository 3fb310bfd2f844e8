package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"quern.dev/internal/ptxvm"
)

// Listing is the source of a kernel with what each line did.
type Listing struct {
	Kernel   string        `json:"kernel"` // with the path of its package
	Launches uint64        `json:"launches"`
	Blocks   uint64        `json:"blocks"`
	Threads  uint64        `json:"threads"`
	Total    ptxvm.Count   `json:"total"`
	Files    []ListingFile `json:"files"`
}

// ListingFile is a file with code of the kernel.
type ListingFile struct {
	Name  string        `json:"name"`
	Lines []ListingLine `json:"lines"`
}

// ListingLine is a line of a listing.
type ListingLine struct {
	Number int         `json:"number"` // 0 is code that belongs to no line
	Text   string      `json:"text"`
	Count  ptxvm.Count `json:"count"` // zero for lines between others
}

// Total returns the sum over all lines.
func Total(k *ptxvm.KernelCount) ptxvm.Count {
	var sum ptxvm.Count
	for i := range k.Lines {
		sum.Add(&k.Lines[i].Count)
	}
	return sum
}

// Listings makes listings of what was counted, the kernel with the most instructions first.
func Listings(counts []ptxvm.KernelCount, sources Sources) []Listing {
	var list []Listing
	for i := range counts {
		k := &counts[i]
		l := Listing{Kernel: k.Name, Launches: k.Launches, Blocks: k.Blocks, Threads: k.Threads, Total: Total(k)}
		pkg := KernelPackage(k.Name)
		for at := 0; at < len(k.Lines); {
			end := at
			for end < len(k.Lines) && k.Lines[end].File == k.Lines[at].File {
				end++
			}
			l.Files = append(l.Files, fileOf(pkg, k.Lines[at:end], sources))
			at = end
		}
		slices.SortStableFunc(l.Files, func(x, y ListingFile) int { return cmp.Compare(y.instructions(), x.instructions()) })
		list = append(list, l)
	}
	slices.SortStableFunc(list, func(x, y Listing) int { return cmp.Compare(y.Total.Instructions, x.Total.Instructions) })
	return list
}

func (f *ListingFile) instructions() (n uint64) {
	for i := range f.Lines {
		n += f.Lines[i].Count.Instructions
	}
	return n
}

// around is the number of lines that are shown around lines that did something.
const around = 2

// fileOf lists the lines of a file that did something, and those around and between them.
func fileOf(pkg string, counted []ptxvm.LineCount, sources Sources) ListingFile {
	name := counted[0].File
	f := ListingFile{Name: name}
	if name == "" {
		f.Name = "code of no line, such as the setup of threads"
	}
	text := sources.Lines(sources.Find(pkg, name))
	last := 0
	for i := range counted {
		c := &counted[i]
		from := c.Line
		if len(text) > 0 && c.Line > 0 {
			from = max(1, c.Line-around)
			if last > 0 && from > last+1+2*around {
				between(&f, text, last+1, last+around)
			} else if last > 0 {
				from = last + 1
			}
		}
		between(&f, text, max(from, last+1), c.Line-1)
		f.Lines = append(f.Lines, ListingLine{Number: c.Line, Text: lineOf(text, c.Line), Count: c.Count})
		last = c.Line
	}
	between(&f, text, last+1, last+around)
	return f
}

// between adds lines that did nothing.
func between(f *ListingFile, text []string, from, to int) {
	for n := from; n <= to && n <= len(text) && len(text) > 0; n++ {
		f.Lines = append(f.Lines, ListingLine{Number: n, Text: lineOf(text, n)})
	}
}

func lineOf(text []string, n int) string {
	if n < 1 || n > len(text) {
		return ""
	}
	return strings.TrimRight(strings.ReplaceAll(text[n-1], "\t", "    "), " \r")
}

// Limits from which a line is worth advice.
const (
	mostSectors = 1.5 // times the sectors that adjacent accesses need
	mostPasses  = 1.5 // times the passes without bank conflicts
	leastLanes  = 0.7 // of the lanes of a warp
	leastShare  = 0.05
)

// lineAdvice says what is wrong with lines of a kernel. k may be nil.
func lineAdvice(k *ptxvm.KernelCount) []string {
	if k == nil {
		return nil
	}
	var list []string
	sum := Total(k)
	for i := range k.Lines {
		l := &k.Lines[i]
		at := fmt.Sprintf("%s:%d", l.File, l.Line)
		if l.Line == 0 {
			continue
		}
		if excess := float64(l.Sectors) / float64(max(l.Least, 1)); excess > mostSectors && share(l.Sectors, sum.Sectors) > leastShare {
			list = append(list, fmt.Sprintf("%s: accesses touch %.1f times the memory that they use. Neighbouring threads should access neighbouring elements.", at, excess))
		}
		if excess := float64(l.Passes) / float64(max(l.Fewest, 1)); excess > mostPasses && share(l.Passes, sum.Passes) > leastShare {
			list = append(list, fmt.Sprintf("%s: bank conflicts make accesses to shared memory take %.1f times as long. Pad the rows of the array by one element.", at, excess))
		}
		if lanes := share(l.Lanes, 32*l.Instructions); lanes < leastLanes && share(l.Instructions, sum.Instructions) > leastShare {
			list = append(list, fmt.Sprintf("%s: on average %.0f of 32 lanes are active.", at, 32*lanes))
		}
	}
	return list
}

func share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// WriteText writes listings for a terminal. limit is the number of kernels, 0 for all.
func WriteText(w io.Writer, list []Listing, limit int) error {
	var b strings.Builder
	for i := range list {
		if limit > 0 && i == limit {
			fmt.Fprintf(&b, "and %d more kernels\n", len(list)-limit)
			break
		}
		list[i].write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (l *Listing) write(b *strings.Builder) {
	t := &l.Total
	fmt.Fprintf(b, "%s: %s, %s, %s\n", l.Kernel, plural(int64(l.Launches), "launch", "launches"), plural(int64(l.Blocks), "block", "blocks"), plural(int64(l.Threads), "thread", "threads"))
	fmt.Fprintf(b, "%s warp instructions with %.1f of 32 lanes active, %s floating-point operations, %s bytes of global memory in %s sectors\n\n",
		count(t.Instructions), 32*share(t.Lanes, 32*t.Instructions), count(t.Operations), count(t.Bytes), count(t.Sectors))
	for i := range l.Files {
		f := &l.Files[i]
		fmt.Fprintf(b, "%s\n%7s %10s %6s %9s %8s %6s  \n", f.Name, "share", "warp ops", "lanes", "diverged", "sectors", "banks")
		last := 0
		for j := range f.Lines {
			line := &f.Lines[j]
			if last > 0 && line.Number > last+1 {
				b.WriteString(strings.Repeat(" ", 52) + "    ...\n")
			}
			last = line.Number
			line.write(b, t)
		}
		b.WriteByte('\n')
	}
}

func (l *ListingLine) write(b *strings.Builder, total *ptxvm.Count) {
	c := &l.Count
	cells := [6]string{}
	if c.Instructions > 0 {
		cells[0] = fmt.Sprintf("%.1f %%", 100*share(c.Instructions, total.Instructions))
		cells[1] = short(c.Instructions)
		cells[2] = fmt.Sprintf("%.1f", 32*share(c.Lanes, 32*c.Instructions))
	}
	if c.Branches > 0 {
		cells[3] = fmt.Sprintf("%.0f %%", 100*share(c.Diverged, c.Branches))
	}
	if c.Loads > 0 {
		cells[4] = fmt.Sprintf("%.1f", float64(c.Sectors)/float64(c.Loads))
		if float64(c.Sectors) > mostSectors*float64(c.Least) {
			cells[4] += "!"
		}
	}
	if c.Shared > 0 {
		cells[5] = fmt.Sprintf("%.1f", float64(c.Passes)/float64(c.Fewest))
		if float64(c.Passes) > mostPasses*float64(c.Fewest) {
			cells[5] += "!"
		}
	}
	number := ""
	if l.Number > 0 {
		number = fmt.Sprint(l.Number)
	}
	line := fmt.Sprintf("%7s %10s %6s %9s %8s %6s %6s  %s", cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], number, l.Text)
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// short returns a number with at most four digits and a unit.
func short(n uint64) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 10_000_000:
		return fmt.Sprintf("%.4gk", float64(n)/1e3)
	case n < 10_000_000_000:
		return fmt.Sprintf("%.4gM", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.4gG", float64(n)/1e9)
	}
}
