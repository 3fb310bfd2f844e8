package gpu

import "testing"

func TestDistanceOfBuffers(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	defer d.Close()
	other := must[*Device](t)(Open(Config{Device: "sim"}))
	defer other.Close()
	a := must[*Buffer[float32]](t)(Alloc[float32](d, 10))
	defer a.Close()
	bytes := must[*Buffer[byte]](t)(Alloc[byte](d, 16))
	defer bytes.Close()
	far := must[*Buffer[float32]](t)(Alloc[float32](other, 10))
	defer far.Close()
	for _, c := range []struct {
		name string
		a, b *Buffer[float32]
		want int
		ok   bool
	}{
		{"the same buffer", a, a, 0, true},
		{"a later part", a, a.Slice(3, 10), 12, true},
		{"an earlier part", a.Slice(5, 8), a.Slice(1, 2), -16, true},
		{"no elements", a, a.Slice(3, 3), 0, false},
		{"nil", a, nil, 0, false},
		{"another device", a, far, 0, false},
	} {
		if got, ok := Distance(c.a, c.b); got != c.want || ok != c.ok {
			t.Errorf("%s: Distance is %d, %v, want %d, %v", c.name, got, ok, c.want, c.ok)
		}
	}
	if got, ok := Distance(bytes, Reinterpret[uint32](bytes.Slice(8, 16))); got != 8 || !ok {
		t.Errorf("elements of another type: Distance is %d, %v, want 8, true", got, ok)
	}
}
