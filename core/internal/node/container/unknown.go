package container

// A program of which nothing is known is a server. Where it listens, its container declares or its environment says. If neither
// does, it is known when somebody comes who takes for granted that it listens at a port.

// unknown is such a server.
func (c *Container) unknown(env []string, ports []int) *Server {
	if port := portIn(env, "PORT", 0); len(ports) == 0 && port > 0 {
		ports = []int{port}
	}
	s := &Server{Ports: map[int]Listener{}}
	answer := func(port int) { s.Ports[port] = Listener{HTTP: c.whoami(), Any: true} }
	for _, port := range ports {
		answer(port)
	}
	if len(ports) == 0 {
		s.undeclared = answer
	}
	return s
}

// Open has a server of which it is not known where it listens do so at a port. It reports whether there is one.
func (c *Container) Open(port int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.servers {
		if s.undeclared != nil {
			s.undeclared(port)
			return true
		}
	}
	return false
}
