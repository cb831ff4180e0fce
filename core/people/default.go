package people

import "context"

type withoutDefault struct{}

// WithoutDefault is for requests of a client whose credentials the server is to judge by themselves: one that has none is anonymous, and
// not the server's default user.
func WithoutDefault(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutDefault{}, true)
}

// IsWithoutDefault reports whether ctx is of WithoutDefault.
func IsWithoutDefault(ctx context.Context) bool { return ctx.Value(withoutDefault{}) != nil }
