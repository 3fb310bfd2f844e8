package ir

import "testing"

func TestTypesArePrintedWithPackageNames(t *testing.T) {
	tests := []struct {
		name string
		typ  *Type
		want string
	}{
		{"a basic type", TFloat32, "float32"},
		{"a slice of pointers", SliceOf(PointerTo(TInt)), "[]*int"},
		{"an array of a named type", ArrayOf(3, StructOf("example.test/geo/v2.Point", Field{Name: "X", Type: TInt32})), "[3]v2.Point"},
		{"type arguments have paths of their own", StructOf("example.test/num.Pair[example.test/a/b.T,[]*quern.dev/kernel.Dim3]"), "num.Pair[b.T,[]*kernel.Dim3]"},
		{"a struct without a name", StructOf("", Field{Name: "A", Type: TBool}, Field{Name: "b", Type: TUint8}), "struct{A bool; b uint8}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.typ.String(); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
