package container

// blockBytes is how large the pieces are in which a file is kept: one that grows
// is not copied, and the memory of no more than one piece is ahead of it.
const blockBytes = 64 << 10

// content is what a regular file holds.
type content struct {
	blocks [][]byte // all but the last have blockBytes
	size   int
}

// readAt copies what begins at a place and returns how many bytes there were.
func (c *content) readAt(b []byte, at int) int {
	n := 0
	for n < len(b) && at+n < c.size {
		block := c.blocks[(at+n)/blockBytes]
		n += copy(b[n:], block[(at+n)%blockBytes:])
	}
	return n
}

// writeAt puts b at a place that is not beyond the end.
func (c *content) writeAt(b []byte, at int) {
	for len(b) > 0 {
		i, from := at/blockBytes, at%blockBytes
		if i == len(c.blocks) {
			c.blocks = append(c.blocks, nil)
		}
		n := min(len(b), blockBytes-from)
		if more := from + n - len(c.blocks[i]); more > 0 {
			c.blocks[i] = append(c.blocks[i], make([]byte, more)...)
			c.size += more
		}
		copy(c.blocks[i][from:], b[:n])
		b, at = b[n:], at+n
	}
}

// bytes returns a copy of all of it.
func (c *content) bytes() []byte {
	all := make([]byte, c.size)
	c.readAt(all, 0)
	return all
}

// truncate cuts off what is behind size, which is no more than it holds.
func (c *content) truncate(size int) {
	blocks := (size + blockBytes - 1) / blockBytes
	clear(c.blocks[blocks:])
	c.blocks, c.size = c.blocks[:blocks], size
	if blocks > 0 {
		last := size - (blocks-1)*blockBytes
		c.blocks[blocks-1] = c.blocks[blocks-1][:last:last]
	}
}
