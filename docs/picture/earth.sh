#!/bin/sh
# Makes earth.svg beside this file: what the screen of `vast earth` shows after four
# simulated days, at the standard rate. The figures are those of the machine that runs
# this script. The script takes a little over 90 seconds.
set -eu
cd "$(dirname "$0")/../.."
go run ./cmd/vast earth -plain -ticks 5760 -capture docs/picture/earth.svg
