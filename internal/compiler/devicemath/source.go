package devicemath

import "embed"

// Source contains the functions as source for the compiler.
//
//go:embed doc.go prim.go exp.go log.go pow.go trig.go arc.go hyperbolic.go root.go mod.go fast.go
var Source embed.FS
