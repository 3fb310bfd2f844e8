package opt

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
	"quern.dev/internal/testmodule"
)

func init() { VerifyPasses = true }

func TestPassesRunInAnOrderThatMeetsTheConstraints(t *testing.T) {
	ran := map[string]int{}
	for i, p := range passes {
		if _, twice := ran[p.name]; twice || p.name == "" {
			t.Errorf("two passes are named %q", p.name)
		}
		if i > 0 && (p.phase < passes[i-1].phase || p.phase == passes[i-1].phase && p.stage < passes[i-1].stage) {
			t.Errorf("%s is out of its phase, or takes back what %s promised", p.name, passes[i-1].name)
		}
		for _, a := range p.after {
			if _, ok := ran[a.name]; !ok || a.because == "" || (p.phase == forGo) != (passes[ran[a.name]].phase == forGo) {
				t.Errorf("%s does not run after %s: %s", p.name, a.name, a.because)
			}
		}
		ran[p.name] = i
	}
}

// The lists of passes in the package documentation and in docs/ARCHITECTURE.md are
// generated from the table: go test ./internal/compiler/opt -run Documentation -update
func TestDocumentationListsThePasses(t *testing.T) {
	var doc, text strings.Builder
	for ph, heading := range headings {
		fmt.Fprintf(&doc, "//\n// %s:\n//\n", heading)
		fmt.Fprintf(&text, "\n%s:\n\n", heading)
		for _, p := range of(phase(ph)) {
			fmt.Fprintf(&doc, "//   - %s: %s;\n", p.name, p.does)
			fmt.Fprintf(&text, "- **%s**: %s\n", p.name, p.does)
		}
	}
	fmt.Fprint(&text, "\n")
	for _, c := range []struct{ file, from, to, want string }{
		{"doc.go", "// The passes, in their order (written by a test from the table in pass.go):\n", "//\n// A pass preserves what", doc.String()},
		{"../../../docs/ARCHITECTURE.md", "<!-- passes: written by a test in internal/compiler/opt -->\n", "<!-- end of passes -->", text.String()},
	} {
		testmodule.NeedSource(t)
		data, err := os.ReadFile(c.file)
		if err != nil {
			t.Fatal(err)
		}
		before, rest, ok1 := strings.Cut(string(data), c.from)
		got, after, ok2 := strings.Cut(rest, c.to)
		switch {
		case !ok1 || !ok2:
			t.Errorf("%s has no list of passes between %q and %q", c.file, c.from, c.to)
		case got != c.want && *update:
			if err := os.WriteFile(c.file, []byte(before+c.from+c.want+c.to+after), 0o644); err != nil {
				t.Fatal(err)
			}
		case got != c.want:
			t.Errorf("%s lists other passes than there are; run this test with -update", c.file)
		}
	}
}

var update = flag.Bool("update", false, "rewrite the lists of passes")

// common are the passes that run once on the kernel.
var common = of(once)

// through runs the common passes up to the named one and returns the body as text,
// without the head and the declarations.
func through(t *testing.T, last string, k *ir.Kernel) string {
	t.Helper()
	if err := ir.Verify(k, ir.StageFront); err != nil {
		t.Fatalf("%v\n%s", err, k)
	}
	for i, p := range common {
		if p.name != last {
			continue
		}
		if err := all.run(k, common[:i+1], target{}); err != nil {
			t.Fatalf("%v\n%s", err, k)
		}
		return text(k)
	}
	t.Fatalf("no pass %s", last)
	return ""
}

// text returns a kernel's body as text, with variables by name only.
func text(k *ir.Kernel) string {
	var out []string
	for _, line := range strings.Split(k.String(), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line == "}" || strings.HasPrefix(line, "var ") || strings.HasPrefix(line, "kernel ") || strings.HasPrefix(line, "shared ") && !strings.Contains(line, "=") {
			continue
		}
		out = append(out, line)
	}
	return variableNumber.ReplaceAllString(strings.Join(out, "\n"), "")
}

