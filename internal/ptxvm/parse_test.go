package ptxvm

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestParseDescribesTheKernels(t *testing.T) {
	m := mustParse(t, `// comment
.version 6.0
.target sm_50, debug
.address_size 64
/* a comment
   of two lines */
.shared .align 8 .b8 common[24];
.visible .entry first(
	.param .u64 x_ptr,
	.param .u64 .ptr .global .align 4 y_ptr,
	.param .u8 flag,
	.param .align 8 .b8 s[20],
	.param .f32 a
)
.maxntid 16, 16, 1
.minnctapersm 2
{
	.pragma "nounroll";
	.reg .b32 %r<100>;
	.shared .align 16 .b8 tile[100];
	.local .align 8 .b8 depot[12];
	mov.u32 %r99, %r98;
	ret;
}
.entry second() .reqntid 32 { ret; }
`+"\x00")
	if m.Version != "6.0" || m.Target != "sm_50,debug" {
		t.Errorf("version %q, target %q", m.Version, m.Target)
	}
	entries := m.Entries()
	if len(entries) != 2 || m.Entry("second") != entries[1] || m.Entry("third") != nil {
		t.Fatalf("entries %v", entries)
	}
	e := entries[0]
	want := []Param{{"x_ptr", 8, 8, 0}, {"y_ptr", 8, 8, 8}, {"flag", 1, 1, 16}, {"s", 20, 8, 24}, {"a", 4, 4, 44}}
	if fmt.Sprint(e.Params) != fmt.Sprint(want) {
		t.Errorf("params %v, want %v", e.Params, want)
	}
	if e.Name != "first" || e.SharedSize != 132 || e.LocalSize != 12 || e.Registers != 2 {
		t.Errorf("%s: shared %d, local %d, registers %d", e.Name, e.SharedSize, e.LocalSize, e.Registers)
	}
	if e.MaxThreads != [3]int{16, 16, 1} || entries[1].RequiredThreads != [3]int{32, 1, 1} {
		t.Errorf("maxntid %v, reqntid %v", e.MaxThreads, entries[1].RequiredThreads)
	}
}

