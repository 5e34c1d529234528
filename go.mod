module github.com/vastgo/vast

go 1.26

require (
	github.com/HdrHistogram/hdrhistogram-go v1.2.0
	golang.org/x/sys v0.46.0
)
