package terminal

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	textwidth "golang.org/x/text/width"
)

// Continued is the prompt of a line that goes on with another.
const Continued = "> "

// ErrInterrupted is what ReadLine returns at ^C.
var ErrInterrupted = errors.New("interrupted")

// Candidate is one way to complete a word.
type Candidate struct {
	Text string // what stands in the place of the word
	Show string // in a list of several; empty means Text
	Open bool   // more of the word may follow: no space after it
}

// Completer returns the candidates for the word before the cursor, and how many
// bytes of before they replace.
type Completer func(ctx context.Context, before string) (candidates []Candidate, replaces int)

// Editor reads lines that can be edited as in bash's emacs mode. (The libraries
// for it read ahead of the line, so that what is typed for the command that the
// line starts would be lost, and take the process's terminal for theirs.)
// It is for one goroutine.
type Editor struct {
	TTY      *TTY
	History  []string // oldest first
	Complete Completer
	// Reprompt returns the prompt anew, at KeyReprompt in a line that began with
	// one of its prompts; nil leaves prompts as they are.
	Reprompt func() string
	// Offer is a line that an empty one shows dimmed behind the cursor, as fish
	// does. Enter, Tab, the right arrow and End take it; anything else takes it away.
	Offer string

	prompt string
	line   []rune
	at     int // cursor, in line
	row    int // of the cursor on the screen, from the prompt's first
	killed []rune
	entry  int      // in History, len(History) for the line itself
	drafts []string // what the entries have been edited to, by entry
}

// KeyReprompt is no key of any keyboard: it stands for what has happened
// elsewhere and changes the prompt.
const KeyReprompt = "\x1b[7373~"

// keyLiteral takes what is special from the character behind it, as in terminals and in bash: a page pastes a tab with it.
const keyLiteral = 0x16 // ^V

// keys that have no character of their own
const (
	keyUp rune = -iota - 1
	keyDown
	keyLeft
	keyRight
	keyHome
	keyEnd
	keyDelete
	keyWordLeft
	keyWordRight
	keyKillWord
	keyRubWord
	keyLastWord
	keyReprompt
	keyNone
)

// ReadLine shows prompt and returns the line that is entered, without its
// newline. The prompt may hold colours, and newlines before its last line.
// Errors: ErrInterrupted at ^C; io.EOF at ^D in an empty line, when ctx ends
// and when the terminal is closed.
func (e *Editor) ReadLine(ctx context.Context, prompt string) (string, error) {
	if i := strings.LastIndexByte(prompt, '\n'); i >= 0 {
		e.print(prompt[:i+1])
		prompt = prompt[i+1:]
	}
	e.prompt, e.line, e.at, e.row = prompt, nil, 0, 0
	e.entry, e.drafts = len(e.History), make([]string, len(e.History)+1)
	e.print(prompt)
	if e.Offer != "" {
		e.refresh()
	}
	in := e.TTY.Input(ctx)
	listed := false
	for {
		key, err := readKey(in)
		if err != nil {
			return "", err
		}
		if key == 0x12 { // ^R
			if key, err = e.search(in); err != nil {
				return "", err
			}
		}
		if e.Offer != "" && key != keyReprompt && key != keyNone {
			if e.takeOffer(key) {
				continue
			}
		}
		again := listed
		listed = false
		switch key {
		case '\r', '\n':
			if e.at < len(e.line) {
				e.move(len(e.line))
			}
			e.print("\r\n")
			return string(e.line), nil
		case 0x03:
			if e.at < len(e.line) {
				e.move(len(e.line))
			}
			e.print("^C\r\n")
			return "", ErrInterrupted
		case 0x04:
			if len(e.line) == 0 {
				return "", io.EOF
			}
			e.cut(e.at, e.at+1, false)
		case '\t':
			listed = e.complete(ctx, again)
		case keyLiteral:
			r, err := readRune(in)
			if err != nil {
				return "", err
			}
			e.insert([]rune{r})
		default:
			e.edit(key)
		}
	}
}

