package conformance

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/dynolab/dyno/actor"
)

// The words of scripts.

// scriptLine is a line of a script: its text, and its words.
type scriptLine struct {
	text  string
	words []string
}

// lines returns the lines of a script that say something.
func lines(script string) (all []scriptLine) {
	for begin := 0; begin < len(script); {
		end := begin
		for end < len(script) && script[end] != '\n' {
			end++
		}
		if w := words(script[begin:end]); len(w) > 0 {
			all = append(all, scriptLine{script[begin:end], w})
		}
		begin = end + 1
	}
	return all
}

// words splits a line at spaces. A semicolon is a word of its own, a1:2..4 is a1:2 a1:3
// a1:4, and what follows a # is for people.
func words(line string) (all []string) {
	begin := -1
	for i := 0; i <= len(line); i++ {
		if i == len(line) || line[i] == ' ' || line[i] == '\t' || line[i] == ';' || line[i] == '#' {
			if begin >= 0 {
				all = append(all, expand(line[begin:i])...)
			}
			begin = -1
			if i < len(line) && line[i] == ';' {
				all = append(all, ";")
			}
			if i < len(line) && line[i] == '#' {
				break
			}
		} else if begin < 0 {
			begin = i
		}
	}
	return all
}

// expand returns what a word stands for: a1:2..4 is a1:2 a1:3 a1:4.
func expand(word string) (all []string) {
	for end := 1; end+2 < len(word); end++ {
		if word[end:end+2] != ".." {
			continue
		}
		begin := end
		for begin > 0 && '0' <= word[begin-1] && word[begin-1] <= '9' {
			begin--
		}
		for n := number(word[begin:end]); n <= number(word[end+2:]); n++ {
			all = append(all, text(word[:begin], n))
		}
		return all
	}
	return []string{word}
}

// substitute returns words with a value in the place of a variable, once in each word.
func substitute(words []string, variable, value string) []string {
	all := slices.Clone(words)
	for i, w := range all {
		for at := 0; at+len(variable) <= len(w); at++ {
			if end := at + len(variable); w[at:end] == variable {
				all[i] = w[:at] + value + w[end:]
				break
			}
		}
	}
	return all
}

// bare returns a word without brackets.
func bare(word string) string {
	if word[0] == '[' {
		word = word[1:]
	}
	if word[len(word)-1] == ']' {
		word = word[:len(word)-1]
	}
	return word
}

// statement returns what stands before the first semicolon, and the rest.
func statement(words []string) (first, rest []string) {
	if end := slices.Index(words, ";"); end >= 0 {
		return words[:end], words[end+1:]
	}
	return words, nil
}

// author returns the name that an entry begins with, without the number of the life.
func author(entry string) string {
	end := 0
	for end < len(entry) && entry[end] != '.' && entry[end] != ':' && entry[end] != '-' {
		end++
	}
	for end > 0 && '0' <= entry[end-1] && entry[end-1] <= '9' {
		end--
	}
	return entry[:end]
}

// said is the text of a message in the log.
func said(msg any) string {
	switch msg := msg.(type) {
	case actor.Terminated:
		if msg.Err != nil {
			return msg.Actor.Name() + ".failed"
		}
		return msg.Actor.Name() + ".gone"
	case actor.ReceiveTimeout:
		return "silence"
	case petition:
		return text(msg.n, "?")
	case *order:
		return "order"
	case actor.DeadLetter:
		return "letter"
	case ranked:
		return msg.text()
	case error:
		switch msg {
		case errA:
			return "error-A"
		case errB:
			return "error-B"
		}
	}
	if entry, _, _ := eventText(msg); entry != "" {
		return entry
	}
	return text(msg)
}

// number is a word as a number.
func number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		panic(failure{errors.New(word + " is no number")})
	}
	return n
}

// message is a word as a message: a number if it is one, and with a question mark a
// question of the actor whose turn it is, of the guardian outside.
func (p *performance) message(t *turn, word string) any {
	if n, err := strconv.Atoi(word); err == nil {
		return n
	}
	if before, after, ok := cutNumbers(word); ok { // a priority and a number
		return ranked{before, after}
	}
	switch last := len(word) - 1; {
	case word == "nil":
		return nil
	case word == "error-A":
		return errA
	case word == "error-B":
		return errB
	case len(word) > 4 && word[:4] == "box:":
		return crate{p.message(t, word[4:])}
	case word[last] == '?' && t != nil && t.ctx != nil:
		return petition{number(word[:last]), t.ctx.Self().ReplyTo()}
	case word[last] == '?':
		return petition{number(word[:last]), p.w.UserGuardian().ReplyTo()}
	}
	return word
}

// cutNumbers returns the numbers before and after a point.
func cutNumbers(word string) (before, after int, ok bool) {
	for i := range word {
		if word[i] == '.' {
			before, err := strconv.Atoi(word[:i])
			after, err2 := strconv.Atoi(word[i+1:])
			return before, after, err == nil && err2 == nil
		}
	}
	return 0, 0, false
}

// duration is a word as a time, such as 10s; 10s-1ns is a nanosecond less, and ever is
// what has no end.
func duration(word string) time.Duration {
	if word == "ever" {
		return -1
	}
	for i := 1; i < len(word); i++ {
		if word[i] == '-' || word[i] == '+' {
			d := duration(word[i+1:])
			if word[i] == '-' {
				d = -d
			}
			return duration(word[:i]) + d
		}
	}
	d, err := time.ParseDuration(word)
	if err != nil {
		panic(failure{errors.New(word + " is no time")})
	}
	return d
}

// reasons are the errors that words of scripts stand for.
var reasons = []struct {
	word string
	err  error
}{
	{"stopped", actor.ErrStopped},
	{"stopping", actor.ErrStopping},
	{"full", actor.ErrFull},
	{"dropped", actor.ErrDropped},
	{"failed", actor.ErrFailed},
	{"unknown", actor.ErrUnknown},
	{"zero", actor.ErrZeroRef},
	{"late", actor.ErrLate},
	{"taken", actor.ErrTaken},
	{"timeout", actor.ErrTimeout},
	{"over", actor.ErrOver},
	{"name-taken", actor.ErrNameTaken},
	{"bad-name", actor.ErrBadName},
	{"unsubscribed", actor.ErrUnsubscribed},
	{"canceled", context.Canceled},
	{"error", errA},
}

func reasonNamed(e *Env, word string) error {
	for _, r := range reasons {
		if r.word == word {
			return r.err
		}
	}
	e.fail("there is no reason ", word)
	return nil
}

// reasonWord returns the word for an error, or its text if there is none.
func reasonWord(err error) string {
	for _, r := range reasons {
		if r.err == err {
			return r.word
		}
	}
	return text(err)
}
