package fuzz

import (
	"fmt"
	"testing"

	"quern.dev/internal/testmodule"
)

// The second read of a place has no check of its own: it relies on the first, in whatever order
// an instruction takes its operands.
func TestOperandsRelyOnTheChecksBeforeThem(t *testing.T) {
	testmodule.NeedGo(t)
	ch := &Checker{Devices: devices(t)}
	infix := func(op string) func(x, y string) string {
		return func(x, y string) string { return "(" + x + op + y + ")" }
	}
	sum, difference, product := infix("+"), infix("-"), infix("*")
	shift := func(x, y string) string { return "(" + x + " << uint(" + y + "))" }
	quotient := func(x, y string) string { return "(" + x + " / (" + y + " + 1))" }
	smaller := func(x, y string) string { return "min(" + x + ", " + y + ")" }
	fused := func(x, y string) string { return "T(kernel.FMA(float64(q), float64(" + x + "), float64(" + y + ")))" }
	for typ, operations := range map[string][]func(x, y string) string{
		"int32":   {sum, difference, product, shift, infix("&^")},
		"int64":   {sum, difference, product, shift, quotient},
		"float32": {sum, difference, product, smaller, fused},
	} {
		for _, place := range []string{"*nothing", "in0[n+800]"} {
			for _, outer := range operations {
				for _, inner := range operations {
					for _, e := range []string{
						outer(place, inner(place, "3")),
						outer(place, inner("q", place)),
						outer(inner(place, "q"), place),
					} {
						c, err := Parse(fmt.Sprintf(`//fuzz:launch seed=1 grid=1x1x1 block=32x1x1 n=40 in0=40 out0=40

package main

import "quern.dev/kernel"

type T = %s

//quern:kernel
func kernelP0(t kernel.Thread, n int, q T, in0, out0 []T) {
	var nothing *T
	out0[0] = T(kernel.Abs(float32(q)))
	if n == 0 {
		out0[1] = *nothing
	}
	if t.Global() == 0 {
		out0[1] = %s
	}
}
`, typ, e))
						if err != nil {
							t.Fatal(err)
						}
						if m := ch.Check(c); m != nil {
							t.Errorf("%s: %s: %v", typ, e, m)
						}
					}
				}
			}
		}
	}
}
