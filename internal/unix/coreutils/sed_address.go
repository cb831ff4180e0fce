package coreutils

// matches reports whether a command runs on the line.
func (r *sedRun) matches(c *sedCommand) bool {
	if c.from == nil {
		return true
	}
	return r.inside(c) != c.not
}

func (r *sedRun) inside(c *sedCommand) bool {
	row := r.in.row
	if c.to == nil {
		return r.at(c.from)
	}
	if c.open {
		switch c.to.kind {
		case '/', '$':
			c.open = !r.at(c.to)
			return true
		}
		c.open = row < c.end
		return row <= c.end
	}
	if !r.at(c.from) {
		return false
	}
	switch c.to.kind {
	case '+':
		c.end = row + c.to.number
	case 'm':
		c.end = row
		if n := c.to.number; n > 0 {
			c.end = (row + n - 1) / n * n
		}
	case 'n':
		c.end = c.to.number
	case '$':
		c.open = !r.at(c.to)
		return true
	case '/':
		c.open = true
		return true
	}
	c.open = row < c.end
	return true
}

// at reports whether an address is that of the line.
func (r *sedRun) at(a *sedAddress) bool {
	switch row := r.in.row; a.kind {
	case 'n':
		return row == a.number
	case '~':
		return row >= a.number && (row-a.number)%a.step == 0
	case '$':
		isLast, err := r.in.isLast()
		return isLast && err == nil
	}
	re := r.pick(a.re)
	return re != nil && re.Match(r.pattern.String())
}

// forget begins another file that stands for itself.
func (r *sedRun) forget() {
	r.hold.set("")
	for _, c := range r.commands {
		c.open = c.from != nil && c.from.kind == 'n' && c.from.number == 0
	}
}

// pick returns an expression, or the last one that was used for one that is empty.
func (r *sedRun) pick(re *Pattern) *Pattern {
	if re != nil {
		r.last = re
	}
	return r.last
}
