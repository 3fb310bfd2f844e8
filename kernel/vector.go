package kernel

// Vec2 is a vector of two numbers. Vectors have the memory layout of arrays.
// Vectors of two or four 32-bit numbers, or of two 64-bit numbers, are read and
// written in a single access of 64 or 128 bits.
//
// == compares all components. Unless stated otherwise, methods work on each
// component separately.
type Vec2[T Number] struct{ X, Y T }

// Vec3 is a vector of three numbers. It has no padding, so slices of it are read
// number by number. Use [Vec4] where speed matters.
type Vec3[T Number] struct{ X, Y, Z T }

// Vec4 is a vector of four numbers.
type Vec4[T Number] struct{ X, Y, Z, W T }

// V2 returns the vector (x, y).
func V2[T Number](x, y T) Vec2[T] { return Vec2[T]{x, y} }

// V3 returns the vector (x, y, z).
func V3[T Number](x, y, z T) Vec3[T] { return Vec3[T]{x, y, z} }

// V4 returns the vector (x, y, z, w).
func V4[T Number](x, y, z, w T) Vec4[T] { return Vec4[T]{x, y, z, w} }

// Add returns v + u.
func (v Vec2[T]) Add(u Vec2[T]) Vec2[T] { return Vec2[T]{v.X + u.X, v.Y + u.Y} }

// Sub returns v - u.
func (v Vec2[T]) Sub(u Vec2[T]) Vec2[T] { return Vec2[T]{v.X - u.X, v.Y - u.Y} }

// Mul returns the products of the components.
func (v Vec2[T]) Mul(u Vec2[T]) Vec2[T] { return Vec2[T]{v.X * u.X, v.Y * u.Y} }

// Div returns the quotients of the components.
func (v Vec2[T]) Div(u Vec2[T]) Vec2[T] { return Vec2[T]{v.X / u.X, v.Y / u.Y} }

// Scale returns a*v.
func (v Vec2[T]) Scale(a T) Vec2[T] { return Vec2[T]{a * v.X, a * v.Y} }

// AddScaled returns v + a*u.
func (v Vec2[T]) AddScaled(a T, u Vec2[T]) Vec2[T] { return Vec2[T]{v.X + a*u.X, v.Y + a*u.Y} }

// Neg returns -v.
func (v Vec2[T]) Neg() Vec2[T] { return Vec2[T]{-v.X, -v.Y} }

// Dot returns the inner product of v and u.
func (v Vec2[T]) Dot(u Vec2[T]) T { return v.X*u.X + v.Y*u.Y }

// Min returns the smaller components.
func (v Vec2[T]) Min(u Vec2[T]) Vec2[T] { return Vec2[T]{min(v.X, u.X), min(v.Y, u.Y)} }

// Max returns the larger components.
func (v Vec2[T]) Max(u Vec2[T]) Vec2[T] { return Vec2[T]{max(v.X, u.X), max(v.Y, u.Y)} }

// Add returns v + u.
func (v Vec3[T]) Add(u Vec3[T]) Vec3[T] { return Vec3[T]{v.X + u.X, v.Y + u.Y, v.Z + u.Z} }

// Sub returns v - u.
func (v Vec3[T]) Sub(u Vec3[T]) Vec3[T] { return Vec3[T]{v.X - u.X, v.Y - u.Y, v.Z - u.Z} }

// Mul returns the products of the components.
func (v Vec3[T]) Mul(u Vec3[T]) Vec3[T] { return Vec3[T]{v.X * u.X, v.Y * u.Y, v.Z * u.Z} }

// Div returns the quotients of the components.
func (v Vec3[T]) Div(u Vec3[T]) Vec3[T] { return Vec3[T]{v.X / u.X, v.Y / u.Y, v.Z / u.Z} }

// Scale returns a*v.
func (v Vec3[T]) Scale(a T) Vec3[T] { return Vec3[T]{a * v.X, a * v.Y, a * v.Z} }

