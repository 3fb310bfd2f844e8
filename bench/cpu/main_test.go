package main

import (
	"strings"
	"testing"
)

func TestQuernMatchesHandWrittenGo(t *testing.T) {
	var out strings.Builder
	if err := run(&out, sizes{vector: 1001, image: 75, matrix: 37, repeat: 1}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"saxpy", "blur rows", "blur columns", "matmul 16x16", "ratio"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, out.String())
		}
	}
}
