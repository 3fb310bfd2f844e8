package ring

import (
	"context"
	"fmt"
)

// Values that nobody has made (nil, or zero values of the package's types) give errors,
// or zeros where there are none.

// made returns the actor's core, or an error if there is none.
func (a *Actor[In, Out]) made(op string) (*core, error) {
	if a == nil || a.core == nil {
		return nil, notMade(op, "actor")
	}
	return a.core, nil
}

// usable is made, for an operation with a context.
func (a *Actor[In, Out]) usable(ctx context.Context, op string) (*core, error) {
	c, err := a.made(op)
	if err != nil {
		return nil, err
	}
	return c, c.usable(ctx, op)
}

// usable reports, as an error, why an operation with a context does not begin.
func (c *core) usable(ctx context.Context, op string) error {
	if ctx == nil {
		return c.about(op, errNilContext)
	}
	if err := ctx.Err(); err != nil {
		return c.about(op, err)
	}
	return nil
}

// made reports whether the runtime is not the zero value.
func (rt *Runtime) made() bool { return rt != nil && (rt.dev != nil || rt.actors != nil) }

// usable reports, as an error, why an operation does not begin.
func (rt *Runtime) usable(op string) error {
	if !rt.made() {
		return notMade(op, "runtime")
	}
	return nil
}

// usable reports, as an error, why an operation does not begin.
func (g *Group[M]) usable(op string) error {
	if g == nil || g.rt == nil {
		return notMade(op, "group")
	}
	return nil
}

func notMade(op, what string) error {
	return fmt.Errorf("ring: %s: %w: the %s is nil, or no function of the package has made it", op, ErrInvalid, what)
}
