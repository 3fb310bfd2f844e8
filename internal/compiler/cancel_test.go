package compiler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestACompilationEndsSoonAfterItsContext(t *testing.T) {
	const n = 4000
	lines := func(format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	reason := errors.New("the user has left")
	for _, c := range []struct{ name, body string }{
		{"labels", lines("if x[0] > %[1]d { goto l%[1]d }\nx[1] += %[1]d\nl%[1]d:\n") + "x[2]++\n"},
		{"cases", "switch x[0] {\n" + lines("case %[1]d: x[1] = x[%[1]d] * 7\n") + "}\n"},
		{"variables", lines("v%[1]d := x[%[1]d]\n") + lines("x[%[1]d] = v%[1]d\n")},
		{"divisions", lines("x[%[1]d] = x[%[1]d+1] / 7 %% x[%[1]d]\n")},
	} {
		text := "package p\nimport \"quern.dev/kernel\"\n//quern:kernel\nfunc k(t kernel.Thread, x []int) {\n" + c.body + "}\n"
		for _, after := range []time.Duration{100 * time.Millisecond, 500 * time.Millisecond, time.Second} {
			t.Run(fmt.Sprintf("%s, %v", c.name, after), func(t *testing.T) {
				var late time.Duration
				for range 3 { // other tests may have the processor
					ctx, cancel := context.WithCancelCause(t.Context())
					ended := make(chan time.Time, 1)
					time.AfterFunc(after, func() { ended <- time.Now(); cancel(reason) })
					_, err := Text(ctx, "k.go", text, "k")
					if err == nil { // compiled before
						return
					}
					if !errors.Is(err, reason) {
						t.Fatalf("got %v, want %v", err, reason)
					}
					if late = time.Since(<-ended); late < 400*time.Millisecond {
						return
					}
				}
				t.Errorf("the compilation went on for %v", late)
			})
		}
	}
}
