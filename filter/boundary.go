package filter

import "fmt"

// Mode is a rule for the pixels beyond the edges of an image. The package documentation shows
// the rules.
type Mode uint8

const (
	Reflect  Mode = iota // the image mirrored at the edge of its last pixel: d c b a | a b c d | d c b a
	Constant             // the Value of the Boundary: k k k k | a b c d | k k k k
	Nearest              // the pixel at the edge: a a a a | a b c d | d d d d
	Mirror               // the image mirrored at the center of its last pixel: d c b | a b c d | c b a
	Wrap                 // the other side of the image: a b c d | a b c d | a b c d
)

// String returns the name of the mode.
func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("Mode(%d)", m)
}

var modeNames = [...]string{"reflect", "constant", "nearest", "mirror", "wrap"}

// Boundary says which values the pixels beyond the edges of an image have. The zero value
// is [Reflect], the default of scipy.ndimage.
type Boundary struct {
	Mode  Mode
	Value float32 // of all channels, for Constant
}

func (b Boundary) check(op string) error {
	if int(b.Mode) >= len(modeNames) {
		return invalid(op, "boundary", "unknown mode %d", int(b.Mode))
	}
	return nil
}
