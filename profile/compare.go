package profile

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// Significance is the probability below which [Compare] calls a difference significant.
const Significance = 0.05

// Difference compares two results of one name.
type Difference struct {
	Name     string
	Old, New float64 // medians in nanoseconds
	// Change is the relative change of the median: -0.1 is a tenth less time.
	Change float64
	// P is the probability of samples at least as different if nothing has changed, by the
	// test of Mann and Whitney.
	P float64
	// Significant: P is less than [Significance].
	Significant bool
	// Few: there are so few samples that no difference could be significant. Four of each are
	// enough.
	Few bool
}

// Differences compare two lists of results.
type Differences []Difference

// Compare compares the results that have the same name in both lists, in the order of the
// new one. Samples under the same conditions vary less than from one run of a program to the
// next, so a significant difference of one per cent may still be due to the conditions.
func Compare(before, after Results) Differences {
	var list Differences
	for i := range after {
		a := &after[i]
		at := slices.IndexFunc(before, func(r Result) bool { return r.Name == a.Name })
		if at < 0 || len(a.Samples) == 0 || len(before[at].Samples) == 0 {
			continue
		}
		o := before[at]
		o.summarize()
		n := *a
		n.summarize()
		d := Difference{Name: a.Name, Old: o.Median, New: n.Median, P: mannWhitney(o.Samples, n.Samples)}
		if o.Median > 0 {
			d.Change = n.Median/o.Median - 1
		}
		d.Significant = d.P < Significance
		d.Few = leastP(len(o.Samples), len(n.Samples)) >= Significance
		list = append(list, d)
	}
	return list
}

// WriteMarkdown writes a table. Where a difference is not significant, it has "~" instead of
// the change, as benchstat does, and where none could be, "too few samples".
func (list Differences) WriteMarkdown(w io.Writer) error {
	rows := [][]string{{"benchmark", "old", "new", "change", "p"}}
	for _, d := range list {
		change := "~"
		if d.Few {
			change = "too few samples"
		}
		if d.Significant {
			change = fmt.Sprintf("%+.2f %%", 100*d.Change)
		}
		rows = append(rows, []string{d.Name, duration(d.Old), duration(d.New), change, strconv.FormatFloat(d.P, 'f', 3, 64)})
	}
	if _, err := io.WriteString(w, markdown(rows)); err != nil {
		return fmt.Errorf("profile: write comparison: %w", err)
	}
	return nil
}

// leastP returns the smallest probability that mannWhitney can return for n and m samples.
func leastP(n, m int) float64 {
	p := 2.0
	for i := 1; i <= n && p >= Significance; i++ {
		p *= float64(i) / float64(m+i)
	}
	return min(1, p)
}

// mostExact is the largest product of the numbers of samples for which the distribution is
// computed instead of approximated.
const mostExact = 2500

// mannWhitney returns the two-sided probability of the test of Mann and Whitney (1947): the
// number of pairs in which x is larger, if both lists are from one distribution.
func mannWhitney(x, y []float64) float64 {
	type value struct {
		v    float64
		ofX  bool
		rank float64
	}
	all := make([]value, 0, len(x)+len(y))
	for _, v := range x {
		all = append(all, value{v: v, ofX: true})
	}
	for _, v := range y {
		all = append(all, value{v: v})
	}
	slices.SortFunc(all, func(a, b value) int {
		switch {
		case a.v < b.v:
			return -1
		case a.v > b.v:
			return 1
		default:
			return 0
		}
	})
	ties := 0.0 // sum of t^3-t over runs of t equal values
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].v == all[i].v {
			j++
		}
		for k := i; k < j; k++ {
			all[k].rank = float64(i+j+1) / 2
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	ranks := 0.0
	for _, v := range all {
		if v.ofX {
			ranks += v.rank
		}
	}
	n, m := float64(len(x)), float64(len(y))
	u := ranks - n*(n+1)/2
	u = min(u, n*m-u)
	if ties == 0 && len(x)*len(y) <= mostExact {
		return min(1, 2*exactBelow(len(x), len(y), int(u)))
	}
	total := n + m
	deviation := math.Sqrt(n * m / 12 * (total + 1 - ties/(total*(total-1))))
	if deviation == 0 {
		return 1
	}
	z := max(0, n*m/2-u-0.5) / deviation // 0.5 corrects for u being a whole number
	return math.Erfc(z / math.Sqrt2)
}

// exactBelow returns the probability that the statistic of n and m samples without ties is
// at most u. count[i][k] is the number of ways to choose i of the samples so far with
// statistic k.
func exactBelow(n, m, u int) float64 {
	count := make([][]float64, n+1)
	for i := range count {
		count[i] = make([]float64, n*m+1)
	}
	count[0][0] = 1
	// Gaussian binomial coefficients: the sample of rank j adds the number of samples of the
	// other list below it.
	for j := 1; j <= n+m; j++ {
		for i := min(j, n); i >= 1; i-- {
			below := j - i // of the other list
			if below > m {
				continue
			}
			for k := n*m - below; k >= 0; k-- {
				count[i][k+below] += count[i-1][k]
			}
		}
	}
	at, total := 0.0, 0.0
	for k, c := range count[n] {
		total += c
		if k <= u {
			at += c
		}
	}
	return at / total
}
