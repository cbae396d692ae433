package claims

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// NoClaimPhrases returns the phrases with which a sentence begins that claims
// nothing: narrated work, offers, greetings, acknowledgements, general advice. One
// that ends with a full stop is such a sentence only if it is all of it.
func NoClaimPhrases() []string { return strings.Split(strings.TrimSpace(noClaimPhrases), "\n") }

// AttributionPhrases returns the phrases that say where something is from. What
// stands behind the last cited segment of a sentence and begins with one belongs
// to the claim before.
func AttributionPhrases() []string { return strings.Split(strings.TrimSpace(attributionPhrases), "\n") }

// ReferenceHeadings returns the words that head an answer's own list of
// references.
func ReferenceHeadings() []string { return strings.Split(strings.TrimSpace(referenceHeadings), "\n") }

const noClaimPhrases = `
I'll search
I'll look
I'll check
I'll find
I'll now
I will search
I will look
I will check
I will now
I'm going to
I am going to
Let me
Let's look
Let us look
Searching for
Here is a summary
Here is what
Here's a summary
Here's what
Here are some
Here are the
I hope this
I hope that
If you'd like
If you would like
If you have any
If you need
If you want me
Feel free
I can also
I can help
I can provide
I'd be happy
I would be happy
I'm happy to
I'm glad
Happy to
Please let me know
Hello.
Hello there
Hi.
Hi there
Hey there
Good morning.
Good afternoon.
Good evening.
Thank you
Thanks
OK.
Okay.
Sure.
Sure thing
Certainly.
Of course.
Absolutely.
Got it
Understood.
Great question
Good question
That's a great question
That's a good question
That's an interesting question
That's a very interesting question
You're welcome
I'm sorry
I am sorry
I apologize
I don't know.
Please note that
Please consult
Please check
Please verify
Please be aware
Always consult
Always check
It's always best
It is always best
It's advisable
It is advisable
For more information
For further information
For more details
For the most up-to-date
For the latest information
Be sure to
Make sure to
Remember to
You may want to
You might want to
You should consult
Ich werde
Ich suche
Ich schaue
Lassen Sie mich
Lass mich
Hier ist eine Zusammenfassung
Wenn Sie möchten
Wenn du möchtest
Falls Sie
Falls du
Gerne.
Gern geschehen
Hallo.
Guten Tag.
Vielen Dank
Danke
Natürlich.
Selbstverständlich.
Verstanden.
Gute Frage
Bitte beachten Sie
Bitte beachte
Bitte prüfen Sie
Weitere Informationen
Je vais
Laissez-moi
Voici un résumé
Voici ce que
Si vous souhaitez
Si vous voulez
N'hésitez pas
Bonjour.
Merci
Bien sûr.
D'accord.
Bonne question
Veuillez noter
Veuillez consulter
Pour plus d'informations
Voy a buscar
Permíteme
Permítame
Aquí tienes
Aquí está
Si quieres
Si desea
Si necesitas
No dudes
Hola.
Gracias
Claro.
Por supuesto.
De acuerdo.
Buena pregunta
Ten en cuenta que
Tenga en cuenta que
Para más información
Vou procurar
Deixe-me
Aqui está
Se quiser
Se precisar
Olá.
Obrigado
Claro que sim
Boa pergunta
Para mais informações
Cercherò
Ecco un riassunto
Se vuoi
Ciao.
Grazie
Certo.
Buona domanda
Per ulteriori informazioni
Ik zal
Laat me
Als u wilt
Bedankt
Goede vraag
我来搜索
我将搜索
让我
如果您
如果你需要
希望这
您好
你好
好的
当然
谢谢
请注意
检索中
お調べします
ご質問
こんにちは
ありがとう
はい。
ご注意ください
`

const attributionPhrases = `
according to
as reported by
as reported in
as stated by
as stated in
as described by
as described in
as noted by
as noted in
as shown by
as shown in
as listed in
as per
per the
based on
laut
gemäß
nach Angaben
wie in
selon
d'après
según
de acuerdo con
secondo
segundo
de acordo com
volgens
根据
據
依据
によると
によれば
`

const referenceHeadings = `
References
Reference
Reference list
List of references
Sources
Source
Sources cited
Sources used
Bibliography
Works Cited
Literature Cited
Citations
Footnotes
Endnotes
Further Reading
Additional Resources
Quellen
Quelle
Quellenangaben
Quellenverzeichnis
Einzelnachweise
Literatur
Literaturverzeichnis
Références
Bibliographie
Fuentes
Fuente
Referencias
Bibliografía
Fonti
Fonte
Riferimenti
Bibliografia
Fontes
Referências
Bronnen
Bron
Referenties
Källor
Kilder
Kilde
Źródła
Источники
Литература
参考文献
参考资料
參考資料
来源
資料來源
信息来源
出典
参考
출처
참고문헌
`

// captionWords begin a caption, with a number behind them.
const captionWords = `
table
figure
fig
chart
listing
tabelle
abbildung
abb
tableau
tabla
figura
tabella
tabela
tabel
表
图
圖
図
`

// A phraseList finds phrases at the beginning of sentences.
type phraseList struct {
	begin []string
	whole map[string]bool
}

// newPhraseList returns the list of phrases.
func newPhraseList(phrases []string) *phraseList {
	l := &phraseList{whole: map[string]bool{}}
	for _, p := range phrases {
		p = folded(p)
		if whole := strings.TrimRightFunc(p, isPunctuation); whole != p {
			l.whole[whole] = true
		} else if p != "" {
			l.begin = append(l.begin, p)
		}
	}
	return l
}

// begins reports whether a sentence begins with one of the phrases, or is one.
func (l *phraseList) begins(sentence string) bool {
	sentence = strings.TrimLeftFunc(sentence, func(r rune) bool { return !isWordRune(r) })
	head := folded(sentence[:runeCut(sentence, 200)])
	if len(sentence) < 200 && l.whole[strings.TrimRightFunc(head, isPunctuation)] {
		return true
	}
	for _, p := range l.begin {
		rest, ok := strings.CutPrefix(head, p)
		if !ok {
			continue
		}
		next, _ := utf8.DecodeRuneInString(rest)
		last, _ := utf8.DecodeLastRuneInString(p)
		if rest == "" || !isWordRune(next) || isUnspaced(last) {
			return true
		}
	}
	return false
}

// wordSet is the folded words of a list above.
func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.SplitSeq(strings.TrimSpace(list), "\n") {
		set[folded(w)] = true
	}
	return set
}

// folded is s in small letters, with straight apostrophes and single spaces.
func folded(s string) string {
	s = strings.ReplaceAll(strings.ToLower(s), "’", "'")
	return strings.Join(strings.Fields(s), " ")
}

// runeCut is the length of s, or of as much of it as n bytes hold.
func runeCut(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func isPunctuation(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r)
}

// isUnspaced reports the scripts that write no spaces between words.
func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
