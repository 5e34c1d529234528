// Package tty is what the commands of vast that draw on a terminal share.
package tty

import (
	"io"
	"os"
	"strings"
	"syscall"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/term"
)

// Open takes the terminal over.
func Open() (tcell.Screen, error) {
	// A locale of a character set that is not known is taken for plain ASCII.
	tcell.SetEncodingFallback(tcell.EncodingFallbackASCII)
	screen, err := tcell.NewScreen()
	if err != nil {
		return nil, err
	}
	if err := screen.Init(); err != nil {
		return nil, err
	}
	return screen, nil
}

// IsUnicode reports whether a screen can show every character. Others need fallbacks.
func IsUnicode(screen tcell.Screen) bool {
	switch strings.ToLower(screen.CharacterSet()) {
	case "utf-8", "utf8":
		return true
	}
	return false
}

// Is reports whether what is written to w is seen on a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Draws reports whether w is a terminal that can be drawn on.
func Draws(w io.Writer) bool { return Is(w) && os.Getenv("TERM") != "dumb" }

// Status is the exit status of a program that a signal ends, as shells have it: 128 and the signal's number.
func Status(s os.Signal) int {
	if number, ok := s.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return 1
}
