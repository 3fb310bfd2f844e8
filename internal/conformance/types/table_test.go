package types

import (
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestTablesHoldDeclaredValues(t *testing.T) {
	const n, rounds = 100, 13
	want, wantZ := make([]float64, n), make([]complex128, n)
	g, b := grid(n)
	kernel.Each(g, b, func(t kernel.Thread) { lookups(t, rounds, want, wantZ) })
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out, z := gputest.Upload(t, d, make([]float64, n)), gputest.Upload(t, d, make([]complex128, n))
		launched(t, LaunchLookups(d.DefaultStream(), blocks(n), rounds, out, z))
		for i, v := range gputest.Download(t, d, out) {
			if v != want[i] && !(v-want[i] < 1e-12*want[i] && want[i]-v < 1e-12*want[i]) {
				t.Fatalf("out[%d] = %v, want %v", i, v, want[i])
			}
		}
		expect(t, "z", gputest.Download(t, d, z), wantZ)
	})
}
