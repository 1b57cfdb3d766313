package idempotency

import (
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf16"
)

// speller writes a tree of the reference as JSON text, each time in another spelling.
type speller struct {
	*rand.Rand
	strings.Builder
}

func respell(tree any, seed uint64) []byte {
	s := &speller{Rand: rand.New(rand.NewPCG(seed, 1))}
	s.value(tree)
	s.space()
	return []byte(s.String())
}

func (s *speller) space() {
	for s.IntN(3) == 0 {
		s.WriteByte(" \t\r\n"[s.IntN(4)])
	}
}

func (s *speller) token(t string) {
	s.space()
	s.WriteString(t)
}

func (s *speller) value(tree any) {
	s.space()
	switch v := tree.(type) {
	case string:
		s.string(v)
	case referenceNumber:
		s.number(v)
	case []any:
		s.token("[")
		for i, e := range v {
			if i > 0 {
				s.token(",")
			}
			s.value(e)
		}
		s.token("]")
	case map[string]any:
		s.object(v)
	default:
		s.WriteString(spelledTree(v))
	}
}

func (s *speller) object(v map[string]any) {
	names := slices.Sorted(maps.Keys(v))
	s.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	s.token("{")
	for i, name := range names {
		if i > 0 {
			s.token(",")
		}
		s.space()
		s.string(name)
		s.token(":")
		s.value(v[name])
	}
	s.token("}")
}

func (s *speller) string(text string) {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '/': `\/`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	s.WriteByte('"')
	for _, r := range text {
		needed := r < ' ' || r == '"' || r == '\\'
		switch escape, ok := short[r]; {
		case ok && (needed || s.IntN(2) == 0) && s.IntN(2) == 0:
			s.WriteString(escape)
		case !needed && s.IntN(4) > 0:
			s.WriteRune(r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&s.Builder, []string{`\u%04x`, `\u%04X`}[s.IntN(2)], unit)
			}
		}
	}
	s.WriteByte('"')
}

// number writes digits with a point somewhere, zeros in harmless places, and an exponent that makes up for it.
func (s *speller) number(n referenceNumber) {
	digits := n.coefficient.String()
	if n.coefficient.Sign() < 0 || n.coefficient.Sign() == 0 && s.IntN(2) == 0 {
		s.WriteByte('-')
		digits = strings.TrimPrefix(digits, "-")
	}
	zeros := s.IntN(3)
	digits += strings.Repeat("0", zeros)
	exponent := new(big.Int).Sub(n.exponent, big.NewInt(int64(zeros)))
	point := s.IntN(len(digits)+3) - 2
	switch {
	case point >= len(digits) || digits[0] == '0' && point > 1:
	case point <= 0:
		exponent.Add(exponent, big.NewInt(int64(len(digits)-point)))
		digits = "0." + strings.Repeat("0", -point) + digits
	default:
		exponent.Add(exponent, big.NewInt(int64(len(digits)-point)))
		digits = digits[:point] + "." + digits[point:]
	}
	if strings.HasPrefix(digits, "00") { // zero, with zeros behind it
		digits = "0." + digits
	}
	s.WriteString(digits)
	if exponent.Sign() != 0 || s.IntN(3) == 0 {
		sign := ""
		if exponent.Sign() >= 0 {
			sign = []string{"", "+", "0", "+00"}[s.IntN(4)]
		}
		fmt.Fprintf(&s.Builder, "%c%s%v", "eE"[s.IntN(2)], sign, exponent)
	}
}

// changedTree returns a tree that means something else in one place.
func changedTree(tree any, r *rand.Rand) any {
	switch v := tree.(type) {
	case []any:
		v = slices.Clone(v)
		if len(v) == 0 || r.IntN(4) == 0 {
			return append(v, nil)
		}
		i := r.IntN(len(v))
		v[i] = changedTree(v[i], r)
		return v
	case map[string]any:
		v = maps.Clone(v)
		names := slices.Sorted(maps.Keys(v))
		if len(names) == 0 {
			return []any{}
		}
		name := names[r.IntN(len(names))]
		if r.IntN(3) == 0 {
			delete(v, name)
		} else {
			v[name] = changedTree(v[name], r)
		}
		return v
	case string:
		return v + "\x00"
	case referenceNumber:
		if v.coefficient.Sign() == 0 || r.IntN(2) == 0 {
			ten := new(big.Int).Mul(v.coefficient, big.NewInt(10))
			return referenceNumber{ten.Add(ten, big.NewInt(1)), new(big.Int).Sub(v.exponent, big.NewInt(1))}
		}
		return referenceNumber{new(big.Int).Neg(v.coefficient), v.exponent}
	case bool:
		return !v
	}
	return ""
}
