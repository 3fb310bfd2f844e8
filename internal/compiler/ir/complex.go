package ir

// Names of the fields of complex types, which no Go struct can have.
const (
	realPart = "real()"
	imagPart = "imag()"
)

// TComplex64 and TComplex128 are Go's complex types. To the compiler they are
// structs of two floats: arithmetic on them is written out in the front end. The
// Go back end reads their fields by real and imag and builds them by complex.
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

// complexName is the predeclared type's name.
func (t *Type) complexName() string {
	if t.Fields[0].Type.Kind == Float32 {
		return "complex64"
	}
	return "complex128"
}