func TestParseReportsErrorsWithTheirLines(t *testing.T) {
	for _, c := range []struct {
		name, src string
		line      int
		message   string
	}{
		{"nothing", "", 1, "no .version directive"},
		{"another language", "#include <stdio.h>", 1, `unexpected character '#'`},
		{"unterminated string", header + ".file 1 \"abc\n", 4, "string is not closed"},
		{"unterminated comment", "\n/* abc", 2, "comment is not closed"},
		{"invalid number", header + ".shared .b8 a[12ab];", 4, "invalid number 12ab"},
		{"invalid float", header + ".global .f32 a = 0f123;", 4, "want 8 hexadecimal digits"},
		{"32-bit addresses", ".version 6.0\n.address_size 32\n", 2, "address size 32"},
		{"unknown directive", header + ".texref t;", 4, ".texref is not supported"},
		{"device function", header + "\n.func f() { ret; }", 5, "device functions"},
		{"kernel twice", header + ".entry k() { ret; }\n.entry k() { ret; }", 5, "defined twice"},
		{"unterminated body", header + ".entry k()\n{ ret;", 5, "not closed"},
		{"variable twice", header + ".global .u32 a;\n.global .u32 a;", 5, "declared twice"},
		{"too much shared memory", header + ".shared .b8 a[300000];", 4, "the limit is"},
		{"too many parameters", header + ".entry k(.param .u32 n,\n.param .align 8 .b8 a[4352]) { ret; }", 5, "4360 bytes of parameter memory: the limit is 4352"},
		{"array too large", header + ".global .b8 a[99999999999];", 4, "invalid dimension"},
		{"nested arrays too large", header + ".global .b8 a[1000000][1000000];", 4, "invalid dimension"},
		{"too many initial values", header + ".global .u8 a[2] = {1, 2, 3};", 4, "too many initial values"},
		{"initializer of shared memory", header + ".shared .u32 a = 1;", 4, "cannot be initialized"},
		{"invalid alignment", header + ".global .align 3 .u32 a;", 4, "invalid alignment 3"},
		{"unknown instruction", kernel("wmma.load.a.sync %r1;"), 17, "wmma.load.a.sync is not supported"},
		{"instruction that does not exist", kernel("dpa4.u32 %r1;"), 17, "there is no instruction dpa4"},
		{"unknown modifier", kernel("add.foo.s32 %r3, %r1, %r2;"), 17, "modifier .foo is not supported"},
		{"unknown type", kernel("add.u33 %r3, %r1, %r2;"), 17, "no type"},
		{"type without an implementation", kernel("rem.f32 %f1, %f2, %f3;"), 17, "rem.f32 is not supported"},
		{"missing operand", kernel("add.s32 %r3, %r1;"), 17, "want 3 operands, have 2"},
		{"undeclared register", kernel("add.s32 %r3, %r1, %q1;"), 17, "%q1 is not declared"},
		{"register outside its range", kernel("mov.u32 %r16, %r1;"), 17, "%r16 is not declared"},
		{"register of another size", kernel("add.s32 %r3, %r1, %rd1;"), 17, "has type .b64, want .s32"},
		{"float register for an integer", kernel("add.s32 %r3, %r1, %f1;"), 17, "has type .f32, want .s32"},
		{"integer constant for a float", kernel("mov.f32 %f1, 1;"), 17, "1 is not a value of type .f32"},
		{"register that is not a predicate", kernel("@%r1 ret;"), 17, "want .pred"},
		{"undefined label", kernel("bra nowhere;"), 17, "no label nowhere"},
		{"label twice", kernel("here:\nhere:"), 18, "declared twice"},
		{"missing semicolon", kernel("mov.u32 %r3, 1\nmov.u32 %r4, 2;"), 18, `want ","`},
		{"variable of another space", kernel("ld.local.u32 %r3, [tile];"), 17, "tile is in shared memory"},
		{"store to a parameter", kernel("st.param.u64 [in], %rd1;"), 17, "not supported"},
		{"address without brackets", kernel("ld.global.u32 %r3, %rd1;"), 17, "in brackets"},
		{"vote without sync", kernel("vote.any.pred %p1, %p2;"), 17, "vote.sync"},
		{"vector of the wrong length", kernel("ld.global.v2.u32 {%r1,%r2,%r3}, [%rd1];"), 17, "vector of 2"},
		{"look-up table of nine bits", kernel("lop3.b32 %r3, %r3, %r3, %r3, 0x100;"), 17, "more than 8 bits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse(c.src)
			if m != nil || err == nil {
				t.Fatal("no error")
			}
			var first *SyntaxError
			if !errors.As(err, &first) {
				t.Fatalf("error of type %T", err)
			}
			if first.Line != c.line || !strings.Contains(first.Message, c.message) {
				t.Errorf("%v\nwant line %d: %s", err, c.line, c.message)
			}
		})
	}
}

func TestParseMarksUnsupportedPTX(t *testing.T) {
	for op := range otherOpcodes {
		if opcodes[op] != nil {
			t.Errorf("%s is listed, but supported", op)
		}
	}
	for _, c := range []struct {
		name, instruction string
		want              bool
	}{
		{"an unsupported instruction", "vadd4.u32.u32.u32 %r1, %r2, %r3, %r4;", true},
		{"an instruction that does not exist", "dpa4.u32 %r1;", false},
		{"an unsupported modifier", "add.foo.s32 %r3, %r1, %r2;", true},
		{"an unsupported type", "rem.f32 %f1, %f2, %f3;", true},
		{"a type that does not exist", "add.u33 %r3, %r1, %r2;", false},
		{"an unsupported special register", "mov.u32 %r3, %cluster_ctarank;", true},
		{"a register that is not declared", "mov.u32 %r3, %q1;", false},
		{"too few operands", "add.s32 %r3, %r1;", false},
	} {
		_, err := Parse(kernel(c.instruction))
		var e *SyntaxError
		if !errors.As(err, &e) || e.Unsupported != c.want {
			t.Errorf("%s: %v, unsupported %v, want %v", c.name, err, e.Unsupported, c.want)
		}
	}
}

func TestParseReportsSeveralErrorsAtOnce(t *testing.T) {
	_, err := Parse(kernel("add.s32 %r3, %r1;\nfoo %r4;\nmov.u32 %r4, 2;\nbra nowhere;"))
	var list ErrorList
	if !errors.As(err, &list) || len(list) != 3 {
		t.Fatalf("errors: %v", err)
	}
	for i, line := range []int{17, 18, 20} {
		if list[i].Line != line {
			t.Errorf("error %d: %v, want line %d", i, list[i], line)
		}
	}
	if _, err = Parse(kernel(strings.Repeat("foo;\n", 100))); !errors.As(err, &list) || len(list) != maxErrors {
		t.Errorf("%d errors, want %d", len(list), maxErrors)
	}
}
