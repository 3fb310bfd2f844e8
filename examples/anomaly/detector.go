package main

import "quern.dev/kernel"

//go:generate go tool quern gen

// Limits of the detector.
const (
	maxPeriod = 512 // readings
	turns     = 4   // seasons that a detector learns before it judges readings
	least     = 64  // minimum number of readings to learn from
)

// The weights of a new reading after the learning phase.
const (
	levelWeight  = 0.02
	seasonWeight = 0.05
	spreadWeight = 1.0 / 256
	clip         = 3 // limits the effect of a reading, in standard deviations
)

// reading is a message to a detector.
type reading struct {
	Number int64 // index in the sensor's stream; in the last message, the number of readings
	Sent   int64 // nanoseconds on the program's clock
	Value  float64
	Kind   uint32
}

// Kinds of messages to a detector.
const (
	measured = iota // a reading
	ended           // the stream has ended
)

// finding reports an anomaly. The last finding of a detector summarizes the
// stream.
type finding struct {
	Kind    uint32 // of the message that it replies to
	Sensor  int32
	Number  int64 // of the reading
	Sent    int64 // of the message
	Value   float64
	Want    float64 // the forecast
	Score   float64 // distance between the two in standard deviations
	Seen    int64   // readings so far
	Strange int64   // anomalies so far
}

// detector is the state of a sensor's actor: the sensor's level and season, which
// give a forecast, and the variance of the readings around it.
type detector struct {
	Sensor    int32
	Period    int32 // readings per season
	Threshold float64

	Seen    int64
	Strange int64
	Level   float64
	Squares float64 // while learning, the sum of squared deviations; then their variance
	Season  [maxPeriod]float64
}

// learning returns the number of readings before the detector judges them.
func (d *detector) learning() int64 {
	period := int64(d.Period)
	return period * max(turns, (least+period-1)/period)
}

// watch compares a reading with the forecast and replies if it is anomalous.
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
	strange := !(score <= d.Threshold) // also true if the score is NaN
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

// judge returns the forecast and the distance of v from it in standard
// deviations. The distance is 0 in the learning phase.
func (d *detector) judge(v float64) (want, score float64) {
	want = d.Level + d.Season[int(d.Seen%int64(d.Period))]
	if d.Seen < d.learning() {
		return want, v - v // 0, or NaN
	}
	return want, kernel.Abs(v-want) / kernel.Sqrt(max(d.Squares, tiny(want)))
}

// tiny returns a variance below the float64 resolution around a value, for
// sensors with constant values.
func tiny(value float64) float64 {
	e := 1e-12 * (1 + kernel.Abs(value))
	return e * e
}

// learn updates the detector with the difference between a reading and its forecast.
// It starts with Welford's method, using one mean per phase of the season and a
// single sum of squares (Welford 1962), and continues with exponential smoothing.
func (d *detector) learn(difference float64) {
	phase, turn := int(d.Seen%int64(d.Period)), d.Seen/int64(d.Period)
	n := d.learning()
	finite := difference-difference == 0
	switch {
	case !finite: // it would spoil all later forecasts
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
