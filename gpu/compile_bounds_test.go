package gpu

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A text may come from an untrusted source, so a text that would take much time or
// memory is an error.
func TestTextsThatWouldTakeLongAreErrors(t *testing.T) {
	const head = "package p\nimport \"quern.dev/kernel\"\n"
	body := func(s string) string {
		return head + "//quern:kernel\nfunc k(t kernel.Thread, x []int) {\n" + s + "\n}\n"
	}
	double := func(n int, format, last string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i, i+1)
		}
		return b.String() + last
	}
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	defer closeAll(t, d)
	for _, c := range []struct{ name, text, want string }{
		{"a long text", body("//" + strings.Repeat("x", 1<<20)), "the limit is 1048576"},
		{"many statements", body(strings.Repeat("x[0] += x[1]*x[2]\n", 25000)), "too large"},
		{"many loops", body(strings.Repeat("for x[0] > 1 && x[0]&3 != 2 { x[0] >>= 1 }\n", 5000)), "it has 5000 loops"},
		{"many forms", strings.Replace(body(strings.Repeat("for i := range n {\nx[i] += x[1]*x[2]\n}\n", 1000)),
			"//quern:kernel\nfunc k(t kernel.Thread,", "//quern:kernel specialise=n:1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\nfunc k(t kernel.Thread, n int,", 1), "forms"},
		{"a long sum", body("x[0] = x[1]" + strings.Repeat("+x[2]", 50000)), "nested deeper than 4096"},
		{"parentheses", body("x[0] = " + strings.Repeat("(", 50000) + "x[1]" + strings.Repeat(")", 50000)), "nested deeper"},
		{"nested conditions", body(strings.Repeat("if x[1] > 3 {\n", 5000) + "x[0]++\n" + strings.Repeat("}", 5000)), "nested deeper"},
		{"a type that doubles", double(40, "type t%d struct{ a, b t%d }\n", "type t40 int\n"), "too large"},
		{"a constant string that doubles", "const s0 = \"xxxxxxxx\"\n" + double(40, "const s%[2]d = s%[1]d + s%[1]d\n", body("x[0] = len(s40)")[len(head):]), "constant strings"},
		{"inferred types that double", "type pair[A, B any] struct { a A; b B }\nfunc twice[T any](x T) (p pair[T, T]) { return }\n" + body("y0 := 1\n" + double(40, "y%[2]d := twice(y%[1]d)\n", "_ = y40"))[len(head):], "too large"},
		{"type arguments that double", "type pair[A, B any] struct { a A; b B }\n" + double(40, "func f%d[T any]() { f%[2]d[pair[T, T]]() }\n", "func f40[T any]() {}\n"+body("f0[int]()")[len(head):]), "more than 1024 fields"},
		{"many errors", body(double(20000, "y%[2]d = 1\n", "")), "undefined"},
		{"calls that double", double(40, "func f%d(x int) int { return f%[2]d(x) + f%[2]d(x+1) }\n", "func f40(x int) int { return x }\n"+body("x[0] = f0(x[1])")[len(head):]), "more than 40000 statements"},
		{"function values that double", double(30, "func f%d(g func(int) int, x int) int { return f%[2]d(g, x) + f%[2]d(func(y int) int { return g(y)+1 }, x) }\n",
			"func f30(g func(int) int, x int) int { return g(x) }\n"+body("x[0] = f0(func(y int) int { return y }, x[1])")[len(head):]), "4096 calls"},
		{"a large table", "var table = [1<<24]int32{1}\n" + body("x[0] = int(table[x[1]])")[len(head):], "at most 1048576"},
		{"many tables", double(257, "var a%[1]d = [1]int{1}\n", body(double(257, "x[0] += a%[1]d[x[1]]\n", ""))[len(head):]), "kernel.go:518:9: kernel k: the kernels of the text read more than 256"},
		{"many strings", "const s = \"xxxx\"\n" + body(double(257, "x[0] += int((s + \"%[1]d\")[x[1]])\n", ""))[len(head):], "kernel.go:262:13: kernel k: the kernels of the text read more than 256"},
		{"large tables", double(5, "var a%[1]d = [1<<17]int{1}\n", body(double(5, "x[0] += a%[1]d[x[1]]\n", ""))[len(head):]), "kernel.go:14:9: kernel k: the package-level variables and constant strings that the kernels of the text read have more than 4194304 bytes"},
		{"a large table in many forms", strings.Replace("var a = [1<<17]int{1}\n"+body("x[n] = a[x[1]]")[len(head):],
			"//quern:kernel\nfunc k(t kernel.Thread,", "//quern:kernel specialise=n:1,2,3,4\nfunc k(t kernel.Thread, n int,", 1), "kernel.go:5:1: kernel k: the kernel is too large: it reads package-level variables and constant strings of 1048576 bytes in 5 forms"},
		{"constant strings in an option", strings.Replace("const s = \""+strings.Repeat("x", 1<<16)+"\"\n"+body("x[0]++")[len(head):],
			"//quern:kernel", "//quern:kernel block=len(s"+strings.Repeat("+s", 500)+")", 1), "constant strings"},
		{"fractions", "const a = 1." + strings.Repeat("7", 1100) + "\n" + double(20000, "const b%[1]d = a*a/a*a/a*a/a*a*a/a*a\n", body("x[0]++")[len(head):]), "use numbers with fewer digits"},
		{"imported fractions", "import \"math\"\n" + double(12000, "const b%[1]d = -math.Pi*-math.Pi/math.E*math.Pi/math.E*math.Pi/math.E\n", body("x[0]++")[len(head):]), "use numbers with fewer digits"},
		{"exponents", double(20000, "const b%[1]d = 1e300%[1]d\n", body("x[0]++")[len(head):]), "use numbers with fewer digits"},
		{"cases of a type switch", body("switch any(x[0]).(type) {\n" + double(1500, "case [%[1]d]int:\n", "") + "}"), "more than 1000 types"},
		{"methods", "type number int\n" + double(5000, "func (n number) m%[1]d() {}\n", body("x[0]++")[len(head):]), "kernel.go:4100:1: the text declares more than 4096 methods"},
		{"a large variable", body("var a [1<<28]int32\na[x[2]] = 1\nx[0] = int(a[x[1]])"), "local memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := c.text
			if !strings.HasPrefix(text, head) {
				text = head + text
			}
			start := time.Now()
			_, err := d.Compile(t.Context(), text, "k")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

func TestACompilationIsGivenUp(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	defer closeAll(t, d)
	var text strings.Builder
	text.WriteString("package p\nimport \"quern.dev/kernel\"\n//quern:kernel\nfunc k(t kernel.Thread, x []int) {\n")
	for range 2500 {
		text.WriteString("if x[1] > 3 { x[0] += x[1]*x[2] }\n")
	}
	text.WriteString("}\n")
	reason := errors.New("the user has left")
	for _, after := range []time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if after == 0 {
			cancel(reason)
		}
		time.AfterFunc(after, func() { cancel(reason) })
		if _, err := d.Compile(ctx, text.String(), ""); !errors.Is(err, reason) || !strings.HasPrefix(err.Error(), "gpu: compile: ") {
			t.Errorf("after %v: got %v", after, err)
		}
	}
}
