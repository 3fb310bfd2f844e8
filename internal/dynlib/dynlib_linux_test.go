package dynlib_test

import (
	"testing"

	"quern.dev/internal/dynlib"
)

func TestLibraryIsOpenedAndCalled(t *testing.T) {
	lib, err := dynlib.Open("libc.so.6")
	if err != nil {
		t.Skip(err)
	}
	abs := lib.Lookup("abs")
	if abs == 0 {
		t.Fatal("the C library has no abs")
	}
	if got := int32(lib.Call(abs, []uintptr{^uintptr(6)})); got != 7 {
		t.Errorf("abs(-7) = %d", got)
	}
	if lib.Lookup("no such function") != 0 {
		t.Error("found a function that does not exist")
	}
}

func TestMissingLibraryIsAnError(t *testing.T) {
	if _, err := dynlib.Open("libdoesnotexist.so.9"); err == nil {
		t.Error("opened a library that does not exist")
	}
}
