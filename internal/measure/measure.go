// Package measure compares several ways to do the same work in one process.
//
// The ways are the sides of a comparison. They take turns: each round takes one sample of every side, so that
// a slow moment of the machine affects all sides. The figure to compare is the best sample, because other
// programs can only make a sample worse. The median shows how noisy the machine was.
package measure

import "slices"

// Turns takes one sample of each side in every round, and returns the samples of each side. Before each
// round, Turns calls the function enough, and stops if enough returns true. If enough is nil, Turns makes all
// rounds.
func Turns[T any](rounds, sides int, enough func(round int) bool, sample func(side int) T) [][]T {
	samples := make([][]T, sides)
	for round := range rounds {
		if enough != nil && enough(round) {
			break
		}
		for side := range samples {
			samples[side] = append(samples[side], sample(side))
		}
	}
	return samples
}

// Samples are measured figures of one side, such as times. Less is better.
type Samples []float64

// Best returns the least sample. There must be at least one sample.
func (s Samples) Best() float64 { return slices.Min(s) }

// Median returns the middle sample in order of size, or the mean of the two middle samples. There must be at
// least one sample.
func (s Samples) Median() float64 {
	sorted := slices.Sorted(slices.Values(s))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// Ratio returns the best sample of theirs divided by the best sample of ours. A ratio above 1 means that ours
// is better.
func Ratio(ours, theirs Samples) float64 { return theirs.Best() / ours.Best() }
