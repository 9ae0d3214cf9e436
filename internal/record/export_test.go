package record

import "strings"

// For tests in package record_test, which may import recordtest.

const CaseMark = caseMark

var CheckTime = checkTime

func (p *Plan) Lines() []string { return p.encode() }

// DecodeInFile reads a plan from lines that stand in a file.
func DecodeInFile(lines []string) (*Plan, error) {
	r := new(Interrupted)
	r.Config = make(map[string]string)
	r.config = make(map[string]string)
	if err := r.parse(strings.Join(lines, "\n")); err != nil && !strings.HasPrefix(err.Error(), "its plan is  by name") {
		return nil, err
	}
	return r.Plan, nil
}
