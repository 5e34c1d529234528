package atlas

import "math"

// The colours suit a dark background. Density goes from blue to white, and infection from crimson to orange.
// The two ramps differ in brightness and in hue, also for readers who do not distinguish red from green.
var (
	seaColour   = RGB{6, 10, 18}
	landColour  = RGB{18, 27, 41}
	coastColour = RGB{62, 80, 102}

	densityRamp = []RGB{{24, 52, 100}, {24, 84, 150}, {28, 130, 190}, {70, 190, 220}, {160, 232, 236},
		{250, 255, 250}}
	infectionRamp = []RGB{{120, 20, 60}, {200, 25, 70}, {255, 45, 60}, {255, 85, 45}, {255, 140, 50}}
)

// The palette has few steps, so that many neighbouring cells of a frame have the same colour. This saves
// bytes in terminals and SVG files.
const (
	densitySteps   = 24
	infectionSteps = 12
)

var palette = func() (p [densitySteps][infectionSteps]RGB) {
	for d := range densitySteps {
		at := float64(d) / (densitySteps - 1)
		healthy, ill := ramp(densityRamp, at), ramp(infectionRamp, at)
		for i := range infectionSteps {
			p[d][i] = mix(healthy, ill, float64(i)/(infectionSteps-1))
		}
	}
	return p
}()

// groundColour has the backgrounds of cells. The index is the number of the cell's dots that are on land.
var groundColour = func() (g [dotsAcross*dotsDown + 1]RGB) {
	for i := range g {
		g[i] = mix(seaColour, landColour, float64(i)/float64(len(g)-1))
	}
	return g
}()

// glow mixes up to a sixth of a crowd's colour into the background, in proportion to the crowd's level (0 to
// 255).
func glow(ground, colour RGB, level int) RGB {
	part := func(a, b uint8) uint8 { return uint8(int(a) + (int(b)-int(a))*level/(6*255)) }
	return RGB{part(ground.R, colour.R), part(ground.G, colour.G), part(ground.B, colour.B)}
}

// ramp returns the colour at a position, from 0 to 1, along a series of colours.
func ramp(colours []RGB, position float64) RGB {
	position *= float64(len(colours) - 1)
	i := min(int(position), len(colours)-2)
	return mix(colours[i], colours[i+1], position-float64(i))
}

// mix returns the colour at a position between a and b: 0 gives a, and 1 gives b.
func mix(a, b RGB, position float64) RGB {
	part := func(a, b uint8) uint8 {
		return uint8(math.Round(float64(a) + (float64(b)-float64(a))*position))
	}
	return RGB{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B)}
}
