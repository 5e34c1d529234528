// Package sqlnote sends notes about an SQL statement from the driver to the code that runs the statement. A
// note is a text, such as "the rows are those of tick 7, from a checkpoint". database/sql cannot return
// notes. With this package, the driver and the code need not import each other.
package sqlnote

import "context"

// key is the key of the receiver in a context.
type key struct{}

// With returns a context for statements whose notes go to receive. The driver calls receive on any goroutine
// until the statement's rows are closed.
func With(ctx context.Context, receive func(text string)) context.Context {
	return context.WithValue(ctx, key{}, receive)
}

// Send sends a note to the receiver in ctx. Without a receiver, Send does nothing.
func Send(ctx context.Context, text string) {
	if receive, ok := ctx.Value(key{}).(func(string)); ok && receive != nil {
		receive(text)
	}
}
