package cuda

// Substitute replaces NVIDIA's library with lib until restore is called. It is for
// tests of packages that open devices by name.
func Substitute(lib Library) (restore func()) {
	was, kept := open, codes
	open, codes = func() (Library, error) { return lib, nil }, nil
	return func() { open, codes = was, kept }
}
