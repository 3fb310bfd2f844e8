package cuda

// Substitute puts a library in the place of NVIDIA's until restore is called: for
// tests of packages that open devices by name.
func Substitute(lib Library) (restore func()) {
	was, kept := open, codes
	open, codes = func() (Library, error) { return lib, nil }, nil
	return func() { open, codes = was, kept }
}
