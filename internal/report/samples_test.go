package report

import (
	"strings"
	"testing"

	"quern.dev/internal/sampling"
)

func TestSampledListingsShowWhatWarpsWaitedFor(t *testing.T) {
	s := &sampling.Samples{Kernels: []sampling.Kernel{
		{Name: "example.com/filters.rare", Lines: []sampling.Line{{File: "rare.go", Line: 9, Reasons: map[string]uint64{"selected": 100}}}},
		{Name: "example.com/filters.blur", Lines: []sampling.Line{
			{File: "", Line: 0, Reasons: map[string]uint64{"imc_miss": 30}},
			{File: "blur.go", Line: 3, Reasons: map[string]uint64{"selected": 70}},
			{File: "blur.go", Line: 4, Reasons: map[string]uint64{"selected": 20, "long_scoreboard": 150, "barrier": 25, "wait": 5}},
		}},
	}}
	list := SampledListings(s, filters(t))
	if list[0].Kernel != "example.com/filters.blur" || list[0].Samples != 300 || list[0].Share != 0.75 {
		t.Errorf("the first listing is %+v", list[0])
	}
	var b strings.Builder
	if err := WriteSampledText(&b, list, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"example.com/filters.blur: 75.0 % of all samples, 300; a warp issued an instruction in 30 % of them, else: long_scoreboard 50 %, imc_miss 10 %, barrier 8 %\n",
		" 23.3 %   100 %                                                    3  func blur() {\n",
		" 66.7 %    10 %  long_scoreboard 75 %, barrier 12 %                4      y[i] = tile[i*32]\n",
		"code of no line",
		"example.com/filters.rare: 25.0 % of all samples, 100",
		"long_scoreboard     waits for global, local or texture memory\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the listing lacks %q:\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "tex_throttle") {
		t.Errorf("the listing explains what did not happen:\n%s", b.String())
	}
	b.Reset()
	if err := WriteSampledText(&b, list, 1); err != nil || !strings.Contains(b.String(), "and 1 more kernel") {
		t.Errorf("%v:\n%s", err, b.String())
	}
}
