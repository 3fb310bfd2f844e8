package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // a format of tiles
	_ "image/png"  // a format of tiles
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// request gets a tile from the server, in several attempts.
func (r *reader) request(ctx context.Context, id tileID) ([]byte, error) {
	l := &r.g.levels[id.level]
	across := l.across(r.g.tile)
	url := l.url(id.index%across, id.index/across)
	body, status, err := fetch(ctx, r.ctx, &r.opt, r.slots, url)
	if err != nil {
		return nil, err
	}
	if r.g.absent && (status == http.StatusNotFound || status == http.StatusNoContent || status == http.StatusGone) {
		return make([]byte, r.g.tileBytes()), nil
	}
	if e := exception(url, status, body); e != nil {
		if r.g.absent && e.Code == "TileOutOfRange" {
			return make([]byte, r.g.tileBytes()), nil
		}
		return nil, e
	}
	if status != http.StatusOK {
		return nil, &ServiceError{URL: url, Status: status, Text: firstLine(body)}
	}
	return r.g.decode(url, body)
}

func firstLine(body []byte) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(body[:min(len(body), 200)])), "\n")
	return line
}

// fetch makes a request until it succeeds. Statuses that are not worth another attempt are returned. slots limits how many
// requests there are at a time; it may be nil.
func fetch(ctx, life context.Context, o *Options, slots chan struct{}, url string) (body []byte, status int, err error) {
	// The end of life ends the request too.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(life, func() { cancel(context.Cause(life)) })()
	if life.Err() != nil {
		return nil, 0, context.Cause(life)
	}
	if slots != nil {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		}
	}
	pause := o.Pause
	for attempt := 1; ; attempt++ {
		var wait time.Duration
		body, status, wait, err = once(ctx, o, url)
		if err == nil && !passing(status) || attempt >= o.Attempts || errors.Is(err, ErrAnswer) {
			return body, status, err
		}
		select {
		case <-time.After(max(pause, min(wait, time.Minute))):
		case <-ctx.Done():
			return nil, 0, context.Cause(ctx)
		}
		pause *= 2
	}
}

// passing reports whether a failure may pass.
func passing(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func once(ctx context.Context, o *Options, url string) (body []byte, status int, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, 0, 0, err
	}
	for name, values := range o.Header {
		q.Header[name] = values
	}
	a, err := o.Client.Do(q)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("client: %w", err)
	}
	defer a.Body.Close()
	body, err = io.ReadAll(io.LimitReader(a.Body, o.AnswerBytes+1))
	if err != nil {
		return nil, 0, 0, fmt.Errorf("client: %s: %w", url, err)
	}
	if int64(len(body)) > o.AnswerBytes {
		return nil, 0, 0, failf(ErrAnswer, "%s: the answer has more than %d bytes", url, o.AnswerBytes)
	}
	if seconds, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil && seconds > 0 {
		wait = time.Duration(seconds) * time.Second
	}
	return body, a.StatusCode, wait, nil
}

// decode returns the pixels of an image: red, green, blue and straight alpha.
func (g *grid) decode(url string, body []byte) ([]byte, error) {
	config, _, err := image.DecodeConfig(bytes.NewReader(body))
	if err != nil {
		return nil, failf(ErrAnswer, "%s: the answer is not an image of PNG or JPEG: %q", url, firstLine(body))
	}
	if config.Width != g.tile || config.Height != g.tile {
		return nil, failf(ErrAnswer, "%s: the answer is an image of %d x %d pixels instead of %d x %d", url, config.Width, config.Height, g.tile, g.tile)
	}
	im, _, err := image.Decode(bytes.NewReader(body))
	if err != nil {
		return nil, failf(ErrAnswer, "%s: %v", url, err)
	}
	out := make([]byte, 0, g.tileBytes())
	if n, ok := im.(*image.NRGBA); ok && n.Stride == 4*g.tile {
		return append(out, n.Pix...), nil
	}
	b := im.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := color.NRGBAModel.Convert(im.At(x, y)).(color.NRGBA)
			out = append(out, c.R, c.G, c.B, c.A)
		}
	}
	return out, nil
}
