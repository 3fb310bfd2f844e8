package main

import "quern.dev/kernel"

//go:generate go tool quern gen

// Limits of the detector.
const (
	maxPeriod = 512 // readings
	turns     = 4   // seasons that a detector learns before it judges
	least     = 64  // readings that it learns from at least
)

// The weights of a new reading once the detector has learnt.
const (
	levelWeight  = 0.02
	seasonWeight = 0.05
	spreadWeight = 1.0 / 256
	clip         = 3 // standard deviations: what a reading changes the forecast by at most
)

// reading is a message to a detector.
type reading struct {
	Number int64 // of the reading in the sensor's stream, from 0; the number of all readings in the last message
	Sent   int64 // nanoseconds on the program's clock
	Value  float64
	Kind   uint32
}

// Kinds of messages to a detector.
const (
	measured = iota // a reading
	ended           // there are no more
)

// finding is what a detector tells about an anomaly and, as its last message,
// about the stream.
type finding struct {
	Kind    uint32 // of the message that it answers
	Sensor  int32
	Number  int64 // of the reading
	Sent    int64 // of the message
	Value   float64
	Want    float64 // the forecast
	Score   float64 // distance between the two in standard deviations
	Seen    int64   // readings so far
	Strange int64   // anomalies so far
}

// detector is the state of a sensor's actor: a forecast, the level of the sensor
// and its season, and the variance of what readings differ from it.
type detector struct {
	Sensor    int32
	Period    int32 // readings of a season
	Threshold float64

	Seen    int64
	Strange int64
	Level   float64
	Squares float64 // sum of squared deviations while it learns, their variance after that
	Season  [maxPeriod]float64
}

// learning is the number of readings before the detector judges.
func (d *detector) learning() int64 {
	period := int64(d.Period)
	return period * max(turns, (least+period-1)/period)
}

// watch compares a reading with the forecast, and tells of it if it is strange.
//
//quern:actor
func watch(t kernel.Thread, d *detector, in *reading, out *finding) kernel.Action {
	if t.ThreadIdx.X != 0 {
		return kernel.Done // the action of the first thread counts
	}
	out.Kind, out.Sensor, out.Number, out.Sent, out.Value = in.Kind, d.Sensor, in.Number, in.Sent, in.Value
	if in.Kind == ended {
		out.Seen, out.Strange = d.Seen, d.Strange
		return kernel.Reply
	}
	want, score := d.judge(in.Value)
	strange := !(score <= d.Threshold) // true of a score that is not a number
	if strange {
		d.Strange++
		out.Want, out.Score = want, score
	}
	d.learn(in.Value - want)
	out.Seen, out.Strange = d.Seen, d.Strange
	if strange {
		return kernel.Reply
	}
	return kernel.Done
}

// judge returns the forecast, and how many standard deviations v is from it; 0
// while the detector learns.
func (d *detector) judge(v float64) (want, score float64) {
	want = d.Level + d.Season[int(d.Seen%int64(d.Period))]
	if d.Seen < d.learning() {
		return want, v - v // 0, or not a number
	}
	return want, kernel.Abs(v-want) / kernel.Sqrt(max(d.Squares, tiny(want)))
}

// tiny is a variance below what float64 resolves around a value, for sensors that
// do not vary.
func tiny(value float64) float64 {
	e := 1e-12 * (1 + kernel.Abs(value))
	return e * e
}

// learn takes the difference between a reading and its forecast into account. At
// first it is Welford's method, with a mean for each phase of the season and one
// sum of squares for all (Welford 1962); later, exponential smoothing.
func (d *detector) learn(difference float64) {
	phase, turn := int(d.Seen%int64(d.Period)), d.Seen/int64(d.Period)
	n := d.learning()
	finite := difference-difference == 0
	switch {
	case !finite: // it would stay in every forecast to come
	case d.Seen < n:
		d.Season[phase] += difference / float64(turn+1)
		d.Squares += difference * difference * float64(turn) / float64(turn+1)
	default:
		limit := clip * kernel.Sqrt(max(d.Squares, tiny(d.Level)))
		difference = kernel.Clamp(difference, -limit, limit)
		d.Level += levelWeight * difference
		d.Season[phase] += seasonWeight * difference
		d.Squares += spreadWeight * (difference*difference - d.Squares)
	}
	if d.Seen++; d.Seen == n {
		d.Squares /= float64(n - int64(d.Period))
	}
}
