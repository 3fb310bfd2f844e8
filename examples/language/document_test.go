package language

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/internal/testmodule"
)

func TestDocumentShowsTestedCode(t *testing.T) {
	testmodule.NeedSource(t)
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "kernel-language.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var sources strings.Builder
	for _, f := range files {
		if f == "quern_gen.go" {
			continue
		}
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(source)
	}
	parts := strings.Split(string(text), "```go\n")
	if len(parts) < 2 {
		t.Fatal("the document has no Go code")
	}
	for _, part := range parts[1:] {
		block, _, ended := strings.Cut(part, "\n```")
		if !ended {
			t.Errorf("a block of Go code does not end:\n%s", part)
			continue
		}
		if !strings.Contains(sources.String(), block) {
			t.Errorf("the document shows code that is not in this package's files:\n%s", block)
		}
	}
}
