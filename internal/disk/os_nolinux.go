//go:build !linux

package disk

import "os"

// syncFile makes the bytes of a file and its size durable.
func syncFile(file *os.File) error { return file.Sync() }
