package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"quern.dev/internal/ptxvm"
	"quern.dev/internal/sampling"
)

// SampledListing is the source of a kernel with what its warps did at each line, as samples of the
// GPU say.
type SampledListing struct {
	Kernel  string            `json:"kernel"` // with the path of its package
	Share   float64           `json:"share"`  // of the samples of all kernels
	Samples uint64            `json:"samples"`
	Reasons map[string]uint64 `json:"reasons"`
	Files   []SampledFile     `json:"files"` // that with the most samples first
}

// SampledFile is a file with code of the kernel.
type SampledFile struct {
	Name  string        `json:"name"`
	Lines []SampledLine `json:"lines"`
}

// SampledLine is a line of a listing.
type SampledLine struct {
	Number  int               `json:"number"` // 0 is code that belongs to no line
	Text    string            `json:"text"`
	Samples uint64            `json:"samples"`           // of warps at the line; 0 for lines between others
	Reasons map[string]uint64 `json:"reasons,omitempty"` // the same by what the warps did
}

// SampledListings makes listings of samples, the kernel with the most samples first.
func SampledListings(s *sampling.Samples, sources Sources) []SampledListing {
	all := uint64(0)
	for i := range s.Kernels {
		all += s.Kernels[i].Total()
	}
	var list []SampledListing
	for i := range s.Kernels {
		k := &s.Kernels[i]
		l := SampledListing{Kernel: k.Name, Share: share(k.Total(), all), Samples: k.Total(), Reasons: map[string]uint64{}}
		files := map[string][]sampling.Line{}
		for _, line := range k.Lines {
			files[line.File] = append(files[line.File], line)
			for reason, n := range line.Reasons {
				l.Reasons[reason] += n
			}
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			l.Files = append(l.Files, sampledFile(KernelPackage(k.Name), files[name], sources))
		}
		slices.SortStableFunc(l.Files, func(x, y SampledFile) int { return cmp.Compare(y.samples(), x.samples()) })
		list = append(list, l)
	}
	slices.SortStableFunc(list, func(x, y SampledListing) int { return cmp.Compare(y.Samples, x.Samples) })
	return list
}

// sampledFile lists lines with those around them, as for counts.
func sampledFile(pkg string, lines []sampling.Line, sources Sources) SampledFile {
	counts, reasons := make([]ptxvm.LineCount, len(lines)), map[int]map[string]uint64{}
	for i := range lines {
		l := &lines[i]
		counts[i] = ptxvm.LineCount{File: l.File, Line: l.Line, Count: ptxvm.Count{Instructions: l.Total()}}
		reasons[l.Line] = l.Reasons
	}
	plain := fileOf(pkg, counts, sources)
	f := SampledFile{Name: plain.Name}
	for _, l := range plain.Lines {
		f.Lines = append(f.Lines, SampledLine{l.Number, l.Text, l.Count.Instructions, reasons[l.Number]})
	}
	return f
}

func (f *SampledFile) samples() (n uint64) {
	for i := range f.Lines {
		n += f.Lines[i].Samples
	}
	return n
}

// issued is the reason of samples at which a warp did not wait.
const issued = "selected"

// reasonTexts say what the reasons mean.
var reasonTexts = map[string]string{
	"not_selected":       "the warp could go on, but another one did",
	"long_scoreboard":    "waits for global, local or texture memory",
	"short_scoreboard":   "waits for shared memory, a square root or another function",
	"wait":               "waits for the fixed time that the instruction before takes",
	"barrier":            "waits for the other warps of its block",
	"lg_throttle":        "too many accesses to global and local memory are under way",
	"mio_throttle":       "too many accesses to shared memory, or functions, are under way",
	"tex_throttle":       "too many accesses to textures are under way",
	"math_pipe_throttle": "the arithmetic unit is busy",
	"no_instruction":     "waits for the code of the next instruction",
	"no_instructions":    "waits for the code of the next instruction",
	"branch_resolving":   "waits for the target of a jump",
	"membar":             "waits at a fence until its stores are visible",
	"imc_miss":           "waits for constants or parameters",
	"dispatch_stall":     "the unit that starts instructions is busy",
	"drain":              "has ended, and waits until its stores are done",
	"sleeping":           "sleeps",
	"gmma":               "waits for the tensor cores",
	"warpgroup_arrive":   "waits for the other warps of its group",
}

// leastReason is the share of a line's samples from which a reason is shown.
const leastReason = 0.05

// waits returns what warps waited for, the most frequent first.
func waits(reasons map[string]uint64, most int) (list []string, names []string) {
	total := uint64(0)
	for reason, n := range reasons {
		total += n
		if reason != issued {
			names = append(names, reason)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(reasons[b], reasons[a]), strings.Compare(a, b)) })
	for i, reason := range names {
		if i == most || share(reasons[reason], total) < leastReason {
			return list, names[:i]
		}
		list = append(list, fmt.Sprintf("%s %.0f %%", reason, 100*share(reasons[reason], total)))
	}
	return list, names
}

// WriteSampledText writes listings for a terminal. limit is the number of kernels, 0 for all.
func WriteSampledText(w io.Writer, list []SampledListing, limit int) error {
	var b strings.Builder
	shown := map[string]bool{}
	for i := range list {
		if limit > 0 && i == limit {
			fmt.Fprintf(&b, "and %s\n\n", plural(int64(len(list)-limit), "more kernel", "more kernels"))
			break
		}
		list[i].write(&b, shown)
	}
	for _, reason := range slices.Sorted(maps.Keys(shown)) {
		if text := reasonTexts[reason]; text != "" {
			fmt.Fprintf(&b, "%-19s %s\n", reason, text)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (l *SampledListing) write(b *strings.Builder, shown map[string]bool) {
	waiting, names := waits(l.Reasons, 3)
	fmt.Fprintf(b, "%s: %.1f %% of all samples, %s; a warp issued an instruction in %.0f %% of them", l.Kernel, 100*l.Share, count(l.Samples), 100*share(l.Reasons[issued], l.Samples))
	if len(waiting) > 0 {
		fmt.Fprintf(b, ", else: %s", strings.Join(waiting, ", "))
	}
	b.WriteString("\n\n")
	for _, name := range names {
		shown[name] = true
	}
	for i := range l.Files {
		f := &l.Files[i]
		fmt.Fprintf(b, "%s\n%7s %7s  %s\n", f.Name, "share", "issued", "waited for")
		last := 0
		for j := range f.Lines {
			line := &f.Lines[j]
			if last > 0 && line.Number > last+1 {
				b.WriteString(strings.Repeat(" ", 67) + "...\n")
			}
			last = line.Number
			line.write(b, l.Samples, shown)
		}
		b.WriteByte('\n')
	}
}

func (l *SampledLine) write(b *strings.Builder, total uint64, shown map[string]bool) {
	part, active, number := "", "", ""
	waiting, names := waits(l.Reasons, 2)
	if l.Samples > 0 {
		part = fmt.Sprintf("%.1f %%", 100*share(l.Samples, total))
		active = fmt.Sprintf("%.0f %%", 100*share(l.Reasons[issued], l.Samples))
		for _, name := range names {
			shown[name] = true
		}
	}
	if l.Number > 0 {
		number = fmt.Sprint(l.Number)
	}
	line := fmt.Sprintf("%7s %7s  %-44s %6s  %s", part, active, strings.Join(waiting, ", "), number, l.Text)
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}
