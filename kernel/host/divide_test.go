package host

import (
	"math"
	"testing"
)

func TestDivisionIsGos(t *testing.T) {
	numbers := []int{0, 1, 2, 3, 7, 8, 24, 1 << 20, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32, math.MaxUint32 + 1, 1 << 62, math.MaxInt}
	for _, n := range numbers {
		numbers = append(numbers, -n)
	}
	numbers = append(numbers, math.MinInt)
	for _, x := range numbers {
		for _, y := range numbers {
			if y == 0 {
				continue
			}
			if got := Div(x, y); got != x/y {
				t.Errorf("Div(%d, %d) = %d, want %d", x, y, got, x/y)
			}
			if got := Rem(x, y); got != x%y {
				t.Errorf("Rem(%d, %d) = %d, want %d", x, y, got, x%y)
			}
		}
	}
}

func TestDivisionByZeroPanics(t *testing.T) {
	for name, divide := range map[string]func(x, y int) int{"Div": Div, "Rem": Rem} {
		for _, x := range []int{-1, 0, 1, math.MaxInt} {
			func() {
				defer func() {
					if err, ok := recover().(error); !ok || err.Error() != "runtime error: integer divide by zero" {
						t.Errorf("%s(%d, 0) panicked with %v", name, x, err)
					}
				}()
				divide(x, 0)
				t.Errorf("%s(%d, 0) has returned", name, x)
			}()
		}
	}
}
