module github.com/vastgo/vast

go 1.26

require (
	github.com/HdrHistogram/hdrhistogram-go v1.2.0
	github.com/anishathalye/porcupine v1.1.0
	github.com/gdamore/tcell/v2 v2.13.10
	golang.org/x/sys v0.40.0
	golang.org/x/term v0.39.0
)

require (
	github.com/gdamore/encoding v1.0.1 // indirect
	github.com/lucasb-eyer/go-colorful v1.3.0 // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	golang.org/x/text v0.32.0 // indirect
)
