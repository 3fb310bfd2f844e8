package culib

import (
	"fmt"
	"strings"

	"quern.dev/internal/dynlib"
	"quern.dev/internal/engine"
)

// openFile opens the first file of a library that can be opened.
func openFile(k engine.Library, cuda int) (lib Library, path string, err error) {
	d := &descriptions[k]
	reason := ""
	for _, place := range candidates(d, cuda) {
		lib, err := dynlib.Open(place)
		if err == nil {
			return lib, place, nil
		}
		if strings.Contains(place, "/") { // a file that exists
			reason = ": " + err.Error()
		}
	}
	var names []string
	for _, r := range d.releases {
		if cuda == 0 || r.cuda <= cuda {
			names = append(names, r.file)
		}
	}
	if len(names) == 0 {
		return nil, "", fmt.Errorf("the driver supports CUDA %d only", cuda)
	}
	return nil, "", fmt.Errorf("%s was not found%s", strings.Join(names, " or "), reason)
}
