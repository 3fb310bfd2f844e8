package kernel

// Texel is the type of a texture's elements: one, two or four numbers.
type Texel interface {
	float32 | Vec2[float32] | Vec4[float32]
}

// Texture2D is an image that kernels can read between its elements and outside
// its borders. A GPU uses its texture units; other devices apply the same rules
// in software. It is a parameter of a kernel or of a function that a kernel
// calls. gpu.NewTexture2D creates it and sets the kind of coordinates, the values
// outside the image, and whether to interpolate.
//
// Interpolation is bilinear. Its weights have 8 fractional bits, as in hardware.
type Texture2D[T Texel] struct {
	object         uint64 // the device's handle of the image
	width, height  int32
	scaleX, scaleY float32 // the extent of an element in coordinates
}

// NewTexture2D returns a texture for an object that a device has created. It is
// for package gpu.
func NewTexture2D[T Texel](object uint64, width, height int, normalized bool) Texture2D[T] {
	x := Texture2D[T]{object: object, width: int32(width), height: int32(height), scaleX: 1, scaleY: 1}
	if normalized {
		x.scaleX, x.scaleY = 1/float32(width), 1/float32(height)
	}
	return x
}

// Width returns the number of elements in a row.
func (x Texture2D[T]) Width() int { return int(x.width) }

// Height returns the number of rows.
func (x Texture2D[T]) Height() int { return int(x.height) }

// Sample returns the image's value at (u, v). The element in column i and row j
// covers the coordinates from (i, j) to (i+1, j+1). Its center, where
// interpolation returns the element itself, is (i+0.5, j+0.5). In normalized
// coordinates, the image covers (0, 0) to (1, 1).
func (x Texture2D[T]) Sample(u, v float32) T {
	texel, ok := SampleImage(x.object, u, v)
	if !ok {
		panic("kernel: Sample: the texture is not open")
	}
	return texelOf[T](texel)
}

// texelOf returns the first numbers of c as a T.
func texelOf[T Texel](c [4]float32) T {
	var t T
	switch p := any(&t).(type) {
	case *float32:
		*p = c[0]
	case *Vec2[float32]:
		*p = Vec2[float32]{c[0], c[1]}
	case *Vec4[float32]:
		*p = Vec4[float32]{c[0], c[1], c[2], c[3]}
	}
	return t
}

// Fetch returns the element in column i and row j. Outside the image, the
// texture's address mode applies.
func (x Texture2D[T]) Fetch(i, j int) T {
	return x.Sample((float32(i)+0.5)*x.scaleX, (float32(j)+0.5)*x.scaleY)
}
