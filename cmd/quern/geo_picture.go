package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"quern.dev/geo/tiff"
	"quern.dev/geo/translate"
	"quern.dev/geo/worldfile"
)

// picture reports whether the result is PNG or JPEG, and returns how it is stored.
func (t *translation) picture() (o worldfile.Options, ok bool, err error) {
	o.Format, o.Auxiliary = strings.ToUpper(t.format), true
	level := map[string]string{"PNG": "ZLEVEL", "JPEG": "QUALITY"}[o.Format]
	if level == "" {
		return o, false, nil
	}
	for _, option := range t.creation {
		name, value, _ := strings.Cut(option, "=")
		valid := false
		switch strings.ToUpper(name) {
		case "WORLDFILE":
			valid = choose(&t.worldFile, strings.ToUpper(value), "NO", "YES")
		case level:
			o.Level, valid = number(value)
		default:
			return o, true, fmt.Errorf("-co %s: unknown option of %s; quern geo translate --help lists them", option, o.Format)
		}
		if !valid {
			return o, true, fmt.Errorf("-co %s: value %q is not possible; quern geo translate --help lists those that are", option, value)
		}
	}
	o.WorldFile = t.worldFile == 1
	return o, true, nil
}

// writePicture writes an image as PNG or JPEG. A mask becomes alpha.
func (t *translation) writePicture(ctx context.Context, im *translate.Image, result string, o worldfile.Options, stderr io.Writer) error {
	h := im.Header()
	bands := h.Bands
	if im.Masked() {
		if o.Format != "PNG" || bands != 1 && bands != 3 || h.Photometric == tiff.Palette {
			return fmt.Errorf("%s: %s with %d bands has no mask; -mask none leaves it out, and PNG with one or three bands without a palette has it as alpha", result, o.Format, bands)
		}
		h.Bands++
		h.Extra = append(slices.Clone(h.Extra), tiff.StraightAlpha)
		h.Bits = 0
	}
	w, err := worldfile.Create(result, h, o)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	size := h.Type.Size()
	err = t.rows(ctx, im, stderr, func(rows tiff.Rows) error {
		if !im.Masked() {
			return w.WriteRows(ctx, rows.Pixels)
		}
		pixels := make([]byte, 0, len(rows.Pixels)/bands*(bands+1))
		for i, m := range rows.Mask {
			pixels = append(pixels, rows.Pixels[i*bands*size:(i+1)*bands*size]...)
			for range size {
				pixels = append(pixels, m)
			}
		}
		return w.WriteRows(ctx, pixels)
	})
	if err != nil {
		return err
	}
	return w.Close()
}
