// Package tty shows text and screens on a terminal. The commands of vast share this code.
package tty

import (
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"golang.org/x/term"
)

// Open takes over the terminal and returns its screen. If the character set of the terminal is not UTF-8,
// fallbacks replaces the characters that the terminal cannot show.
func Open(fallbacks map[rune]string) (tcell.Screen, error) {
	// With this setting, tcell treats an unknown character set as ASCII. Without it, Init would fail.
	tcell.SetEncodingFallback(tcell.EncodingFallbackASCII)
	screen, err := tcell.NewScreen()
	if err != nil {
		return nil, err
	}
	if err := screen.Init(); err != nil {
		return nil, err
	}
	Replace(screen, fallbacks)
	return screen, nil
}

// Replace registers fallbacks if the character set of the screen is not UTF-8.
func Replace(screen tcell.Screen, fallbacks map[rune]string) {
	switch strings.ToLower(screen.CharacterSet()) {
	case "utf-8", "utf8":
		return
	}
	for character, text := range fallbacks {
		screen.RegisterRuneFallback(character, text)
	}
}

// Events sends the events of a screen to a channel until stop is called.
func Events(screen tcell.Screen) (events <-chan tcell.Event, stop func()) {
	channel, quit := make(chan tcell.Event), make(chan struct{})
	go screen.ChannelEvents(channel, quit)
	return channel, func() { close(quit) }
}

// Handle handles an event. After a change of the size, it calls resized. For q, Esc, Ctrl-C and the loss of
// the terminal, it returns the exit status and true: the command must end. It passes other characters to
// typed.
func Handle(e tcell.Event, screen tcell.Screen, resized func(), typed func(rune)) (status int, ended bool) {
	switch e := e.(type) {
	case nil, *tcell.EventError: // the terminal is gone
		return cli.Failure, true
	case *tcell.EventResize:
		screen.Sync()
		resized()
	case *tcell.EventKey:
		switch e.Key() {
		case tcell.KeyCtrlC:
			return cli.Interrupted, true
		case tcell.KeyEscape:
			return cli.Success, true
		case tcell.KeyRune:
			if r := e.Rune(); r == 'q' || r == 'Q' {
				return cli.Success, true
			}
			typed(e.Rune())
		}
	}
	return 0, false
}

// Columns returns the width of the terminal that w writes to, or 80 if the width is unknown. terminal reports
// whether w writes to a terminal; if not, columns is 0.
func Columns(w io.Writer) (columns int, terminal bool) {
	if !Is(w) {
		return 0, false
	}
	columns, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil || columns <= 0 {
		columns = 80
	}
	return columns, true
}

// NoColor reports whether the environment variable NO_COLOR is not empty, see no-color.org.
func NoColor() bool { return os.Getenv("NO_COLOR") != "" }

// Is reports whether w writes to a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Draws reports whether w is a terminal that can show a screen. A dumb terminal cannot.
func Draws(w io.Writer) bool { return Is(w) && os.Getenv("TERM") != "dumb" }

// Grouped formats a number with a comma between groups of three digits. It formats a negative number as 0.
func Grouped[T int | uint64](n T) string {
	digits := strconv.FormatUint(uint64(max(n, 0)), 10)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
