package top

import (
	"fmt"

	"quern.dev/monitor"
)

const (
	gib = 1 << 30
	gb  = 1e9
)

// number returns a value with as many digits as fit into four columns.
func number(v float64) string {
	switch {
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v == 0:
		return "0"
	}
	return fmt.Sprintf("%.1f", v)
}

// show returns a value, or "-" if it is absent.
func show(o monitor.Optional[float64], format func(float64) string) string {
	if v, known := o.Get(); known {
		return format(v)
	}
	return "-"
}

func whole(v float64) string   { return fmt.Sprintf("%.0f", v) }
func percent(v float64) string { return fmt.Sprintf("%.0f%%", v) }
func celsius(v float64) string { return fmt.Sprintf("%.0fC", v) }
func inGB(v float64) string    { return number(v / gb) }
func inGiB(v float64) string   { return number(v / gib) }

// pair returns two values with a slash, or "-" if both are absent.
func pair(a, b monitor.Optional[float64], format func(float64) string) string {
	if a.IsZero() && b.IsZero() {
		return "-"
	}
	return show(a, format) + "/" + show(b, format)
}

func float(o monitor.Optional[int64]) monitor.Optional[float64] {
	if v, known := o.Get(); known {
		return monitor.Some(float64(v))
	}
	return monitor.Optional[float64]{}
}

// fraction returns a/b, and false if either is absent.
func fraction(a, b monitor.Optional[float64]) (float64, bool) {
	x, ok1 := a.Get()
	y, ok2 := b.Get()
	if !ok1 || !ok2 || y <= 0 {
		return 0, false
	}
	return x / y, true
}

// plural returns a number of things.
func plural(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