// ReadScript reads a line and, after the prompt Continued, more of them while it is incomplete: then incomplete returns what says
// whether a line may be the last one, and nil otherwise. It returns the lines, with newlines between them. The errors are those of ReadLine.
func (e *Editor) ReadScript(ctx context.Context, prompt string, incomplete func(script string) (mayEnd func(line string) bool)) (string, error) {
	line, err := e.ReadLine(ctx, prompt)
	script := []byte(line)
	for err == nil {
		mayEnd := incomplete(string(script))
		if mayEnd == nil {
			break
		}
		for ended := false; err == nil && !ended; ended = mayEnd(line) {
			line, err = e.ReadLine(ctx, Continued)
			script = append(append(script, '\n'), line...)
		}
	}
	return string(script), err
}

// takeOffer makes the offer the line, or takes it away, as the key says. It reports
// whether that was all that the key stands for.
func (e *Editor) takeOffer(key rune) (done bool) {
	offer := e.Offer
	e.Offer = ""
	switch key {
	case '\t', keyRight, 0x06, keyEnd, 0x05:
		e.set(offer)
		return true
	case '\r', '\n':
		e.line = []rune(offer)
	default:
		e.refresh()
	}
	return false
}

// edit does what a key stands for that neither ends nor completes the line.
func (e *Editor) edit(key rune) {
	switch key {
	case 0x01, keyHome:
		e.move(0)
	case 0x05, keyEnd:
		e.move(len(e.line))
	case 0x02, keyLeft:
		e.move(e.at - 1)
	case 0x06, keyRight:
		e.move(e.at + 1)
	case keyWordLeft:
		e.move(e.wordLeft(unicode.IsSpace))
	case keyWordRight:
		e.move(e.wordRight())
	case 0x10, keyUp:
		e.recall(e.entry - 1)
	case 0x0e, keyDown:
		e.recall(e.entry + 1)
	case 0x7f, 0x08:
		e.cut(e.at-1, e.at, false)
	case keyDelete:
		e.cut(e.at, e.at+1, false)
	case 0x0b: // ^K
		e.cut(e.at, len(e.line), true)
	case 0x15: // ^U
		e.cut(0, e.at, true)
	case 0x17: // ^W
		e.cut(e.wordLeft(unicode.IsSpace), e.at, true)
	case keyRubWord:
		e.cut(e.wordLeft(notWord), e.at, true)
	case keyKillWord:
		e.cut(e.at, e.wordRight(), true)
	case 0x19: // ^Y
		e.insert(e.killed)
	case 0x14: // ^T
		if e.at > 0 && len(e.line) > 1 {
			i := min(e.at, len(e.line)-1)
			e.line[i-1], e.line[i] = e.line[i], e.line[i-1]
			e.at = i + 1
			e.refresh()
		}
	case 0x0c: // ^L
		e.print("\x1b[H\x1b[2J")
		e.row = 0
		e.refresh()
	case keyReprompt:
		if e.Reprompt != nil && e.prompt != Continued {
			e.prompt = e.Reprompt()
			e.refresh()
		}
	case keyLastWord:
		if n := len(e.History); n > 0 {
			if words := strings.Fields(e.History[n-1]); len(words) > 0 {
				e.insert([]rune(words[len(words)-1]))
			}
		}
	default:
		if key >= 0x20 && key != utf8.RuneError {
			e.insert(append([]rune{key}, e.TTY.text()...)) // a paste is drawn once, not for each character
		}
	}
}

func (e *Editor) insert(text []rune) {
	before := e.draw(e.line)
	e.line = slices.Insert(e.line, e.at, text...)
	e.at += len(text)
	// What stays in the row of the line's end needs nothing else to be redrawn.
	columns := e.columns()
	if after := e.draw(e.line); e.at == len(e.line) && before.end%columns > 0 && before.end/columns == after.end/columns {
		e.print(after.text[len(before.text):])
		return
	}
	e.refresh()
}

