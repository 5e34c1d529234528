package protocol

import "fmt"

// Version is a version of the program. It runs the ticks of all regions from its first one up to the first
// tick of the next version. A version begins a region at a checkpoint of the tick before its first one, so it
// runs no tick of an earlier version again.
type Version struct {
	From uint64 // its first tick
	Code Hash   // of what distinguishes the version from others
}

// codeOf returns the code of the version that runs a tick, or zero if it is not known.
func (o *Options) codeOf(tick uint64) (code Hash) {
	for _, v := range o.Versions() {
		if v.From > tick {
			break
		}
		code = v.Code
	}
	return code
}

// runs returns an error if this version runs no tick after the newest checkpoint: ErrVersion if an earlier
// version still runs the region, and ErrEnd if this version has run all of its ticks.
func (r *owner) runs(p *pointer) error {
	if p.Tick+1 < r.o.From {
		return fmt.Errorf("the newest checkpoint is of tick %d, and this version begins after tick %d: %w",
			p.Tick, r.o.From-1, ErrVersion)
	}
	for _, v := range r.o.Versions() {
		if v.From > r.o.From && p.Tick+1 >= v.From {
			return ErrEnd
		}
	}
	return nil
}
