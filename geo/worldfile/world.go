package worldfile

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"quern.dev/geo/tiff"
)

// Read reads a world file: six numbers; the last two are the coordinates of the center of the first pixel.
func Read(r io.Reader) (tiff.Affine, error) {
	var a tiff.Affine
	text, err := io.ReadAll(io.LimitReader(r, 4096))
	if err != nil {
		return a, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 6 {
		return a, failf(ErrFormat, "a world file has 6 numbers, not %d", len(fields))
	}
	var v [6]float64
	for i := range v {
		v[i], err = strconv.ParseFloat(strings.Replace(fields[i], ",", ".", 1), 64)
		if err != nil || math.IsInf(v[i], 0) || math.IsNaN(v[i]) {
			return a, failf(ErrFormat, "a world file has %q where a number is expected", fields[i])
		}
	}
	a = tiff.Affine{v[4], v[0], v[2], v[5], v[1], v[3]}
	if a[1]*a[5] == a[2]*a[4] {
		return a, failf(ErrFormat, "the pixels of the world file have no area")
	}
	a[0] -= a[1]/2 + a[2]/2
	a[3] -= a[4]/2 + a[5]/2
	return a, nil
}

// Write writes a world file.
func Write(w io.Writer, a tiff.Affine) error {
	x, y := a[0]+a[1]/2+a[2]/2, a[3]+a[4]/2+a[5]/2
	var text []byte
	for _, v := range []float64{a[1], a[4], a[2], a[5], x, y} {
		text = append(strconv.AppendFloat(text, v, 'f', -1, 64), '\n')
	}
	_, err := w.Write(text)
	return err
}

// worldNames are the names that the world file of an image may have.
func worldNames(image string) []string {
	ext := filepath.Ext(image)
	base := strings.TrimSuffix(image, ext)
	var names []string
	if n := len(ext); n > 2 {
		names = []string{base + "." + ext[1:2] + ext[n-1:] + "w", base + ext + "w"}
	}
	return append(names, base+".wld")
}

// open opens the first file of several names, also in upper or lower case; nil if there is none.
func openFirst(names ...string) (*os.File, error) {
	for _, name := range names {
		ext := filepath.Ext(name)
		base := strings.TrimSuffix(name, ext)
		for _, ext := range []string{ext, strings.ToLower(ext), strings.ToUpper(ext)} {
			f, err := os.Open(base + ext)
			if err == nil {
				return f, nil
			}
			if !os.IsNotExist(err) {
				return nil, err
			}
		}
	}
	return nil, nil
}

// Placed reports whether there is a file beside an image that may say where it is: a world file or an .aux.xml.
func Placed(image string) bool {
	f, err := openFirst(append(worldNames(image), image+".aux.xml")...)
	if err != nil || f == nil {
		return false
	}
	f.Close()
	return true
}
