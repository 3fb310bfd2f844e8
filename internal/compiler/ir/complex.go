package ir

// Names of the fields of complex types. No Go struct can have such names.
const (
	realPart = "real()"
	imagPart = "imag()"
)

// TComplex64 and TComplex128 are Go's complex types. In the compiler they are structs
// of two floats: the front end expands arithmetic on them. The Go back end reads their
// fields with real and imag and builds them with complex.
var (
	TComplex64  = complexOf(TFloat32)
	TComplex128 = complexOf(TFloat64)
)

func complexOf(part *Type) *Type {
	return StructOf("", Field{Name: realPart, Type: part}, Field{Name: imagPart, Type: part})
}

// IsComplex reports whether values are complex numbers.
func (t *Type) IsComplex() bool {
	return t.Kind == Struct && len(t.Fields) == 2 && t.Fields[0].Name == realPart
}

// complexName returns the name of the predeclared type.
func (t *Type) complexName() string {
	if t.Fields[0].Type.Kind == Float32 {
		return "complex64"
	}
	return "complex128"
}
