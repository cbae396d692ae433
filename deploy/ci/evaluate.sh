#!/bin/sh
# Evaluates the answers of a change beside those of the branch that it goes to.
#
#   evaluate.sh RUN.yaml BRANCH OUT [flags of ibid run, such as --gate 'diff(overall) >= -0.02']
#
# RUN.yaml is a run file in the repository. The runs are OUT/base and OUT/head; for people
# there are OUT/comment.md and OUT/head/report.html, for machines OUT/junit.xml and, with
# ANNOTATIONS=github, annotations on standard error. The comment links to LINK, where the page is
# kept, if that is set. The exit code is that of ibid run: 3 if a gate failed, 4 if there is no
# verdict.
set -eu
file=$1 branch=$2 out=$3
shift 3

rm -rf "$out/base" "$out/head"
mkdir -p "$out"
base=$(mktemp -d)
trap 'git worktree remove --force "$base" 2>/dev/null || true; rm -rf "$base"' EXIT
git fetch -q origin "$branch"
git worktree add -q --force --detach "$base" FETCH_HEAD

# What becomes of the branch's own gates is no news here.
code=0
ibid run "$base/$file" --out "$out" --id base -q >/dev/null || code=$?
[ "$code" -eq 0 ] || [ "$code" -eq 3 ] || exit "$code"

code=0
ibid run "$file" --out "$out" --id head --baseline "$out/base" --junit "$out/junit.xml" ${ANNOTATIONS:+--annotations "$ANNOTATIONS"} "$@" >"$out/run.txt" || code=$?
cat "$out/run.txt"
if [ -f "$out/head/manifest.json" ]; then
	gate=
	for flag do # the comment is on the same gates
		shift
		if [ -n "$gate" ]; then
			set -- "$@" --gate "$flag"
			gate=
		elif [ "$flag" = --gate ]; then
			gate=next
		fi
	done
	ibid gate "$out/head" "$@" --format markdown ${LINK:+--link "$LINK"} >"$out/comment.md" 2>/dev/null || true
	[ -s "$out/comment.md" ] || ibid compare "$out/base" "$out/head" --format markdown >"$out/comment.md" || true # without gates
fi
exit "$code"
