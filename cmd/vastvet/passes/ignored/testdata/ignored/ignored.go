// Package ignored has comments that silence analyzers, and other comments.
package ignored

import "github.com/vastgo/vast"

var a vast.Entity //vastvet:ignore // want `"" is not an analyzer of vastvet: name one of declared, escape, .*, as in //vastvet:ignore escape: the reason`

//vastvet:ignore ecsape: a slip of the pen // want `"ecsape" is not an analyzer of vastvet`
var b = a

//vastvet:ignore escape // want `this comment has no reason, and so silences nothing: write //vastvet:ignore escape: the reason`
var c = b

//vastvet:ignore escape: // want `has no reason`
var d = c

//vastvet:ignore escape: the reason
var e = d

//vastvet:ignored is another word
var f = e

// vastvet:ignore is a sentence
var _ = f
