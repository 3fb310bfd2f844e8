package algo

import "quern.dev/algo"

// record has 12 bytes.
type record struct {
	Group int32
	Score float32
	ID    uint32
}

// byScore orders records by group, and within a group by their distance from a score.
//
//quern:op algo.Less
func byScore(a, b record, reversed bool, score float32) bool {
	if reversed {
		a, b = b, a
	}
	if a.Group != b.Group {
		return a.Group < b.Group
	}
	return (a.Score-score)*(a.Score-score) < (b.Score-score)*(b.Score-score)
}

// wide is so large that a thread sorts one at a time.
type wide struct {
	Rest [10]uint64
	Key  int16
	Part [3]uint8
}

//quern:op algo.Less
func byKey(a, b wide) bool { return a.Key < b.Key }

// small has one byte.
type small struct{ V uint8 }

//quern:op algo.Less
func bySize(a, b small) bool { return a.V < b.V }

//quern:op algo.Equal
func sameGroup(a, b record) bool { return a.Group == b.Group }

//quern:op algo.Equal
func within(a, b, distance float32) bool { return max(a, b)-min(a, b) <= distance }

// span is the range of some numbers, and how many there are. It does not commute: First is that
// of the first one.
type span struct {
	Low, High, First float32
	N                int32
}

//quern:op algo.Combine
func join(a, b span) span {
	return span{min(a.Low, b.Low), max(a.High, b.High), a.First, a.N + b.N}
}

var (
	_ algo.Less[wide]     = OpByKey
	_ algo.Combine[span]  = OpJoin
	_ algo.Equal[record]  = OpSameGroup
	_ algo.Equal[float32] = OpWithin(0)
)