var variableNumber = regexp.MustCompile(`\bv\d+\.`)

func lines(list ...string) string { return strings.Join(list, "\n") }

// passCase is a kernel and the expected text after a pass.
type passCase struct {
	name   string
	kernel func() *ir.Kernel
	want   string
}

func checkPass(t *testing.T, last string, cases []passCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := through(t, last, c.kernel()); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func locals(list ...*ir.Local) []*ir.Local { return list }

var ints = ir.SliceOf(ir.TInt)

func TestInlinedCallsLeaveNoTrace(t *testing.T) {
	clamp := func() *ir.Func {
		v, lo := Local("v", ir.TInt), Local("lo", ir.TInt)
		return Func("clamp", locals(v, lo), locals(Local("r", ir.TInt)), nil,
			If(Lt(ir.Get(v), ir.Get(lo)), Return(ir.Get(lo))),
			Return(ir.Get(v)))
	}
	find := func() *ir.Func {
		s, i := Local("s", ints), Local("i", ir.TInt)
		return Func("find", locals(s), locals(Local("r", ir.TInt)), locals(i), Body(
			For(i, Int(0), Len(s), If(Lt(Load(Elem(s, ir.Get(i))), Int(0)), Return(ir.Get(i)))),
			Return(Int(-1)))...)
	}
	set := func() *ir.Func {
		p, v := Local("p", ir.PointerTo(ir.TInt)), Local("v", ir.TInt)
		return Func("set", locals(p, v), nil, nil, SetPlace(Deref(p), Add(Load(Deref(p)), ir.Get(v))))
	}
	n, out, x := func() *ir.Local { return Local("n", ir.TInt) }, func() *ir.Local { return Local("out", ints) }, func() *ir.Local { return Local("x", ir.TInt) }
	checkPass(t, "pointers", []passCase{
		{"an early return becomes the other branch", func() *ir.Kernel {
			n, out, x := n(), out(), x()
			return Kernel("k", locals(n, out), locals(x),
				Call(x, clamp(), ir.Get(n), Int(3)),
				SetPlace(Elem(out, Int(0)), ir.Get(x)))
		}, lines(
			"if n < 3 {", "x = 3", "} else {", "x = n",
			"out[?0] = x")},
		{"a return in a loop leaves a block", func() *ir.Kernel {
			out, x := out(), x()
			return Kernel("k", locals(out), locals(x),
				Call(x, find(), ir.Get(out)),
				SetPlace(Elem(out, Int(0)), ir.Get(x)))
		}, lines(
			"block L0.find {", "i = 0", "for L1.i i < len(out) {",
			"if out[?i] < 0 {", "x = i", "break L0.find",
			"} post {", "i = i + 1", "x = -1", "out[?0] = x")},
		{"a pointer parameter is what it points to", func() *ir.Kernel {
			out, x := out(), x()
			return Kernel("k", locals(out), locals(x),
				Set(x, Int(1)),
				Call(nil, set(), Addr(Var(x)), Int(2)),
				Call(nil, set(), Addr(Elem(out, Int(4))), ir.Get(x)))
		}, lines(
			"x = 1", "x = x + 2",
			"check out[?4]", "v = x", "out[4] = out[4] + v")},
	})
}

func TestPointersResolveToPlaces(t *testing.T) {
	arr := ir.ArrayOf(4, ir.TInt)
	checkPass(t, "pointers", []passCase{
		{"a slice of a whole array is the array", func() *ir.Kernel {
			a, w, n := Local("a", arr), Local("w", ints), Local("n", ir.TInt)
			return Kernel("k", locals(n), locals(a, w),
				Set(a, &ir.Zero{T: arr}),
				Set(w, &ir.SliceExpr{T: ints, Array: Var(a), Check: true}),
				SetPlace(Elem(w, ir.Get(n)), Len(w)))
		}, lines("a = zero([4]int)", "a[?n] = 4")},
		{"a part of an array keeps its own bounds", func() *ir.Kernel {
			a, w, n := Local("a", arr), Local("w", ints), Local("n", ir.TInt)
			return Kernel("k", locals(n), locals(a, w),
				Set(a, &ir.Zero{T: arr}),
				Set(w, &ir.SliceExpr{T: ints, Array: Var(a), Lo: Int(1), Hi: Int(3), Check: true}),
				SetPlace(Elem(w, Int(1)), Int(5)),
				SetPlace(Elem(w, ir.Get(n)), Int(6)))
		}, lines("a = zero([4]int)", "a[2] = 5", "a[1:3][?n] = 6")},
		{"a pointer whose index changes stays an address", func() *ir.Kernel {
			out, i, p := Local("out", ints), Local("i", ir.TInt), Local("p", ir.PointerTo(ir.TInt))
			return Kernel("k", locals(out), locals(i, p),
				Set(i, Int(0)), Set(i, Thread(ir.ThreadIdxX)),
				Set(p, Addr(Elem(out, ir.Get(i)))),
				Set(i, Int(7)),
				SetPlace(Deref(p), ir.Get(i)))
		}, lines("i = 0", "i = ThreadIdx.X", "p = &out[?i]", "i = 7", "(*p) = i")},
		{"a pointer that is assigned twice stays an address", func() *ir.Kernel {
			out, p := Local("out", ints), Local("p", ir.PointerTo(ir.TInt))
			return Kernel("k", locals(out), locals(p),
				Set(p, Addr(Elem(out, Int(0)))),
				If(Lt(Len(out), Int(9)), Set(p, Addr(Elem(out, Int(1))))),
				SetPlace(Deref(p), Int(3)))
		}, lines("p = &out[?0]", "if len(out) < 9 {", "p = &out[?1]", "(*p) = 3")},
	})
}

func TestAnUncheckedKernelKeepsOnlyTheChecksOfArithmetic(t *testing.T) {
	out := Local("out", ints)
	k := Kernel("k", locals(out), nil, SetPlace(Elem(out, Len(out)), Op(Int(1), ir.Div, Len(out))))
	k.Options.Unchecked = true
	if got, want := through(t, "unchecked", k), "out[len(out)] = 1 /? len(out)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestOnlyFunctionsOfTheThreadAreInlinedForGo(t *testing.T) {
	i, r := Local("i", ir.TInt), Local("r", ir.TInt)
	plus := Func("plus", locals(i), locals(r), nil, Return(Add(ir.Get(i), Thread(ir.ThreadIdxX))))
	plus.UsesThread = true
	j, q := Local("j", ir.TInt), Local("q", ir.TInt)
	twice := Func("twice", locals(j), locals(q), nil, Return(Mul(ir.Get(j), Int(2))))
	out, a, b := Local("out", ints), Local("a", ir.TInt), Local("b", ir.TInt)
	k := Kernel("k", locals(out), locals(a, b),
		Call(a, plus, Int(3)), Call(b, twice, ir.Get(a)), SetPlace(Elem(out, Int(0)), ir.Get(b)))
	before := k.String()
	if got, want := text(Host(k)), lines("a = 3 + ThreadIdx.X", "b = twice(a)", "out[?0] = b"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if k.String() != before {
		t.Error("the kernel itself has changed")
	}
}

func TestFailuresInPackageKernelAreReportedAtTheCall(t *testing.T) {
	inside, outside := ir.Pos{File: "matrix.go", Line: 7}, ir.Pos{File: "mine.go", Line: 3}
	for _, c := range []struct {
		pkg  string
		want ir.Pos
	}{{kernelPackage, outside}, {"example.org/mine", inside}} {
		x, i, r := Local("x", ints), Local("i", ir.TInt), Local("r", ir.TInt)
		element := Elem(x, ir.Get(i)).(*ir.ElemPlace)
		element.Pos = inside
		read := Func("read", locals(x, i), locals(r), nil, &ir.Return{Results: []ir.Expr{Load(element)}, Pos: inside})
		read.Go.Package = c.pkg
		out, v := Local("out", ints), Local("v", ir.TInt)
		call := Call(v, read, ir.Get(out), Int(5)).(*ir.Call)
		call.Pos = outside
		k := Kernel("k", locals(out), locals(v), call, SetPlace(Elem(out, Int(0)), ir.Get(v)))
		if err := inline(k); err != nil {
			t.Fatal(err)
		}
		var got []ir.Pos
		visitor := ir.Visitor{Expr: func(e ir.Expr) bool {
			if l, ok := e.(*ir.Load); ok {
				if p, ok := l.Place.(*ir.ElemPlace); ok {
					got = append(got, p.Pos)
				}
			}
			return true
		}}
		visitor.Body(k.Func.Body)
		if !slices.Equal(got, []ir.Pos{c.want}) {
			t.Errorf("%s: the element is read at %v, want %v", c.pkg, got, c.want)
		}
	}
}

func TestAVariableHasOneValueOnlyWhereItsAssignmentIsInScope(t *testing.T) {
	n, v := Local("n", ir.TInt), Local("v", ir.TInt)
	out := Local("out", ints)
	read := func() ir.Stmt { return SetPlace(Elem(out, Int(0)), ir.Get(v)) }
	set := func() ir.Stmt { return Set(v, ir.Get(n)) }
	cond := func() ir.Expr { return Lt(ir.Get(n), Int(3)) }
	loop := func(pre, body, post []ir.Stmt) ir.Stmt {
		return &ir.Loop{Cond: cond(), Pre: pre, Body: body, Post: post}
	}
	for _, c := range []struct {
		name string
		body []ir.Stmt
		want bool
	}{
		{"read behind the assignment", Body(set(), read()), true},
		{"read in a branch behind it", Body(set(), If(cond(), read())), true},
		{"read in front of it", Body(read(), set()), false},
		{"assigned in a branch, read behind it", Body(If(cond(), set()), read()), false},
		{"assigned in one branch, read in the other", Body(Else(If(cond(), set()), read())), false},
		{"assigned in front of a loop's condition, read behind the body", Body(loop(Body(set()), nil, Body(read()))), true},
		{"assigned in a loop's body, read behind it, where a continue leads", Body(loop(nil, Body(set()), Body(read()))), false},
		{"assigned twice", Body(set(), set(), read()), false},
		{"its address is taken", Body(set(), SetPlace(&ir.DerefPlace{Ptr: Addr(Var(v))}, Int(1))), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Kernel("k", locals(n, out), locals(v), c.body...).Func
			if got := countUses(f)[v].once(); got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// saxpy is y[i] += a*x[i], guarded by i < len(y).
func saxpy() *ir.Kernel {
	floats := ir.SliceOf(ir.TFloat32)
	a, x, y, i := Local("a", ir.TFloat32), Local("x", floats), Local("y", floats), Local("i", ir.TInt)
	return Kernel("saxpy", locals(a, x, y), locals(i), Set(i, Global()),
		If(Lt(ir.Get(i), Len(y)), SetPlace(Elem(y, ir.Get(i)), Add(Load(Elem(y, ir.Get(i))), Mul(ir.Get(a), Load(Elem(x, ir.Get(i))))))))
}

func TestKernelsMayBoundTheirVariants(t *testing.T) {
	for n, want := range []string{"coarse proven narrow wide", "wide", "narrow wide", "proven narrow wide"} {
		k := saxpy()
		k.Options.Variants = n
		variants, err := PTX(k)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, v := range variants {
			names = append(names, v.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("at most %d variants: got %s, want %s", n, got, want)
		}
	}
}

// all is the complete pipeline.
var all Config
