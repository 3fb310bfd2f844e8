package ptxvm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func le64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

func bits32(v float32) uint64 { return uint64(math.Float32bits(v)) }
func bits64(v float64) uint64 { return math.Float64bits(v) }

// header starts a module. Its three lines count in PTX line numbers.
const header = ".version 8.0\n.target sm_90\n.address_size 64\n"

func mustParse(t testing.TB, src string) *Module {
	t.Helper()
	m, err := Parse(src)
	if err != nil {
		t.Fatalf("Parse: %v\n%s", err, src)
	}
	return m
}

// assembles checks that src is valid PTX, if ptxas is available.
func assembles(t *testing.T, src string) {
	t.Helper()
	ptxas := os.Getenv("PTXAS")
	if ptxas == "" {
		var err error
		if ptxas, err = osexec.LookPath("ptxas"); err != nil {
			return
		}
	}
	file := filepath.Join(t.TempDir(), "test.ptx")
	if err := os.WriteFile(file, []byte(src), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := osexec.Command(ptxas, "-arch=sm_90", "-o", os.DevNull, file).CombinedOutput(); err != nil {
		t.Errorf("ptxas: %v\n%s\n%s", err, out, src)
	}
}

// buffer is an allocation that a test kernel takes as a parameter.
type buffer struct {
	t       testing.TB
	m       *Memory
	address uint64
	size    int
}

func newBuffer(t testing.TB, m *Memory, size int, name string) buffer {
	t.Helper()
	address, err := m.Alloc(size, name)
	if err != nil {
		t.Fatal(err)
	}
	return buffer{t, m, address, size}
}

func (b buffer) zero() buffer {
	b.t.Helper()
	if err := b.m.Fill(b.address, b.size, []byte{0}); err != nil {
		b.t.Fatal(err)
	}
	return b
}

func (b buffer) param() []byte { return le64(b.address) }

func (b buffer) words() []uint32 {
	b.t.Helper()
	raw := make([]byte, b.size)
	if err := b.m.Read(b.address, raw); err != nil {
		b.t.Fatal(err)
	}
	words := make([]uint32, b.size/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(raw[4*i:])
	}
	return words
}

// kernel returns a module with a kernel that has parameters out and in, registers of all
// types, and the given body.
func kernel(body string) string {
	return header + `.visible .entry k(.param .u64 out, .param .u64 in)
{
.reg .pred %p<8>;
.reg .b16 %h<8>;
.reg .b32 %r<16>;
.reg .b64 %rd<8>;
.reg .f32 %f<8>; .reg .f64 %fd<10>;
.shared .align 16 .b8 tile[4096];
.local .align 8 .b8 depot[64];
ld.param.u64 %rd1, [out];
ld.param.u64 %rd2, [in];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
` + body + "\nret;\n}\n"
}

// bodyLine returns the line number of text in the module that kernel returns for body.
func bodyLine(t *testing.T, body, text string) int {
	t.Helper()
	before, _, ok := strings.Cut(kernel(body), text)
	if !ok {
		t.Fatalf("no %q in the body", text)
	}
	return strings.Count(before, "\n") + 1
}

// runKernel runs kernel(body) with checks on one block of threads, or as config says. If
// config has no memory, out and in are buffers of 4096 zero bytes.
func runKernel(t *testing.T, body string, threads int, config Config) (out buffer, err error) {
	t.Helper()
	src := kernel(body)
	assembles(t, src)
	m := mustParse(t, src)
	config.Checks = true
	config.Block = [3]int{threads, 1, 1}
	if config.Grid == [3]int{} {
		config.Grid = [3]int{1, 1, 1}
	}
	if config.Memory == nil {
		config.Memory = NewMemory()
		out = newBuffer(t, config.Memory, 4096, "out").zero()
		in := newBuffer(t, config.Memory, 4096, "in").zero()
		config.Params = [][]byte{out.param(), in.param()}
	}
	return out, m.Launch(context.Background(), "k", config)
}

// wantFault fails unless err is a fault of the given kind on the given line.
func wantFault(t *testing.T, err error, kind Kind, line int) *Fault {
	t.Helper()
	var f *Fault
	if !errors.As(err, &f) {
		t.Fatalf("error %v, want a fault: %v", err, kind)
	}
	if f.Kind != kind || f.PTXLine != line {
		t.Fatalf("fault: %v\nwant: %v at PTX line %d", f, kind, line)
	}
	return f
}

// instructionCase is an instruction with the values of its operands. The operands are %d
// and %a, %b, %c, %e. widths lists their widths in bits, or p for a predicate.
type instructionCase struct {
	text   string
	widths string
	in     []uint64
	want   uint64
}

// instructionModule returns a module with one kernel per case.
func instructionModule(cases []instructionCase) string {
	var b strings.Builder
	b.WriteString(header)
	for i, c := range cases {
		fmt.Fprintf(&b, ".visible .entry case%d(.param .u64 out, .param .b64 pa, .param .b64 pb, .param .b64 pc, .param .b64 pe)\n{\n", i)
		b.WriteString(".reg .b64 %out;\nld.param.b64 %out, [out];\n.reg .b32 %t;\n")
		widths := strings.Fields(c.widths)
		for k, w := range widths {
			name := "dabce"[k : k+1]
			switch {
			case w == "p":
				fmt.Fprintf(&b, ".reg .pred %%%s;\n", name)
				if k > 0 {
					fmt.Fprintf(&b, "ld.param.b32 %%t, [p%s];\nsetp.ne.u32 %%%s, %%t, 0;\n", name, name)
				}
			default:
				fmt.Fprintf(&b, ".reg .b%s %%%s;\n", w, name)
				if k > 0 {
					fmt.Fprintf(&b, "ld.param.b%s %%%s, [p%s];\n", w, name, name)
				}
			}
		}
		b.WriteString(c.text + "\n")
		if widths[0] == "p" {
			b.WriteString("selp.b32 %t, 1, 0, %d;\nst.global.b32 [%out], %t;\n")
		} else {
			fmt.Fprintf(&b, "st.global.b%s [%%out], %%d;\n", widths[0])
		}
		b.WriteString("ret;\n}\n")
	}
	return b.String()
}

func testInstructions(t *testing.T, cases []instructionCase) {
	t.Helper()
	src := instructionModule(cases)
	assembles(t, src)
	m := mustParse(t, src)
	memory := NewMemory()
	out := newBuffer(t, memory, 8, "out")
	for i, c := range cases {
		name := fmt.Sprintf("%s %x", c.text, c.in)
		out.zero()
		params := [][]byte{out.param(), le64(0), le64(0), le64(0), le64(0)}
		for k, v := range c.in {
			params[k+1] = le64(v)
		}
		err := m.Launch(context.Background(), fmt.Sprintf("case%d", i), Config{
			Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Params: params, Memory: memory, Checks: true,
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		words := out.words()
		if got := uint64(words[0]) | uint64(words[1])<<32; got != c.want {
			t.Errorf("%s = %#x, want %#x", name, got, c.want)
		}
	}
}
