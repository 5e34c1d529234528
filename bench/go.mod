module github.com/vastgo/vast/bench

go 1.26

require (
	github.com/mlange-42/ark v0.8.2
	github.com/vastgo/vast v0.0.0
)

require golang.org/x/sys v0.40.0 // indirect

replace github.com/vastgo/vast => ../