func (e *Editor) cut(from, to int, keep bool) {
	from, to = max(from, 0), min(to, len(e.line))
	if from >= to {
		return
	}
	if keep {
		e.killed = slices.Clone(e.line[from:to])
	}
	e.line = slices.Delete(e.line, from, to)
	e.at = from
	e.refresh()
}

func (e *Editor) move(to int) {
	e.at = min(max(to, 0), len(e.line))
	e.refresh()
}

// recall shows an entry of the history as it was last edited.
func (e *Editor) recall(entry int) {
	if entry < 0 || entry > len(e.History) {
		return
	}
	e.drafts[e.entry] = string(e.line)
	e.entry = entry
	text := e.drafts[entry]
	if text == "" && entry < len(e.History) {
		text = e.History[entry]
	}
	e.set(text)
}

func (e *Editor) set(text string) {
	e.line = []rune(text)
	e.at = len(e.line)
	e.refresh()
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

func (e *Editor) wordLeft(between func(rune) bool) int {
	i := e.at
	for i > 0 && between(e.line[i-1]) {
		i--
	}
	for i > 0 && !between(e.line[i-1]) {
		i--
	}
	return i
}

func (e *Editor) wordRight() int {
	i := e.at
	for i < len(e.line) && notWord(e.line[i]) {
		i++
	}
	for i < len(e.line) && !notWord(e.line[i]) {
		i++
	}
	return i
}

// readKey reads one key. The error is io.EOF.
func readKey(in io.Reader) (rune, error) {
	r, err := readRune(in)
	if err != nil || r != 0x1b {
		return r, err
	}
	c, err := readByte(in)
	if err != nil {
		return 0, err
	}
	switch c {
	case '[', 'O':
		var parameters []byte
		for {
			c, err := readByte(in)
			if err != nil {
				return 0, err
			}
			if c >= 0x40 && c <= 0x7e {
				return sequence(string(parameters), c), nil
			}
			if parameters = append(parameters, c); len(parameters) > longestCSI {
				return keyNone, nil
			}
		}
	case 'b':
		return keyWordLeft, nil
	case 'f':
		return keyWordRight, nil
	case 'd':
		return keyKillWord, nil
	case '.', '_':
		return keyLastWord, nil
	case 0x7f, 0x08:
		return keyRubWord, nil
	}
	return keyNone, nil
}

// sequence is the key of ESC [ parameters last.
func sequence(parameters string, last byte) rune {
	switch {
	case last == 'A':
		return keyUp
	case last == 'B':
		return keyDown
	case last == 'C' && strings.HasPrefix(parameters, "1;"):
		return keyWordRight
	case last == 'D' && strings.HasPrefix(parameters, "1;"):
		return keyWordLeft
	case last == 'C':
		return keyRight
	case last == 'D':
		return keyLeft
	case last == 'H', last == '~' && (parameters == "1" || parameters == "7"):
		return keyHome
	case last == 'F', last == '~' && (parameters == "4" || parameters == "8"):
		return keyEnd
	case last == '~' && parameters == "3":
		return keyDelete
	case last == '~' && parameters == "7373":
		return keyReprompt
	}
	return keyNone
}

// readRune reads one character, which may be utf8.RuneError.
func readRune(in io.Reader) (rune, error) {
	c, err := readByte(in)
	if err != nil || c < utf8.RuneSelf {
		return rune(c), err
	}
	b := []byte{c}
	for !utf8.FullRune(b) {
		if c, err = readByte(in); err != nil {
			return 0, err
		}
		b = append(b, c)
	}
	r, _ := utf8.DecodeRune(b)
	return r, nil
}

func readByte(in io.Reader) (byte, error) {
	var b [1]byte
	_, err := in.Read(b[:])
	return b[0], err
}

// width is how many cells a character takes.
func width(r rune) int {
	switch {
	case r < 0x20, r == 0x7f, unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case r < 0x300:
		return 1
	}
	switch textwidth.LookupRune(r).Kind() {
	case textwidth.EastAsianWide, textwidth.EastAsianFullwidth:
		return 2
	}
	return 1
}
