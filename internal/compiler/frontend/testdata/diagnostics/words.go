package p

import "quern.dev/kernel"

//quern:kernel
func wordsOfSlices(t kernel.Thread, out []uint64) {
	m := struct{ values []uint64 }{out}
	kernel.PutWords(out, 0, 0, &m)
}

//quern:kernel
func tooManyWords(t kernel.Thread, out []uint64) {
	var m [60][60]float32
	kernel.PutWords(out, 0, 0, &m)
}

//quern:kernel
func wordsWithoutScope(t kernel.Thread, scope kernel.Scope, out []uint64) {
	m := 1
	kernel.PutWords(out, 0, 0, &m, scope)
}
