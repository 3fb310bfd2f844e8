package gpu

import "quern.dev/gpu/compiled"
import "testing"

// What a launch remembers of the previous one must not affect a different one.
func TestEveryLaunchTakesTheVariantForItsArguments(t *testing.T) {
	info := saxpyInfo
	info.Variants = append([]compiled.Variant(nil), info.Variants...)
	// n is 1, x is aligned to 16 bytes, and there is one block along X.
	info.Variants[0].Limits = []int64{1, 1, 9, 1, 10, 2, 9, 0, 2, 0, 9, 1}
	k := NewKernel(info)
	d, other := must[*Device](t)(Open(Config{Device: "sim"})), must[*Device](t)(Open(Config{Device: "sim"}))
	first, second := d.DefaultStream(), other.DefaultStream()
	x, elsewhere := upload[float32](t, first, 1, 1, 1, 1, 1), upload[float32](t, second, 1, 1, 1, 1, 1)
	one := Blocks(Dim3{X: 1}, Dim3{X: 1})
	for _, c := range []struct {
		name string
		s    *Stream
		grid Grid
		n    int
		x    *Buffer[float32]
		wide bool
	}{
		{"first", first, one, 1, x, false},
		{"as before", first, one, 1, x, false},
		{"another n", first, one, 2, x, true},
		{"the first n again", first, one, 1, x, false},
		{"a part that begins elsewhere", first, one, 1, x.Slice(1, 5), true},
		{"the same part", first, one, 1, x.Slice(1, 5), true},
		{"a part that is aligned", first, one, 1, x.Slice(4, 5), false},
		{"more blocks", first, Blocks(Dim3{X: 2}, Dim3{X: 1}), 1, x, true},
		{"one block", first, Linear(1), 1, x, false},
		{"another device", second, one, 1, elsewhere, false},
		{"another n there", second, one, 2, elsewhere, true},
		{"the first device again", first, one, 1, x, false},
	} {
		do(t, Fill(c.s, c.x, 1))
		do(t, launchSaxpy(k, c.s, c.grid, 1, c.n, c.x, c.x))
		want := float32(2)
		if c.wide {
			want = 102
		}
		if got := download(t, c.s, c.x)[0]; got != want {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
	if err := launchSaxpy(k, first, Blocks(Dim3{X: 1}, Dim3{X: 2048}), 1, 1, x, x); err == nil {
		t.Error("a block of 2048 threads was launched")
	}
	do(t, Fill(first, x, 1))
	do(t, launchSaxpy(k, first, one, 1, 1, x, x))
	if got := download(t, first, x)[0]; got != 2 {
		t.Errorf("after a launch that was refused: %v, want 2", got)
	}
	closeAll(t, x, elsewhere, d, other)
}
