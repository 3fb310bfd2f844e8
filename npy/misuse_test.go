package npy

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// is returns nil for an error that matches want.
func is(err, want error) error {
	if errors.Is(err, want) {
		return nil
	}
	return fmt.Errorf("got %v, want what matches %v", err, want)
}

// second returns the error of a call that has two results.
func second[T any](_ T, err error) error { return err }

var one = Array[float32]{Shape: []int{1}, Data: []float32{1}}

func TestArraysWhoseShapeIsNotThatOfTheirData(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a.npy")
	if err := WriteFile(name, one); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		shape []int
		want  string
	}{
		{"too few elements", []int{3}, "npy: Shape [3] is not that of 2 elements"},
		{"negative lengths", []int{-1, -2}, "npy: Shape [-1 -2] is not that of 2 elements"},
		{"a shape that was forgotten", nil, "npy: Shape is empty, which is a single value, and Data has 2 elements: set Shape"},
	} {
		a := Array[float32]{Shape: c.shape, Data: []float32{1, 2}}
		var file, archive bytes.Buffer
		err := Write(&file, a)
		if e, ok := errors.AsType[*ShapeError](err); !ok || err.Error() != c.want || e.Elements != 2 || !slices.Equal(e.Shape, c.shape) {
			t.Errorf("%s: %v", c.name, err)
		}
		if file.Len() > 0 {
			t.Errorf("%s: %d bytes are written", c.name, file.Len())
		}

		if _, ok := errors.AsType[*ShapeError](WriteFile(name, a)); !ok {
			t.Errorf("%s: the file is written", c.name)
		}
		if after, err := os.ReadFile(name); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s: the file that was there has changed: %q, %v", c.name, after, err)
		}
		if err := WriteFile(filepath.Join(dir, "none"), a); err == nil || exists(filepath.Join(dir, "none")) {
			t.Errorf("%s: a file is made", c.name)
		}

		w := NewArchiveWriter(&archive)
		if _, ok := errors.AsType[*ShapeError](Add(w, "x", a)); !ok {
			t.Errorf("%s: the array is added", c.name)
		}
		a.Shape = []int{2}
		if err := errors.Join(Add(w, "x", a), w.Close()); err != nil {
			t.Errorf("%s, and corrected: %v", c.name, err)
		}
		r, err := NewArchive(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFrom[float32](r, "x"); err != nil || !slices.Equal(got.Data, a.Data) || len(r.Names()) != 1 {
			t.Errorf("%s, and corrected: %v, %v", c.name, got, err)
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func TestArchivesThatAreClosed(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.npz")
	var file bytes.Buffer
	w := NewArchiveWriter(&file)
	for what, err := range map[string]error{
		"adding":                 Add(w, "a", one),
		"closing":                w.Close(),
		"adding to a closed one": is(Add(w, "b", one), fs.ErrClosed),
		"closing again":          w.Close(),
		"writing the file":       os.WriteFile(name, file.Bytes(), 0o600),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	opened, err := OpenArchive(name)
	if err != nil {
		t.Fatal(err)
	}
	lent, err := NewArchive(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []*Archive{opened, lent} {
		if err := errors.Join(a.Close(), a.Close()); err != nil {
			t.Errorf("closing twice: %v", err)
		}
		if err := errors.Join(is(second(ReadFrom[float32](a, "a")), fs.ErrClosed), is(second(a.Header("a")), fs.ErrClosed)); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatIsNilOrWasNotMade(t *testing.T) {
	for what, err := range map[string]error{
		"Read":             second(Read[float32](nil)),
		"ReadHeader":       second(ReadHeader(nil)),
		"Write":            Write(nil, one),
		"NewArchive":       second(NewArchive(nil, 10)),
		"ReadFrom nil":     second(ReadFrom[float32](nil, "a")),
		"ReadFrom zero":    second(ReadFrom[float32](new(Archive), "a")),
		"Header":           second(new(Archive).Header("a")),
		"Add nil":          Add(nil, "a", one),
		"Add zero":         Add(new(ArchiveWriter), "a", one),
		"NewArchiveWriter": Add(NewArchiveWriter(nil), "a", one),
	} {
		if !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	err := errors.Join((*Archive)(nil).Close(), new(Archive).Close(), (*ArchiveWriter)(nil).Close(), new(ArchiveWriter).Close())
	if err != nil || (*Archive)(nil).Names() != nil || new(Archive).Names() != nil {
		t.Errorf("what was not made is closed with %v, or has names", err)
	}
}

func TestAFileEndsWithItsArray(t *testing.T) {
	var file bytes.Buffer
	for _, v := range []float32{1, 2} {
		if err := Write(&file, Array[float32]{Data: []float32{v}}); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "a.npy")
	if err := os.WriteFile(name, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile[float32](name); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "more data than shape [] has") {
		t.Errorf("a file of two arrays: %v", err)
	}
	for want := range 2 {
		if got, err := Read[float32](&file); err != nil || got.Data[0] != float32(want+1) {
			t.Errorf("array %d: %v, %v", want, got, err)
		}
	}
}

// Whatever bit of an archive flips, what is read is right or an error that says
// that the file is damaged or is another.
func TestArchivesWithAFlippedBit(t *testing.T) {
	want := Array[int32]{Shape: []int{4, 4}, Data: make([]int32, 16)}
	for i := range want.Data {
		want.Data[i] = int32(i * i)
	}
	var file bytes.Buffer
	w := NewArchiveWriter(&file)
	err := Add(w, "stored", want)
	w.Compress = true
	if err := errors.Join(err, Add(w, "compressed", want), w.Close()); err != nil {
		t.Fatal(err)
	}
	corrupt := 0
	for bit := range 8 * file.Len() {
		b := bytes.Clone(file.Bytes())
		b[bit/8] ^= 1 << (bit % 8)
		a, err := NewArchive(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("bit %d: %v", bit, err)
			}
			continue
		}
		for _, name := range a.Names() {
			got, err := ReadFrom[int32](a, name)
			_, isType := errors.AsType[*TypeError](err)
			switch {
			case err == nil && !slices.Equal(got.Data, want.Data):
				t.Errorf("bit %d: %s is %v", bit, name, got.Data)
			case errors.Is(err, ErrFormat):
				corrupt++
			case err != nil && !isType && !errors.Is(err, errors.ErrUnsupported):
				t.Errorf("bit %d: %s: %v", bit, name, err)
			}
		}
	}
	if corrupt == 0 {
		t.Error("no bit damages an array")
	}
}
