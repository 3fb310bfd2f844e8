package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestProgressNamesTheStagesOfLongWork(t *testing.T) {
	var screen bytes.Buffer
	p := &progress{w: &screen}
	p.at("decode")
	p.at("blur rows")
	if screen.Len() > 0 {
		t.Errorf("short work prints %q", &screen)
	}
	p.show()
	p.at("rotate")
	p.end()
	p.end()
	p.show() // the timer may fire last
	if got, want := screen.String(), "\r\x1b[Kblur rows ...\r\x1b[Krotate ...\r\x1b[K"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgressIsShownOnlyOnTerminals(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if startProgress(new(bytes.Buffer)) != nil || startProgress(f) != nil {
		t.Error("progress is shown on something that is not a terminal")
	}
}
