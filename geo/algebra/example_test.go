package algebra_test

import (
	"fmt"

	"quern.dev/geo/algebra"
)

func ExampleParse() {
	_, err := algebra.Parse("(b4-b1)/(b4+b1")
	fmt.Println(err)
	// Output: algebra: the expression "(b4-b1)/(b4+b1" at character 15: ")" is expected: bad argument
}
