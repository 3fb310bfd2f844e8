package kernel

// Integer is any integer type.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// Float is any floating-point type.
type Float interface {
	~float32 | ~float64
}

// Number is any ordered type with arithmetic.
type Number interface {
	Integer | Float
}
