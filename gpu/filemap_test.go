package gpu

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func writeFile(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	do(t, os.WriteFile(path, data, 0o600))
	return path
}

func TestAMappedFileIsASource(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		want := pattern(stagingMinimum + 4096 + 8)
		m := must[*Mapped[[2]uint32]](t)(OpenMapped[[2]uint32](writeFile(t, want)))
		if m.Len() != len(want)/8 {
			t.Errorf("%d elements", m.Len())
		}
		b := upload(t, s, m.Data()...)
		part := upload(t, s, m.Data()[3:5]...)
		do(t, m.Close())
		if got := download(t, s, b); got[0] != [2]uint32{
			uint32(want[0]) | uint32(want[1])<<8 | uint32(want[2])<<16 | uint32(want[3])<<24,
			uint32(want[4]) | uint32(want[5])<<8 | uint32(want[6])<<16 | uint32(want[7])<<24,
		} || !slices.Equal(download(t, s, part), got[3:5]) {
			t.Error("the copies are wrong")
		}
		closeAll(t, b, part, m)
		if m.Len() != 0 || m.Data() != nil {
			t.Error("a closed file has elements")
		}
	})
}

func TestWritingToAMappedFileDoesNotChangeTheFile(t *testing.T) {
	want := pattern(10000)
	path := writeFile(t, want)
	m := must[*Mapped[byte]](t)(OpenMapped[byte](path))
	clear(m.Data())
	do(t, m.Close())
	if got := must[[]byte](t)(os.ReadFile(path)); !bytes.Equal(got, want) {
		t.Error("the file has changed")
	}
}

func TestFilesThatCannotBeMappedSayWhy(t *testing.T) {
	dir := t.TempDir()
	path := writeFile(t, make([]byte, 10))
	tests := []struct {
		name string
		err  error
		is   error
		want string
	}{
		{"a file that is not there", second(OpenMapped[byte](filepath.Join(dir, "none"))), fs.ErrNotExist, "gpu: open mapped file: open "},
		{"a directory", second(OpenMapped[byte](dir)), ErrInvalid, "is not a regular file"},
		{"a size that is no multiple", second(OpenMapped[float32](path)), ErrInvalid, "has 10 bytes, which is not a multiple of the element size 4"},
		{"pointers in elements", second(OpenMapped[*int](path)), ErrInvalid, "gpu: open mapped file: a device cannot hold elements of type *int"},
	}
	for _, test := range tests {
		if test.err == nil || !errors.Is(test.err, test.is) || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: got %v, want %q", test.name, test.err, test.want)
		}
	}
	empty := must[*Mapped[float64]](t)(OpenMapped[float64](writeFile(t, nil)))
	if empty.Len() != 0 {
		t.Errorf("an empty file has %d elements", empty.Len())
	}
	closeAll(t, empty, (*Mapped[int])(nil), new(Mapped[int]))
}
