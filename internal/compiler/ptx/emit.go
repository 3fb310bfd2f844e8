package ptx

import (
	"fmt"
	"strconv"

	"quern.dev/internal/compiler/ir"
)

// Options control the output of Emit.
type Options struct {
	// OmitLines omits .file and .loc.
	OmitLines bool
	// Target is the compute capability, times ten, of the oldest devices that the
	// module supports: operations that have a replacement for these devices use it.
	// Zero means that every operation uses its own instructions.
	Target int
}

// Module is the PTX of one kernel.
type Module struct {
	Text    string
	Entry   string // name of the entry: the kernel's name as a PTX identifier
	Version string // required PTX version, "6.0"
	Target  string // required target, "sm_50"

	Sites       []Site // possible failures; a fault record holds an index
	Cooperative bool   // all blocks must be resident at once
	SharedBytes int    // shared variables per block; above ir.MaxStaticShared they are in dynamic memory
	LocalBytes  int    // variables in memory per thread

	// Replaceable reports that the module for older devices is a different one; see
	// Options.Target.
	Replaceable bool
}

// Error reports a construct that PTX cannot express, or a kernel that is not in final
// form.
type Error struct {
	Kernel string
	Pos    ir.Pos
	Msg    string
}

func (e *Error) Error() string {
	if e.Pos.Line == 0 {
		return fmt.Sprintf("kernel %s: %s", e.Kernel, e.Msg)
	}
	return fmt.Sprintf("%s: kernel %s: %s", e.Pos, e.Kernel, e.Msg)
}

// Position returns the position of the construct.
func (e *Error) Position() ir.Pos { return e.Pos }

// Message says what is wrong.
func (e *Error) Message() string { return e.Msg }

// generator emits one kernel. Each file of this package adds the methods for one
// subject.
type generator struct {
	writer
	kernel    *ir.Kernel
	options   Options
	err       *Error // the first error; emission continues with arbitrary operands
	target    int    // required compute capability times ten
	usesTiles bool   // there are products of tiles
	only      bool   // devices of this compute capability only
	version   int    // required PTX version times ten

	replaceable bool                    // some operation has a replacement for older devices
	sources     map[*ir.Local][]ir.Expr // see findSources
	visiting    map[*ir.Local]bool
	negations   map[ir.Expr]ir.Expr // and what they negate; see findNegations

	names     map[string]bool // used PTX identifiers
	params    []*parameter
	variables map[*ir.Local]*variable
	order     []*variable // in order of first use
	shared    sharedMemory
	memories  []*memory // shared and local variables, in order of declaration
	tables    []*table
	coords    map[ir.ThreadOp]operand
	lanes     members // of the thread's warp
	// For the grid's barriers, if any: the expected number of arrivals, and the number
	// of blocks in the grid.
	arrivals, gridSize operand
	loops              map[*ir.Label]*target
	steady             steadies
	stepped            stepped
	faults             faults
	lines              lines
	replaced           map[operand]operand // registers that removeRepeats removed

	before   []ir.Stmt         // belongs to the loop that is emitted next, see entering
	mentions map[*ir.Local]int // in the kernel; nil until requested

	readsCaps bool     // some capacity is read
	barriers  *bool    // see synchronises; nil until requested
	zeros     trailing // nil until requested
}

// maxLocal is the maximum local memory per thread in bytes, on every device (CUDA C
// Programming Guide, compute capabilities).
const maxLocal = 512 << 10

// Emit translates a kernel in final form. It does not change the kernel. The error is
// an *Error.
func Emit(k *ir.Kernel, options Options) (*Module, error) {
	g := &generator{
		kernel:    k,
		options:   options,
		target:    50,
		version:   60,
		names:     map[string]bool{"WARP_SZ": true}, // the one reserved word that is a valid identifier
		variables: map[*ir.Local]*variable{},
		coords:    map[ir.ThreadOp]operand{},
		loops:     map[*ir.Label]*target{},
	}
	name := g.unique(k.Entry())
	g.declareParameters()
	g.declareShared()
	g.declareVariables()
	g.findSources(k.Func.Body)
	g.findNegations(k.Func.Body)

	g.initCopyBarriers()
	if !g.body(k.Func.Body) {
		g.emit("ret")
	}
	g.faultHandler()
	g.removeRepeats()
	if n := g.bytes(localSpace); n > maxLocal {
		g.fail(k.Func.Pos, "the kernel's variables take %d bytes of local memory; a thread has at most %d; use slice parameters", n, maxLocal)
	}
	if g.err != nil {
		return nil, g.err
	}
	return &Module{
		Text:        g.module(name),
		Entry:       name,
		Version:     g.ptxVersion(),
		Replaceable: g.replaceable,
		Target:      g.targetName(),
		Sites:       g.faults.sites,
		Cooperative: !g.arrivals.isNone(),
		SharedBytes: g.sharedBytes(),
		LocalBytes:  g.bytes(localSpace),
	}, nil
}

