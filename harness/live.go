package harness

// scoringStage names what the workers do.
func (p *Plan) scoringStage() string {
	if p.live != nil {
		return "judging"
	}
	return "scoring"
}
