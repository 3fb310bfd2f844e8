package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
)

// scene is a made-up stream: sensors with a level, a season, a drift and noise, in
// turn. Now and then a reading, or some in a row, are far from where they belong.
type scene struct {
	random *rand.Rand
	left   int64 // readings, below 0 for no end
	next   int
	list   []madeUp
}

// madeUp is a sensor of a scene.
type madeUp struct {
	name   string
	number int64
	level  float64
	drift  float64 // of the level, a reading
	noise  float64 // standard deviation
	season []float64

	quiet int64   // readings at the beginning without an anomaly
	burst int     // strange readings to come
	shift float64 // of these
}

// What the anomalies of a scene are like.
const (
	eventChance = 1.0 / 1500 // that an anomaly begins at a reading
	burstChance = 0.2        // that it has more than one
	burstLength = 4
	leastShift  = 8 // standard deviations of the noise
	mostShift   = 16
)

func newScene(opt options) *scene {
	s := &scene{random: rand.New(rand.NewPCG(opt.seed, 0)), left: opt.readings}
	if opt.readings == 0 {
		s.left = -1
	}
	for i := range opt.sensors {
		m := madeUp{name: fmt.Sprintf("sensor-%02d", i+1), level: 20 + 10*s.random.Float64(), noise: 0.1 + s.random.Float64()}
		m.drift = m.noise * 1e-4 * (s.random.Float64() - 0.5)
		m.season = make([]float64, opt.period)
		size, phase, second := 8*s.random.Float64(), 2*math.Pi*s.random.Float64(), s.random.Float64()
		if opt.period == 1 {
			size = 0
		}
		for k := range m.season {
			x := 2*math.Pi*float64(k)/float64(opt.period) + phase
			m.season[k] = size * (math.Sin(x) + 0.4*second*math.Sin(2*x))
		}
		d := detector{Period: int32(opt.period)}
		m.quiet = d.learning()
		s.list = append(s.list, m)
	}
	return s
}

func (s *scene) judged() bool { return true }
func (s *scene) close() error { return nil }

func (s *scene) read(ctx context.Context, batch []sample) (int, error) {
	for i := range batch {
		if s.left == 0 {
			return i, io.EOF
		}
		s.left--
		batch[i] = s.list[s.next].sample(s.random)
		s.next = (s.next + 1) % len(s.list)
	}
	return len(batch), ctx.Err()
}

// sample makes the sensor's next reading.
func (m *madeUp) sample(r *rand.Rand) sample {
	if m.burst == 0 && m.number >= m.quiet && r.Float64() < eventChance {
		m.burst = 1
		if r.Float64() < burstChance {
			m.burst = burstLength
		}
		m.shift = m.noise * (leastShift + (mostShift-leastShift)*r.Float64())
		if r.IntN(2) == 0 {
			m.shift = -m.shift
		}
	}
	v := m.level + m.drift*float64(m.number) + m.season[m.number%int64(len(m.season))] + m.noise*r.NormFloat64()
	strange := m.burst > 0
	if strange {
		m.burst--
		v += m.shift
	}
	m.number++
	return sample{m.name, v, strange}
}
