package ortho

import (
	"bytes"
	"strings"
	"testing"

	"quern.dev/geo/crs"
)

// FuzzReadReconstruction checks that every text gives shots with usable cameras, or an error.
func FuzzReadReconstruction(f *testing.F) {
	for _, s := range []string{
		`[{"cameras":{"c":{"projection_type":"brown","width":4,"height":3,"focal_x":1,"focal_y":1,"k1":-0.1}},"shots":{"a":{"rotation":[1,2,3],"translation":[4,5,6],"camera":"c"}},"reference_lla":{"latitude":1,"longitude":2,"altitude":3}}]`,
		`[{"cameras":{"c":{"projection_type":"fisheye","width":4,"height":3,"focal":1}},"shots":{}}]`, `[]`, `{`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		shots, err := ReadReconstruction(bytes.NewReader(text), nil, nil)
		if err != nil {
			return
		}
		for i := range shots {
			if err := shots[i].Camera.check(); err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzReadExterior checks the same of tables.
func FuzzReadExterior(f *testing.F) {
	system, err := crs.EPSG(32633)
	if err != nil {
		f.Fatal(err)
	}
	cameras := map[string]Camera{"c": {Width: 1, Height: 1, FX: 1, FY: 1}}
	for _, s := range []string{"a,1,2,3,4,5,6\n", "filename,x,y,z,omega,phi,kappa,camera\na,1,2,3,4,5,6,c\n", "\"", "filename\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		shots, err := ReadExterior(strings.NewReader(text), system, cameras)
		if err == nil && !finite(shots[0].Pose.Center[:]...) {
			t.Error(shots)
		}
	})
}
