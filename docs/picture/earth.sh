#!/bin/sh
# Writes earth.svg, a picture of the screen of `vast earth` after four simulated days at
# the standard rate. The figures on the screen depend on the machine. The script takes a
# little over 90 seconds.
set -eu
cd "$(dirname "$0")/../.."
go run ./cmd/vast earth -plain -ticks 5760 -capture docs/picture/earth.svg
