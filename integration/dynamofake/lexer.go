package dynamofake

import "strings"

// tokenKind tells the tokens of an expression apart.
type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenIdent            // attribute name, keyword or function name
	tokenName             // #placeholder
	tokenValue            // :placeholder
	tokenNumber           // list index
	tokenSymbol           // operator or punctuation
)

// token is one token and where it is.
type token struct {
	kind       tokenKind
	text       string
	start, end int // where it is in the expression
}

// lex splits an expression into tokens, of which the last one is tokenEnd; the
// message says what is wrong.
func lex(text string) (tokens []token, message string) {
	tokens = make([]token, 0, len(text)/4+2)
	for i := 0; i < len(text); {
		if isSpace(text[i]) {
			i++
			continue
		}
		t, ok := lexOne(text, i)
		tokens = append(tokens, t)
		if !ok {
			return nil, syntaxMessage(text, tokens, len(tokens)-1)
		}
		i = t.end
	}
	return append(tokens, endToken(text)), ""
}

// endToken stands behind the last one, in the service's spelling.
func endToken(text string) token {
	return token{kind: tokenEnd, text: "<EOF>", start: len(text), end: len(text)}
}

// lexOne reads the token at i; not ok if none can begin there.
func lexOne(text string, i int) (token, bool) {
	t := token{start: i, end: i + 1, kind: tokenSymbol}
	ok := true
	switch c := text[i]; {
	case c == '#' || c == ':':
		t.kind = tokenName
		if c == ':' {
			t.kind = tokenValue
		}
		t.end = run(text, i+1, isWordByte)
		ok = t.end > i+1
	case isDigit(c):
		t.kind, t.end = tokenNumber, run(text, i, isDigit)
	case isWordByte(c):
		t.kind, t.end = tokenIdent, run(text, i, isWordByte)
	case c == '<' || c == '>':
		if i+1 < len(text) && (text[i+1] == '=' || c == '<' && text[i+1] == '>') {
			t.end++
		}
	default:
		ok = isPunctuation(c)
	}
	t.text = text[t.start:t.end]
	return t, ok
}

// run is the end of the bytes from i on that satisfy is.
func run(text string, i int, is func(byte) bool) int {
	for i < len(text) && is(text[i]) {
		i++
	}
	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || isDigit(c)
}

func isPunctuation(c byte) bool {
	switch c {
	case '(', ')', '[', ']', ',', '.', '=', '+', '-':
		return true
	}
	return false
}

// syntaxMessage names the token at position i and its neighbours, as the service
// does.
func syntaxMessage(text string, tokens []token, i int) string {
	from, to := max(i-1, 0), min(i+1, len(tokens)-1)
	near := strings.TrimRight(text[tokens[from].start:tokens[to].end], " \t\r\n")
	return `Syntax error; token: "` + tokens[i].text + `", near: "` + near + `"`
}
