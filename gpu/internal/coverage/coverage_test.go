package coverage

import "testing"

func TestPackagesThatCountCoverageAreFoundInTheProgram(t *testing.T) {
	const name = "example.com/vectors/quern_gen.go"
	for _, test := range []struct {
		text string
		want bool
	}{
		{"", false},
		{name, false}, // that is how the program begins
		{"\x20" + name + "\x00", true},
		{"/home/me/" + name, false},
		{`C:\src\` + name, false},
		{"/home/me/" + name + "\x00\x20" + name, true},
		{"\x20example.com/vectors/other.go", false},
	} {
		if got := namesSource([]byte(test.text), name); got != test.want {
			t.Errorf("%q: %v", test.text, got)
		}
	}
}
