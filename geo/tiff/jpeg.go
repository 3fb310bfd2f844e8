package tiff

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
)

// decodeJPEG decodes a block and the tables that it shares with others. Pixels of YCbCr
// images become RGB; all other samples are returned as they are stored.
func decodeJPEG(dst, src []byte, b block) error {
	stream, err := jpegStream(src, b)
	if err != nil {
		return err
	}
	picture, err := jpeg.Decode(bytes.NewReader(stream))
	if err != nil {
		return err
	}
	switch p := picture.(type) {
	case *image.Gray:
		if b.bands != 1 {
			break
		}
		for y := range b.rows {
			copy(dst[y*b.width:(y+1)*b.width], p.Pix[y*p.Stride:])
		}
		return nil
	case *image.YCbCr:
		if b.bands != 3 {
			break
		}
		upsampleToRGB(dst, p, b)
		return nil
	case *image.RGBA: // three components without a color transform
		if b.bands != 3 {
			break
		}
		for y := range b.rows {
			row := p.Pix[y*p.Stride:]
			for x := range b.width {
				copy(dst[(y*b.width+x)*3:][:3], row[4*x:])
			}
		}
		return nil
	case *image.CMYK: // the decoder has inverted four components
		if b.bands != 4 {
			break
		}
		for y := range b.rows {
			row := p.Pix[y*p.Stride:][:4*b.width]
			for i, v := range row {
				dst[y*b.width*4+i] = 255 - v
			}
		}
		return nil
	}
	return fmt.Errorf("a JPEG picture of type %T for %d bands", picture, b.bands)
}

const (
	markerSOI   = 0xd8
	markerEOI   = 0xd9
	markerSOS   = 0xda
	markerAPP0  = 0xe0
	markerAPP14 = 0xee
	markerAPP15 = 0xef
)

// jpegStream joins the shared tables and the data of a block to a stream that the decoder
// understands. Application segments are replaced by one that states the color transform,
// which TIFF has in the tag PhotometricInterpretation. The size in the frame header is
// checked before memory is allocated for it.
func jpegStream(src []byte, b block) ([]byte, error) {
	transform := byte(0)
	if b.photometric == YCbCr {
		transform = 1
	}
	out := append([]byte{0xff, markerSOI, 0xff, markerAPP14, 0, 14}, "Adobe\x00\x64\x00\x00\x00\x00"...)
	out = append(out, transform)
	var err error
	if len(b.tables) > 0 {
		if out, _, err = jpegSegments(out, b.tables, b); err != nil {
			return nil, fmt.Errorf("JPEGTables: %w", err)
		}
	}
	out, scan, err := jpegSegments(out, src, b)
	if err == nil && scan == nil {
		err = errors.New("there is no scan")
	}
	return append(out, scan...), err
}

// jpegSegments appends the segments before the first scan, and returns the rest.
func jpegSegments(out, src []byte, b block) (joined, scan []byte, err error) {
	if len(src) < 2 || src[0] != 0xff || src[1] != markerSOI {
		return out, nil, errors.New("the data does not begin with a start-of-image marker")
	}
	for src = src[2:]; len(src) >= 4; {
		if src[0] != 0xff {
			return out, nil, fmt.Errorf("%#02x where a marker is expected", src[0])
		}
		marker := src[1]
		switch marker {
		case 0xff:
			src = src[1:]
			continue
		case markerEOI:
			return out, nil, nil
		case markerSOS:
			return out, src, nil
		}
		n := 2 + int(src[2])<<8 + int(src[3])
		if n > len(src) || n < 4 {
			return out, nil, fmt.Errorf("segment %#02x of %d bytes, where %d are left", marker, n, len(src))
		}
		segment := src[:n]
		src = src[n:]
		if marker >= markerAPP0 && marker <= markerAPP15 {
			continue
		}
		if frame := marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc; frame {
			if err := checkFrame(segment, b); err != nil {
				return out, nil, err
			}
		}
		out = append(out, segment...)
	}
	return out, nil, nil
}

// checkFrame compares the size in a frame header with that of the block.
func checkFrame(segment []byte, b block) error {
	if len(segment) < 10 {
		return errors.New("the frame header is too short")
	}
	height := int(segment[5])<<8 | int(segment[6])
	width := int(segment[7])<<8 | int(segment[8])
	bands := int(segment[9])
	if width != b.width || height < b.rows || height > max(b.rows, b.height) || bands != b.bands {
		return fmt.Errorf("the JPEG picture has %d x %d pixels and %d components; the block has %d x %d pixels and %d bands",
			width, height, bands, b.width, b.rows, b.bands)
	}
	return nil
}

// encodeJPEG writes a complete JPEG stream. Pixels of three bands are stored as YCbCr
// with half the resolution of colors.
func encodeJPEG(dst, src []byte, b block) ([]byte, error) {
	size := image.Rect(0, 0, b.width, b.rows)
	var picture image.Image
	if b.bands == 1 {
		picture = &image.Gray{Pix: src, Stride: b.width, Rect: size}
	} else {
		p := image.NewRGBA(size)
		for i := range b.width * b.rows {
			p.Pix[4*i], p.Pix[4*i+1], p.Pix[4*i+2], p.Pix[4*i+3] = src[3*i], src[3*i+1], src[3*i+2], 255
		}
		picture = p
	}
	level := b.level
	if level == 0 {
		level = 75
	}
	out := appender(dst)
	err := jpeg.Encode(&out, picture, &jpeg.Options{Quality: level})
	return out, err
}
