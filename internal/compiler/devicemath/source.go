package devicemath

import "embed"

// Source holds the functions, for the compiler to compile.
//
//go:embed doc.go prim.go exp.go log.go pow.go trig.go arc.go hyperbolic.go root.go mod.go fast.go
var Source embed.FS