// AddScaled returns v + a*u.
func (v Vec3[T]) AddScaled(a T, u Vec3[T]) Vec3[T] {
	return Vec3[T]{v.X + a*u.X, v.Y + a*u.Y, v.Z + a*u.Z}
}

// Neg returns -v.
func (v Vec3[T]) Neg() Vec3[T] { return Vec3[T]{-v.X, -v.Y, -v.Z} }

// Dot returns the inner product of v and u.
func (v Vec3[T]) Dot(u Vec3[T]) T { return v.X*u.X + v.Y*u.Y + v.Z*u.Z }

// Cross returns the vector product of v and u.
func (v Vec3[T]) Cross(u Vec3[T]) Vec3[T] {
	return Vec3[T]{v.Y*u.Z - v.Z*u.Y, v.Z*u.X - v.X*u.Z, v.X*u.Y - v.Y*u.X}
}

// Min returns the smaller components.
func (v Vec3[T]) Min(u Vec3[T]) Vec3[T] {
	return Vec3[T]{min(v.X, u.X), min(v.Y, u.Y), min(v.Z, u.Z)}
}

// Max returns the larger components.
func (v Vec3[T]) Max(u Vec3[T]) Vec3[T] {
	return Vec3[T]{max(v.X, u.X), max(v.Y, u.Y), max(v.Z, u.Z)}
}

// Vec4 returns (v.X, v.Y, v.Z, w).
func (v Vec3[T]) Vec4(w T) Vec4[T] { return Vec4[T]{v.X, v.Y, v.Z, w} }

// Add returns v + u.
func (v Vec4[T]) Add(u Vec4[T]) Vec4[T] {
	return Vec4[T]{v.X + u.X, v.Y + u.Y, v.Z + u.Z, v.W + u.W}
}

// Sub returns v - u.
func (v Vec4[T]) Sub(u Vec4[T]) Vec4[T] {
	return Vec4[T]{v.X - u.X, v.Y - u.Y, v.Z - u.Z, v.W - u.W}
}

// Mul returns the products of the components.
func (v Vec4[T]) Mul(u Vec4[T]) Vec4[T] {
	return Vec4[T]{v.X * u.X, v.Y * u.Y, v.Z * u.Z, v.W * u.W}
}

// Div returns the quotients of the components.
func (v Vec4[T]) Div(u Vec4[T]) Vec4[T] {
	return Vec4[T]{v.X / u.X, v.Y / u.Y, v.Z / u.Z, v.W / u.W}
}

// Scale returns a*v.
func (v Vec4[T]) Scale(a T) Vec4[T] { return Vec4[T]{a * v.X, a * v.Y, a * v.Z, a * v.W} }

// AddScaled returns v + a*u.
func (v Vec4[T]) AddScaled(a T, u Vec4[T]) Vec4[T] {
	return Vec4[T]{v.X + a*u.X, v.Y + a*u.Y, v.Z + a*u.Z, v.W + a*u.W}
}

// Neg returns -v.
func (v Vec4[T]) Neg() Vec4[T] { return Vec4[T]{-v.X, -v.Y, -v.Z, -v.W} }

// Dot returns the inner product of v and u.
func (v Vec4[T]) Dot(u Vec4[T]) T { return v.X*u.X + v.Y*u.Y + v.Z*u.Z + v.W*u.W }

// Min returns the smaller components.
func (v Vec4[T]) Min(u Vec4[T]) Vec4[T] {
	return Vec4[T]{min(v.X, u.X), min(v.Y, u.Y), min(v.Z, u.Z), min(v.W, u.W)}
}

// Max returns the larger components.
func (v Vec4[T]) Max(u Vec4[T]) Vec4[T] {
	return Vec4[T]{max(v.X, u.X), max(v.Y, u.Y), max(v.Z, u.Z), max(v.W, u.W)}
}

// Vec3 returns the first three components.
func (v Vec4[T]) Vec3() Vec3[T] { return Vec3[T]{v.X, v.Y, v.Z} }
