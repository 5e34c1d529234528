#!/bin/sh
# Makes earth.svg beside this file: what the screen of `vast earth` shows after four
# days of its time, at the standard rate. The figures are those of the machine that
# runs it. It takes a little over 90 seconds.
set -eu
cd "$(dirname "$0")/../.."
go run ./cmd/vast earth -plain -ticks 5760 -capture docs/picture/earth.svg
