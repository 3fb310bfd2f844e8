package generate

import (
	"strings"
	"testing"
)

func TestMerge(t *testing.T) {
	const scale = "func quernPlainScale_%s(r *host.Run) {\n\tquernHostScale_%s(r)\n}\n\n// quernHostScale_%s scales.\nfunc quernHostScale_%s(r *host.Run) {\n\tvar T %s\n\tx := host.Slice[[2]%s](r, 0)\n\ty := f[%s](x, []int32{T})\n}\n"
	of := func(text, typ string) hostCode {
		return hostCode{"scale[" + typ + "]", "Host", strings.ReplaceAll(text, "%s", typ)}
	}
	const merged = "func quernPlainScale[T_ int16 | int32](r *host.Run) {\n\tquernHostScale[T_](r)\n}\n\n// quernHostScale scales.\nfunc quernHostScale[T_ int16 | int32](r *host.Run) {\n\tvar T T_\n\tx := host.Slice[[2]T_](r, 0)\n\ty := f[T_](x, []int32{T})\n}\n"
	constrainedText := strings.ReplaceAll(scale, "f[%s]", "f[[2]%s]")
	for _, tt := range []struct {
		name  string
		codes []hostCode
		want  string
		host  string // expression of the second function
	}{
		{"types that differ", []hostCode{of(scale, "int16"), of(scale, "int32")}, "\n" + merged, "quernHostScale[int32]"},
		{"types that are no numbers", []hostCode{of(scale, "int16"), of(scale, "string")}, "\n" + of(scale, "int16").text + "\n" + of(scale, "string").text, ""},
		{"a constraint on arrays", []hostCode{of(constrainedText, "int16"), of(constrainedText, "int32")}, "\n" + of(constrainedText, "int16").text + "\n" + of(constrainedText, "int32").text, ""},
		{"a kernel of its own", []hostCode{{"scale", "Host", "func quernHostScale(r *host.Run) {}\n"}}, "\nfunc quernHostScale(r *host.Run) {}\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, expressions := merge(tt.codes)
			if text != tt.want {
				t.Errorf("got\n%s\nwant\n%s", text, tt.want)
			}
			if got := expressions["quernHostScale_int32"]; got != tt.host {
				t.Errorf("got %q, want %q", got, tt.host)
			}
		})
	}
}
