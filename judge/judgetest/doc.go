// Package judgetest has a fake of the service that live judges ask.
//
// [NewServer] starts a service on the loopback that speaks OpenRouter's API, with its faults and
// its limits and a log of who paid for what: point a judge's base URL at [Server.URL].
package judgetest
