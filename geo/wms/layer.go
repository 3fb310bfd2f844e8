package wms

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Layer is what clients ask for by name: a file, several files that lie beside or over each other, or files per time.
type Layer struct {
	Name     string // letters, digits and -_.:; unique
	Title    string // Name if empty
	Abstract string
	// Files are those of images that Config.Open opens, GeoTIFF by default; later ones lie over earlier ones.
	Files []string
	// Times are the files of each point in time, instead of Files.
	Times []TimeFiles
	// Default is how the layer looks by default; its zero value follows from the file.
	Default Rendering
}

// TimeFiles are the files of a point in time.
type TimeFiles struct {
	Time  time.Time
	Files []string
}

// layerName are names that are safe in URLs and in lists.
var layerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$`)

// reserved are the first parts of the server's own paths.
var reserved = []string{"wms", "wmts", "metrics", "health", "layers.json"}

func checkName(name string) error {
	if !layerName.MatchString(name) || slices.Contains(reserved, name) {
		return failf(ErrConfig, "layer %q: a name has 1 to 100 letters, digits and _.:- and is not a path of the server", name)
	}
	return nil
}

// FindLayers returns the layers of files and folders. A file is a layer. In a folder, each file is a layer, and each
// folder in it is one: with a time dimension if the names of all files in it contain a date, and otherwise of all files
// together. Other files than *.tif and *.tiff are passed over.
func FindLayers(paths ...string) ([]Layer, error) {
	return FindImages(func(name string) bool {
		ext := strings.ToLower(filepath.Ext(name))
		return ext == ".tif" || ext == ".tiff"
	}, paths...)
}

// FindImages is FindLayers with another choice of the files in folders: those of whose names isImage is true. Config.Open has to open
// them. A path with a colon that does not exist is a layer if isImage is true: a name that Config.Open understands.
func FindImages(isImage func(name string) bool, paths ...string) ([]Layer, error) {
	find := finder(isImage)
	var all []Layer
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil && !(errors.Is(err, fs.ErrNotExist) && strings.Contains(path, ":") && isImage(path)) {
			return nil, err
		}
		if err != nil || !info.IsDir() {
			all = append(all, Layer{Name: nameOf(path, true), Files: []string{path}})
			continue
		}
		found, err := find.folder(path)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, failf(ErrConfig, "there is no image in %s", strings.Join(paths, ", "))
	}
	used := map[string]bool{}
	for i := range all {
		if used[all[i].Name] {
			return nil, failf(ErrConfig, "two layers would have the name %s: rename a file", all[i].Name)
		}
		used[all[i].Name] = true
	}
	return all, nil
}

// finder says which files of folders are images.
type finder func(name string) bool

// folder returns the layers of a folder.
func (is finder) folder(path string) ([]Layer, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var all []Layer
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		info, err := os.Stat(name) // follows links
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			if is(name) {
				all = append(all, Layer{Name: nameOf(name, true), Files: []string{name}})
			}
			continue
		}
		l, err := is.group(name)
		if err != nil {
			return nil, err
		}
		if l != nil {
			all = append(all, *l)
		}
	}
	return all, nil
}

// group makes a layer of the files of a folder; nil if there are none.
func (is finder) group(path string) (*Layer, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	l := &Layer{Name: nameOf(path, false)}
	dated := map[time.Time][]string{}
	for _, e := range entries {
		file := filepath.Join(path, e.Name())
		if e.IsDir() || !is(file) {
			continue
		}
		l.Files = append(l.Files, file)
		if at, ok := dateOf(e.Name()); ok {
			dated[at] = append(dated[at], file)
		}
	}
	n := 0
	for at, files := range dated {
		n += len(files)
		l.Times = append(l.Times, TimeFiles{at, files})
	}
	slices.SortFunc(l.Times, func(a, b TimeFiles) int { return a.Time.Compare(b.Time) })
	switch {
	case len(l.Files) == 0:
		return nil, nil
	case n == len(l.Files):
		l.Files = nil
	default:
		l.Times = nil
	}
	return l, nil
}

// nameOf makes a layer's name of the path of a file, without its extension, or of a folder.
func nameOf(path string, file bool) string {
	base := filepath.Base(filepath.Clean(path))
	if file {
		base = strings.TrimSuffix(base, filepath.Ext(base))
	}
	name := strings.Map(func(r rune) rune {
		if r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r)) {
			return r
		}
		return '_'
	}, base)
	name = strings.TrimLeft(name, "_.-")
	if name == "" || slices.Contains(reserved, name) {
		name = "layer-" + name
	}
	return name[:min(len(name), 100)]
}

// dates are dates, and possibly times, in the names of files: 20260131, 2026-01-31, 20260131T1200, 2026-01-31_12-00-30.
var dates = regexp.MustCompile(`(?:^|\D)(\d{4})([-_]?)(\d{2})([-_]?)(\d{2})(?:[T_-]?(\d{2})[-_:]?(\d{2})(?:[-_:]?(\d{2}))?Z?)?(?:\D|$)`)

// dateOf returns the date in the name of a file.
func dateOf(name string) (time.Time, bool) {
	for _, m := range dates.FindAllStringSubmatch(name, -1) {
		text, layout := m[1]+m[3]+m[5], "20060102"
		for i, part := range []string{"15", "04", "05"} {
			if m[6+i] != "" {
				text, layout = text+m[6+i], layout+part
			}
		}
		if at, err := time.Parse(layout, text); err == nil && m[2] == m[4] && at.Year() > 1800 {
			return at, true
		}
	}
	return time.Time{}, false
}
