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
	const merged = "func quernPlainScale[T int16 | int32](r *host.Run) {\n\tquernHostScale[T](r)\n}\n\n// quernHostScale scales.\nfunc quernHostScale[T_ int16 | int32](r *host.Run) {\n\tvar T T_\n\tx := host.Slice[[2]T_](r, 0)\n\ty := f[T_](x, []int32{T})\n}\n"
	constrainedText := strings.ReplaceAll(scale, "f[%s]", "f[[2]%s]")
	const sum = "\nfunc quernHostSum(r *host.Run) {\n\tsum := host.Scratch[float32](r, 0)\n\tquernRow1Sum(r, sum)\n\tsum[0] = add(sum[0])\n}\n\nfunc quernRow1Sum(r *host.Run, sum []float32) {\n\tfor i := range 32 {\n\t\tsum[i] = T{sum: 1}.sum\n\t}\n}\n"
	// The same with other names of functions and variables, but not of fields, and another type.
	product := strings.NewReplacer("Sum", "Product", "sum:", "sum:", ".sum", ".sum", "sum", "product", "float32", "float64", "add", "multiply").Replace(sum)
	rows := strings.NewReplacer("quernRow1Sum(r, sum)", "quernRow1Sum[float32](r, sum)", "func quernRow1Sum(", "func quernRow1Sum[T_ float32 | float64](", "sum []float32", "sum []T_").Replace(sum) +
		strings.Replace(product[:strings.LastIndex(product, "\nfunc")], "quernRow1Product(r", "quernRow1Sum[float64](r", 1)
	for _, tt := range []struct {
		name  string
		codes []hostCode
		want  string
		host  string // expression of the second function
	}{
		{"types that differ", []hostCode{of(scale, "int16"), of(scale, "int32")}, "\n" + merged, "quernHostScale[int32]"},
		{"types that are no numbers", []hostCode{of(scale, "int16"), of(scale, "string")}, "\n" + of(scale, "int16").text + "\n" + of(scale, "string").text, ""},
		{"a constraint on arrays", []hostCode{of(constrainedText, "int16"), of(constrainedText, "int32")}, "\n" + of(constrainedText, "int16").text + "\n" + of(constrainedText, "int32").text, ""},
		{"a row of two kernels", []hostCode{{"sum", "Host", sum}, {"product", "Host", product}}, strings.TrimSuffix(rows, "\n") + "\n", ""},
		{"a function that other code calls", []hostCode{{"sum", "Host", sum}, {"product", "", product}}, sum + product, ""},
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
