module github.com/vastgo/vast/cmd/vastvet

go 1.26

require (
	github.com/vastgo/vast v0.1.0
	golang.org/x/tools v0.47.0
)

require (
	github.com/HdrHistogram/hdrhistogram-go v1.2.0 // indirect
	golang.org/x/mod v0.37.0 // indirect
	golang.org/x/sync v0.21.0 // indirect
	golang.org/x/sys v0.46.0 // indirect
)
