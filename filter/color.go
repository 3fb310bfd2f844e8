package filter

import (
	"fmt"

	"quern.dev/filter/internal/kernels"
	"quern.dev/gpu"
)

// Space is a color space.
//
// Values of 8 bits are computed with integers only and are the same on all devices. Those of
// float32 are for colors with components from 0 to 1.
//
//	space    8 bits                                          float32
//	Gray     luma of BT.601                                  0 to 1
//	RGB      0 to 255, sRGB where a conversion depends on it 0 to 1
//	HSV      hue in units of 2 degrees, 0 to 179; 0 to 255   0 to 1 each
//	Lab      L*255/100, a+128, b+128; D65                    L of 0 to 100, a, b
//	YUV601   full range, as JPEG and image/color's YCbCr     Y of 0 to 1; U, V with 0.5 in the middle
//	YUV709   the same with the weights of BT.709             Y of 0 to 1; U, V with 0.5 in the middle
type Space uint8

const (
	Gray Space = iota
	RGB
	HSV
	Lab
	YUV601
	YUV709
)

var spaceNames = [...]string{"Gray", "RGB", "HSV", "Lab", "YUV601", "YUV709"}

// String returns the name of the color space.
func (c Space) String() string {
	if int(c) < len(spaceNames) {
		return spaceNames[c]
	}
	return fmt.Sprintf("Space(%d)", uint8(c))
}

var fromRGB = [...]int{kernels.RGBToGray, kernels.RGBToRGB, kernels.RGBToHSV, kernels.RGBToLab, kernels.RGBToYUV601, kernels.RGBToYUV709}
var toRGB = [...]int{kernels.GrayToRGB, kernels.RGBToRGB, kernels.HSVToRGB, kernels.LabToRGB, kernels.YUV601ToRGB, kernels.YUV709ToRGB}

// ConvertColor converts the colors of src, which are in the space from, to the space to. One
// of the spaces is [RGB]. Images in Gray have one channel, others have three, or four with
// alpha, which is copied, and is opaque if src has none. dst may be src if they have the same
// number of channels.
//
// Colors of 8 bits are rounded to the nearest of the exact values for Gray and HSV; they differ
// from these by at most 1 for YUV, as in package image/color, and for Lab.
func ConvertColor[T uint8 | float32](s *gpu.Stream, dst, src Image[T], to, from Space) error {
	const op = "ConvertColor"
	a, b, err := inPlace(op, dst.volume(), src.volume())
	if err != nil {
		return err
	}
	switch {
	case int(to) >= len(spaceNames) || int(from) >= len(spaceNames):
		return invalid(op, "space", "%v to %v; unknown space", from, to)
	case to != RGB && from != RGB:
		return invalid(op, "space", "%v to %v; convert to RGB first", from, to)
	case !a.same(b):
		return invalid(op, "dst", "%s, but src has %s", a.size(), b.size())
	}
	channels := func(arg string, space Space, n int) error {
		switch {
		case space == Gray && n != 1:
			return invalid(op, arg, "%d channels, but Gray has 1", n)
		case space != Gray && n < 3:
			return invalid(op, arg, "%d channels, but %v has 3 or 4", n, space)
		}
		return nil
	}
	if err := channels("src", from, b.c); err != nil {
		return err
	}
	if err := channels("dst", to, a.c); err != nil {
		return err
	}
	if a.empty() {
		return nil
	}
	conversion := toRGB[from]
	if from == RGB {
		conversion = fromRGB[to]
	}
	grid := blocks2(a.w, a.h, 1)
	if isFloat[T]() {
		return failed(op, kernels.LaunchColorsFloat(s, grid, conversion, b.c, a.c, a.w, a.h, b.stride, a.stride, as[float32](src.Data), as[float32](dst.Data)))
	}
	return failed(op, kernels.LaunchColors(s, grid, conversion, b.c, a.c, a.w, a.h, b.stride, a.stride, as[uint8](src.Data), as[uint8](dst.Data)))
}