// fail records an error.
func (g *generator) fail(pos ir.Pos, format string, args ...any) {
	if g.err == nil {
		g.err = &Error{g.kernel.Name, pos, fmt.Sprintf(format, args...)}
	}
}

// need raises the target to at least compute capability sm/10.
func (g *generator) need(sm int) { g.target = max(g.target, sm) }

// needVersion raises the PTX version to at least v/10.
func (g *generator) needVersion(v int) { g.version = max(g.version, v) }

func (g *generator) ptxVersion() string { return fmt.Sprintf("%d.%d", g.version/10, g.version%10) }

// has reports whether the module may use instructions of compute capability sm/10 that
// have a replacement on older devices. If so, it raises the target.
func (g *generator) has(sm int) bool {
	g.replaceable = true
	if g.options.Target != 0 && g.options.Target < sm {
		return false
	}
	g.need(sm)
	return true
}

// hasOnly is has for instructions that only devices of exactly this compute capability have.
func (g *generator) hasOnly(sm int) bool {
	g.replaceable = true
	if g.options.Target != 0 {
		return false
	}
	g.need(sm)
	g.only = true
	return true
}

func (g *generator) targetName() string {
	name := "sm_" + strconv.Itoa(g.target)
	if g.only {
		name += "a"
	}
	return name
}

// unique converts name to an unused PTX identifier and reserves it.
func (g *generator) unique(name string) string {
	id := make([]byte, 0, len(name))
	for i, r := range name {
		switch {
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r == '_' || '0' <= r && r <= '9' && i > 0:
			id = append(id, byte(r))
		default:
			id = append(id, '_')
		}
	}
	if len(id) == 0 || string(id) == "_" { // _ is the bit bucket
		id = append(id, "_0"...)
	}
	base := string(id)
	for n := 1; g.names[string(id)]; n++ {
		id = strconv.AppendInt(append(append(id[:0], base...), '_'), int64(n), 10)
	}
	g.names[string(id)] = true
	return string(id)
}

// module builds the text.
func (g *generator) module(name string) string {
	b := make([]byte, 0, len(g.text)+len(g.entry)+len(g.cold)+2048)
	b = fmt.Appendf(b, ".version %s\n.target %s\n.address_size 64\n", g.ptxVersion(), g.targetName())
	if len(g.lines.names)+len(g.tables) > 0 || g.shared.dynamic != nil {
		b = append(b, '\n')
	}
	for i, f := range g.lines.names {
		b = fmt.Appendf(b, ".file %d %+q\n", i+1, f) // ptxas accepts only ASCII
	}
	for _, t := range g.tables {
		b = t.append(b)
	}
	b = g.shared.appendDynamic(b)
	b = fmt.Appendf(b, "\n.visible .entry %s(", name)
	for i, p := range g.params {
		if i > 0 {
			b = append(b, ',')
		}
		b = p.append(append(b, "\n\t"...))
	}
	b = append(b, "\n)\n"...)
	if d := g.kernel.Options.Block; d[0] > 0 {
		b = fmt.Appendf(b, ".reqntid %d, %d, %d\n", d[0], max(d[1], 1), max(d[2], 1))
	}
	b = g.appendBounds(b)
	b = g.appendCluster(b)
	b = append(b, "{\n"...)
	for c, n := range g.counts {
		if n > 0 {
			b = fmt.Appendf(b, "\t.reg %s %s<%d>;\n", classType[c], classPrefix[c], n+1)
		}
	}
	for _, m := range g.memories {
		b = m.append(b)
	}
	b = g.appendVariableNames(b)
	b = append(b, '\n')
	b = append(b, g.entry...)
	b = append(b, g.text...)
	b = append(b, g.cold...)
	return string(append(b, "}\n"...))
}

// appendVariableNames adds comments that map the first registers to variables.
func (g *generator) appendVariableNames(b []byte) []byte {
	const perLine, most = 8, 64
	n := 0
	note := func(name, part string, o operand) {
		if w, ok := g.replaced[o]; ok {
			o = w
		}
		if name == "" || n == most || !o.isRegister() {
			return
		}
		if n%perLine == 0 {
			b = append(b, "\n\t//"...)
		}
		n++
		b = fmt.Appendf(o.append(append(b, ' ')), " %s%s", name, part)
		b = append(b, ',')
	}
	for _, v := range g.order {
		if v.home != inRegisters {
			continue
		}
		name := g.comment(v.local.Name)
		note(name, "", v.register)
		note(name, ".ptr", v.pointer)
		note(name, ".len", v.length)
		note(name, ".cap", v.capacity)
	}
	if n > 0 {
		b[len(b)-1] = '\n'
	}
	return b
}

// comment returns a name for a line comment, or "" if the comment would be invalid. ptxas 13.0
// accepts only ASCII in comments.
func (g *generator) comment(name string) string {
	for _, r := range name {
		if r < ' ' || r > '~' || r == '\\' {
			return ""
		}
	}
	return name
}
