package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestErrorsOfAPlatformAreFoundThere(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":          "module example.com/m\n\ngo 1.26\n",
		"a.go":            "package m\n\nimport \"os\"\n\nvar Name = name(os.PathSeparator)\n",
		"name_windows.go": "package m\n\nfunc name(r rune) int { return string(r) }\n",
		"name_other.go":   "//go:build !windows\n\npackage m\n\nfunc name(r rune) string { return string(r) }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	if n, err := check("linux/arm64", []string{"./..."}); n != 1 || err != nil {
		t.Errorf("linux: %d packages, %v", n, err)
	}
	if _, err := check("windows/amd64", []string{"./..."}); err == nil || !strings.Contains(err.Error(), "name_windows.go:3:32: cannot use string(r)") {
		t.Errorf("windows: %v", err)
	}
}
