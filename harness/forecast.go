package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"time"

	"ibid"
	"ibid/judge"
	"ibid/judge/cache"
	"ibid/judge/openrouter"
)

// A Forecast says what a run would ask of a judge that asks models, and what that
// would take.
type Forecast struct {
	openrouter.Estimate
	Models []string
	Cache  string // file of the answers; "" if it is not there yet

	// Latency is how long a call is taken to last: as long as those that the cache
	// remembers of the models, else as assumed.
	Latency        time.Duration
	LatencyAssumed bool
	Concurrency    int64
	RPM            int64         // 0 = no limit
	Time           time.Duration // that the calls take at these limits
	MaxCostUSD     float64       // 0 = no limit
	Warnings       []string
}

// assumedLatency is that of a call to a model of which nothing is known.
const assumedLatency = 5 * time.Second

// priceWait is how long a forecast waits for an endpoint to tell prices.
const priceWait = 10 * time.Second

// forecast says what the run would ask of the judge, which read counts: nothing of one that
// asks no models. It asks no model and leaves nothing behind; it does ask the endpoint for its
// list of models, which is free, and goes on without it if it does not come.
func (p *Plan) forecast(ctx context.Context, read func(sum *openrouter.Planner) error) (*Forecast, error) {
	s := &p.job.Config.Settings
	out := &Forecast{
		Models: s.Judge.Models(), Concurrency: s.Judge.Concurrency, RPM: s.Judge.RPM, MaxCostUSD: s.Judge.MaxCostUSD,
	}
	if p.live == nil || p.job.Judge != nil {
		return out, read(nil)
	}
	config, err := p.job.liveConfig()
	if err != nil {
		return nil, err
	}
	path, err := p.answersPath()
	if err != nil {
		return nil, err
	}
	var store *cache.SQLite // nil if there are no answers yet
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		if store, err = cache.Open(path); err != nil {
			return nil, err
		}
		defer store.Close()
		config.Store, out.Cache = store, store.Path()
	}
	judge, err := openrouter.New(config)
	if err != nil {
		return nil, &ibid.Error{Usage: true, Err: err}
	}
	defer judge.Close()
	known := out.askEndpoint(ctx, judge, s.Judge.Kind)
	sum := judge.NewPlanner()
	if err := read(sum); err != nil {
		return nil, err
	}
	out.Estimate = sum.Estimate()
	out.Warnings = append(out.Warnings, modelWarnings(s, known, out.LongestPrompt)...)
	out.checkCost()
	return out, out.estimateTime(ctx, store)
}

// askEndpoint gets prices and what else the endpoint says of its models; nil if
// it says nothing.
func (f *Forecast) askEndpoint(ctx context.Context, judge *openrouter.Judge, kind string) map[string]openrouter.ModelInfo {
	ctx, cancel := context.WithTimeout(ctx, priceWait)
	defer cancel()
	if err := judge.LoadPrices(ctx); err != nil {
		f.warn("the endpoint does not tell its prices: %v", err)
		return nil
	}
	if kind != openrouter.KindOpenRouter {
		return nil
	}
	known, _ := judge.Models(ctx) // the prices are among what it says of them
	return known
}

func (f *Forecast) warn(format string, args ...any) {
	f.Warnings = append(f.Warnings, fmt.Sprintf(format, args...))
}

// forecast adds what a row asks of the judge to sum.
func (s *scorer) forecast(ctx context.Context, r *ibid.Answer, sum *openrouter.Planner) error {
	if s.judging.split {
		if sentences, err := s.sentences(r); err != nil || sentences == nil {
			return err
		} else if err := sum.AddSplit(ctx, sentences); err != nil {
			return err
		}
	}
	request, err := s.request(r)
	if err != nil || request == nil {
		return err
	}
	return sum.Add(ctx, request)
}

// estimateTime says how long the calls take: as long as the slower of the two
// limits lets them.
func (f *Forecast) estimateTime(ctx context.Context, store *cache.SQLite) error {
	f.Latency, f.LatencyAssumed = assumedLatency, true
	if store != nil {
		var sum time.Duration
		var calls int64
		for _, model := range f.Models {
			mean, n, err := store.Latency(ctx, model)
			if err != nil {
				return err
			}
			sum += mean * time.Duration(n)
			calls += n
		}
		if calls > 0 {
			f.Latency, f.LatencyAssumed = sum/time.Duration(calls), false
		}
	}
	rounds := math.Ceil(float64(f.Calls) / float64(f.Concurrency))
	f.Time = time.Duration(rounds * float64(f.Latency))
	if f.RPM > 0 {
		f.Time = max(f.Time, time.Duration(float64(f.Calls)/float64(f.RPM)*float64(time.Minute)))
	}
	return nil
}

// foretellAfter are the calls with an answer after which a run says what it will take.
var foretellAfter = []int64{8, 64}

// foretell says what a run will cost and take, at what its calls took so far; told is how often it
// has. Where calls cost more than twice what they would by the prices that are told, and nothing
// bounds them, it warns. Of a run that is soon done it says nothing.
func (p *Plan) foretell(told int, u *judge.Usage, at Progress) int {
	if told == len(foretellAfter) || u.Answered < foretellAfter[told] || at.Done == 0 {
		return told
	}
	if at.Of < 4*at.Done {
		return len(foretellAfter)
	}
	text := fmt.Sprintf("after %d calls: ", u.Answered)
	if u.AnswerNanoUSD > 0 {
		// Of a row: calls under way are of rows that are not done.
		calls := float64(u.Answered+u.InFlight) / float64(at.Done+u.InFlight)
		left := float64(u.AnswerNanoUSD) / float64(u.Answered) * max(0, calls*float64(at.Of)-float64(u.Answered))
		text += fmt.Sprintf("about $%.2f in all", (float64(u.CostNanoUSD)+left)/1e9)
		if hidden := u.HiddenTokens / u.Answered; hidden > 0 {
			text += fmt.Sprintf(" (%d tokens of hidden reasoning a call)", hidden)
		}
		text += ", "
	}
	left, _ := at.Left(time.Now())
	text += fmt.Sprintf("%v more", max(left.Round(time.Second), time.Second))
	switch {
	case u.ListNanoUSD > 0 && u.AnswerNanoUSD > 2*u.ListNanoUSD && p.job.Config.Judge.MaxCostUSD == 0:
		p.job.warn("%s; that is %.1f times what it costs by list prices: --max-cost bounds it", text, float64(u.AnswerNanoUSD)/float64(u.ListNanoUSD))
	case p.job.Say != nil:
		p.job.Say(text)
	}
	return told + 1
}

// checkCost warns of a budget that will not do, and of one that cannot be kept.
func (f *Forecast) checkCost() {
	if f.Unpriced > 0 {
		f.warn("nobody tells the price of %s; give it as judge.prices: {prompt: P, completion: C}, in US dollars for a million tokens", strings.Join(f.Models, ", "))
	}
	if cost := float64(f.NanoUSD) / 1e9; f.MaxCostUSD > 0 && cost > f.MaxCostUSD {
		f.warn("the calls cost about $%.4f, more than the $%.4f that the run may cost: it will stop on the way, and can go on later", cost, f.MaxCostUSD)
	}
}
