package configs

import "reflect"

// notAvailable are the settings whose feature this version does not have.
// Their defaults are accepted, since they ask for nothing.
var notAvailable = []string{
	"presence.strict", "presence.semantic.enabled", "presence.semantic.threshold",
}

// refuseUnavailable reports every setting that asks for a missing feature.
// A run that is switched off asks for none.
func (l *loader) refuseUnavailable(c *Config) {
	if !c.Enabled {
		return
	}
	for _, name := range notAvailable {
		s := byName[name]
		if v := c.values[s]; !reflect.DeepEqual(v.value, s.def) {
			l.report(v.at, name, flowText(v.value)+" is not available yet", "leave it at "+flowText(s.def))
		}
	}
	if replay := c.values[byName["judge.replay"]]; c.Judge.Kind == "replay" && c.Judge.Replay == "" {
		l.report(replay.at, "judge.replay", "judge replay has no file of replies", "set judge.replay to a JSON Lines file")
	}
}
