module github.com/vastgo/vast/cluster

go 1.26

require github.com/vastgo/vast v0.1.0
