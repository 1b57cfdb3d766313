package lint

// verdict is what is known of a handler.
type verdict int

const (
	nothing verdict = iota // there is none: nil, or one that changes nothing
	bare                   // it runs without a guard
	unknown                // it comes from where the analysis does not follow
	guarded
)

// either is the verdict on a value that is a on one path and b on another: one bare path is enough to charge twice.
func either(a, b verdict) verdict {
	switch {
	case a == bare || b == bare:
		return bare
	case a == unknown || b == unknown:
		return unknown
	}
	return max(a, b)
}

// both is the verdict on a value that is made of a and b: a guard on the way is enough.
func both(a, b verdict) verdict { return max(a, b) }

// same is the verdict on a value that is a or b, nobody knows when: they must agree.
func same(a, b verdict) verdict {
	if a == nothing || a == b {
		return b
	}
	if b == nothing {
		return a
	}
	return unknown
}
