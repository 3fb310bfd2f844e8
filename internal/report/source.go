package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Sources finds the text of source files. It is safe for concurrent use.
type Sources struct{ *sources }

type sources struct {
	mu    sync.Mutex
	dirs  map[string]string // of packages, by import path
	files map[string][]string
}

// NewSources returns sources for a recording: a package is where the recorded call stacks have
// the launchers that quern gen wrote for it.
func NewSources(r *Recording) Sources {
	s := Sources{&sources{dirs: map[string]string{}, files: map[string][]string{}}}
	if r == nil {
		return s
	}
	for _, stack := range r.Stacks {
		for _, f := range stack {
			if !filepath.IsAbs(f.File) {
				continue
			}
			if path, ok := packageOf(f.Function); ok {
				s.dirs[path] = filepath.Dir(f.File)
			}
		}
	}
	return s
}

// packageOf returns the import path of a function.
func packageOf(function string) (string, bool) {
	slash := strings.LastIndex(function, "/")
	dot := strings.Index(function[slash+1:], ".")
	if dot < 0 {
		return "", false
	}
	return function[:slash+1+dot], true
}

// Add says where a package is.
func (s Sources) Add(path, dir string) {
	if s.sources != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dirs[path] = dir
	}
}

// Find returns the file of a package, or "" if it is not known where the package is. The file
// may begin with the path of another package.
func (s Sources) Find(pkg, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	if s.sources == nil || file == "" {
		return ""
	}
	if slash := strings.LastIndexByte(file, '/'); slash >= 0 {
		pkg, file = file[:slash], file[slash+1:]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if dir, known := s.dirs[pkg]; known {
		return filepath.Join(dir, file)
	}
	for other, dir := range s.dirs {
		// A main package appears as main in call stacks. Packages of a module are in its tree.
		if name := filepath.Join(dir, relative(other, pkg), file); exists(name) {
			s.dirs[pkg] = filepath.Dir(name)
			return name
		}
	}
	return ""
}

// relative returns the way from a package to another one in the tree of their module.
func relative(from, to string) string {
	if from == "main" || from == to {
		return "."
	}
	a, b := strings.Split(from, "/"), strings.Split(to, "/")
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	if same == 0 {
		return "\x00" // of another module
	}
	return strings.Repeat("../", len(a)-same) + strings.Join(b[same:], "/")
}

// KernelPackage returns the import path of the package of a kernel.
func KernelPackage(name string) string {
	name, _, _ = strings.Cut(name, "[") // type arguments
	pkg, _ := packageOf(name)
	return pkg
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// Lines returns the lines of a file, nil if it cannot be read.
func (s Sources) Lines(file string) []string {
	if s.sources == nil || !filepath.IsAbs(file) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if lines, known := s.files[file]; known {
		return lines
	}
	text, err := os.ReadFile(file)
	var lines []string
	if err == nil && !bytes.ContainsRune(text, 0) {
		lines = strings.Split(string(text), "\n")
	}
	s.files[file] = lines
	return lines
}

// Line returns a line of a file without the spaces around it, "" if it cannot be read.
func (s Sources) Line(file string, line int) string {
	lines := s.Lines(file)
	if line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[line-1])
}
