//go:build !linux

package vm

func refusals() []Refusal { return nil }
