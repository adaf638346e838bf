"""Word classes of refusals in further European languages and Turkish (see ``evaluation.declining.lexicon``)."""

from __future__ import annotations

from evaluation.declining.lexicon import Lexicon

POLISH = Lexicon(
    doc="dokument|tekst|kontekst|fragment|zrodl|źródł|artyku",
    info="informacj|dan(?:e|ych)\\b|odpowiedz|szczegol|szczegół|wzmiank|wzmianek",
    say="wspomin|wspomn|mowi|mówi|podaj|podan|okresl|określ|zawier|odpowiad|opis|wyjasni|wyjaśni|wskaz|znajduj|wynika",
    negation=r"nie\b|brak|zadn|żadn|nic\b|bez\b",
    unknowing=r"(?:ja |tego )*nie (?:wiem|wiemy|znam|mam pojecia|mam pojęcia|jestem pew\w+)|nie mam (?:zadnego |"
    r"żadnego )?"
    r"poj[eę]cia",
    lacking=r"nie (?:mam|ma|mamy|znalaz|znaleziono|dysponuj|istniej)\w*|brak\w*|nie zawier\w*",
    cannot=r"nie (?:moge|mogę|mozna|można|mozemy|potrafie|potrafię|jestem w stanie|da sie|udalo)|niemozliw",
    answering="odpowied|okresl|określ|ustal|stwierdz|powiedz|pomoc|pomóc",
    alone=r"nieznan\w+|nie (?:podano|wiadomo|okreslono|wspomniano|określono)|brak (?:odpowiedzi|danych|informacji)",
    empty=r"przepraszam|niestety|przykro mi|(?:na podstawie|wedlug|według|zgodnie) .{0,60}|prosze .*|proszę .*",
    subordinate=r"ze\b|że\b|czy\b|kiedy|ile\b|jak|kto\b|gdzie|co\b|aby|na temat|dotycz|o\b",
    but="ale|jednak",
)
CZECH = Lexicon(
    doc="dokument|text|kontext|pasaz|zdroj|clan|uryv",
    info="informac|udaj|odpoved|zmink|podrobnost",
    say="zmin|uvad|uveden|rik|obsah|odpovid|popis|vyplyv|uvest",
    negation=r"ne\w+|zadn|nic\b|chyb",
    unknowing=r"(?:to )?(?:nevim|nevime|neznam)\b|nemam (?:tuseni|poneti)|nejsem si jist",
    lacking=r"nemam|neni\b|nejsou|neexist\w+|chyb\w+|nenasel|nenalez\w*|neobsah\w+|nedostat\w+",
    cannot=r"nemohu|nemuzu|nelze|neni mozne|nedokazu|nejsem schop",
    answering="odpoved|urcit|zjistit|rict|pomoci",
    alone=r"neznam[eoyá]|neni (?:uvedeno|zname|znamo)|neuvedeno|zadna odpoved|nevim",
    empty=r"bohuzel|omlouvam se|je mi lito|promin\w+|(?:na zaklade|podle) .{0,60}|prosim.*",
    subordinate=r"ze\b|zda|jestli|kdy|kolik|jak\b|kdo\b|kde\b|co\b|aby\b|o\b",
    but="ale|avsak",
)
SCANDINAVIAN = Lexicon(
    doc="dokument|text|tekst|kontext|kontekst|sammanhang|kall|kild|artik|passage|avsnit|utdrag",
    info="information|informasjon|uppgift|svar|oplysning|opplysning|detalj|omtal",
    say="namn|nevn|naevn|nævn|sager|sier|siger|star\\b|står|angiv|angitt|angivet|innehall|inneholder|indeholder|besvar|"
    "beskriv|framgar|fremgar|fremgår|framgår",
    negation=r"inte|ikke|ingen|inget|intet|inga|ej\b|saknas|mangler",
    unknowing=r"(?:(?:jag|jeg|vi) )?(?:det )?(?:vet|ved) (?:jag |jeg |det )*(?:inte|ikke)|ingen (?:aning|anelse|ide)|"
    r"(?:inte|ikke) saker|(?:inte|ikke) sikker|aner (?:inte|ikke)",
    lacking=r"har\b|finns|finnes|findes|saknas|mangler|tillrack|tilstrek|tilstraek|hittar|fant|fandt",
    cannot=r"kan\b|kunde|kunne|gar inte|omojlig|umulig",
    answering="svar|besvar|avgor|avgjor|afgor|bestam|bestem|saga|hjalp|hjelp|hjaelp",
    alone=r"okand|ukjent|ukendt|ej angivet|inte angivet|ikke (?:angitt|angivet|oplyst|oppgitt|nevnt)|inget svar|"
    r"intet svar|ingen information",
    empty=r"tyvarr|beklager|desverre|desvaerre|desværre|forlat|ursakta|undskyld|(?:baserat|ifolge|enligt|ut fra|basert|"
    r"baseret) .{0,60}|vanligen .*|vennligst .*",
    subordinate=r"att\b|at\b|om\b|nar\b|hur|hvor|vem|hvem|vad\b|hva|hvad|vilk|hvilk",
    but="men|dock",
)
HUNGARIAN = Lexicon(
    doc="dokumentum|szoveg|kontextus|forras|cikk|reszlet",
    info="informacio|adat|valasz|emlites|reszlet",
    say="emlit|mond|tartalmaz|valaszol|kozol|szerepel|derul|ir\\b",
    negation=r"nem\b|nincs|nincsen|sem\b|semmi|hiany",
    unknowing=r"(?:azt |ezt |sajnos )*nem (?:tudom|tudjuk|ismerem|vagyok biztos)|fogalmam sincs|nem vagyok benne "
    r"biztos",
    lacking=r"nincs\w*|nem (?:talal|all)\w*|hiany\w*",
    cannot=r"nem tud(?:ok|unk)|nem lehet|nem lehetseges|lehetetlen",
    answering="valasz|megallapit|meghataroz|segit|megmond|eldont",
    alone=r"ismeretlen|nincs (?:adat|valasz|informacio)|nem (?:ismert|szerepel)",
    empty=r"sajnalom|sajnos|elnezest|bocsanat|(?:.{0,40} (?:alapjan|szerint))|kerem .*",
    subordinate=r"hogy\b|mikor|mennyi|ki\b|hol\b|mi\b|mely",
    but="de\b|azonban",
)
FINNISH = Lexicon(
    doc="asiakirj|dokument|teksti|lahte|artikkel|konteksti|katkelm",
    info="tieto|tietoa|tietoja|vastaus|mainin",
    say="maini|kerro|sano|sisalla|vasta|ilmene|kuvata|mainita",
    negation=r"en\b|ei\b|eivat|emme|mitaan",
    unknowing=r"(?:mina )?en (?:tieda|ole varma|osaa sanoa)|emme tieda|ei (?:mitaan )?(?:hajua|aavistusta)",
    lacking=r"ei ole|ei loydy|minulla ei|puuttu\w+|ei riita",
    cannot=r"en voi|ei voi|ei voida|mahdotonta|en pysty",
    answering="vastata|vasta|maaritta|sanoa|auttaa|paatella",
    alone=r"tuntematon|ei (?:tiedossa|mainittu|mainita|saatavilla|tietoa|vastausta)",
    empty=r"valitettavasti|pahoittelen|anteeksi|(?:.{0,40} perusteella)|ole hyva.*",
    subordinate=r"etta|milloin|kuinka|kuka|missa|mika|onko|miten",
    but="mutta|kuitenkin",
)
ROMANIAN = Lexicon(
    doc="document|text|context|pasaj|surs|articol|fragment",
    info="informat|date\\b|raspuns|detali|mentiun|referir",
    say="mention|spun|indic|specific|raspund|contin|preciz|descri|apare",
    negation=r"nu\b|nici|niciun|nimic|fara",
    unknowing=r"(?:eu )?nu (?:stiu|stim|cunosc|sunt sigur\w*)|habar n-am|n-am idee|nu am (?:nicio )?idee",
    lacking=r"nu (?:am|exista|gasesc|este|sunt|dispun|avem)\b|n-am|lips\w+",
    cannot=r"nu (?:pot|putem|se poate|este posibil|reusesc)|imposibil",
    answering="raspund|determin|spun|afla|ajut|stabil",
    alone=r"necunoscut\w*|nu (?:se specifica|este mentionat|este specificat|se mentioneaza)|niciun raspuns",
    empty=r"imi pare rau|scuze|din pacate|(?:pe baza|conform|potrivit) .{0,60}|va rog .*",
    subordinate=r"ca\b|daca|cand|cat\b|cine|unde|ce\b|despre",
    but="dar|insa",
)
GREEK = Lexicon(
    doc="εγγραφ|κειμεν|πηγ|αποσπασμ|αρθρ|συμφραζομεν",
    info="πληροφορ|στοιχει|απαντησ|αναφορα|δεδομεν",
    say="αναφερ|λεει|λενε|περιεχ|περιλαμβ|απαντ|διευκριν|προκυπτ",
    negation=r"δεν\b|μη\b|μην\b|καμια|κανεν|τιποτα",
    unknowing=r"δεν (?:το )?(?:ξερω|γνωριζω|γνωριζουμε|ξερουμε|ειμαι σιγουρ\w*)|δεν εχω (?:ιδεα|γνωση)",
    lacking=r"δεν (?:εχω|υπαρχ|βρηκ|βρισκ|διαθετ|επαρκ)\w*|λειπ\w+",
    cannot=r"δεν (?:μπορω|μπορουμε|ειναι δυνατ|γινεται)|αδυνατ",
    answering="απαντ|προσδιορ|πω\\b|βοηθησ|καθορισ",
    alone=r"αγνωστ\w+|δεν (?:αναφερεται|ειναι γνωστο)|καμια απαντηση",
    empty=r"λυπαμαι|συγγνωμη|δυστυχως|(?:με βαση|συμφωνα) .{0,60}|παρακαλω .*",
    subordinate=r"οτι|αν\b|ποτε|ποσο|πως|ποιος|που\b|τι\b|για\b",
    but="αλλα|ωστοσο|ομως",
)
TURKISH = Lexicon(
    doc="belge|metin|metn|baglam|kaynak|makale|parca|dokuman",
    info="bilgi|veri\\b|yan[ıi]t|cevap|ayrinti|ayrıntı|bahs",
    say="bahsed|belirt|soyle|icer|yer al|cevap|yan[ıi]t|acikla|açıkla|deginil",
    negation=r"\w*(?:mıyor|miyor|muyor|müyor|mamış|memiş|mamis|memis|maz|mez|medi|madı|mamaktad|memekted)\w*|\w+(?:[ae]m[ae]m|[ae]m[ae]yiz|m[ae]m[ae]yi)\b|yok|degil|değil|hicbir|"
    r"hiçbir",
    unknowing=r"(?:bunu |ben )?(?:bilmiyorum|bilmiyoruz|emin degilim|emin değilim)|(?:hic(?:bir)? )?fikrim yok",
    lacking=r"yok\w*|bulunm\w+|bulunam\w+|bulam\w+|rastlanm\w+|rastlam\w+|verilm\w+|paylasilm\w+|"
    r"mevcut degil|yetersiz|yeterli \w+ (?:yok|degil)",
    cannot=r"(?!s[oö]ylem)\w*(?:ama|eme|amıyor|emiyor|amiyor)\w*|mumkun degil|mümkün değil|imkansiz",
    answering="cevap|yan[ıi]t|belirle|yard[ıi]m|soyle|yorum|acikla|açıkla",
    unwilling=r"\w*m[ae]m[ae]yi tercih ed|\w*m[ae]k istem[ie]yor(?:um|uz)|\w+ reddediyorum",
    giving="ver|paylas|paylaş|sun\\b|sunam",
    speaker=r"\w+(?:am|em|oru[mz]|ayiz|eyiz|ayız|ad[ıi]m|edim|ad[ıi]k|edik)\b|\w*(?:n|il|ıl)[ae]m[ae]\w*|mumkun|mümkün",
    topic=r"bu konuda|bununla ilgili|bunun hakk[ıi]nda|konu hakk[ıi]nda|konuyla ilgili",
    alone=r"bilinmiyor|belirtilmemis|bahsedilmemis|bilgi yok|cevap yok|yanit yok",
    empty=r"uzgunum|ozur dilerim|maalesef|(?:.{0,60} (?:gore|dayanarak))|lutfen .*",
    subordinate=r"ne zaman|kim\b|nerede|kac\b|hakkinda",
    but="ama|ancak|fakat",
)
VIETNAMESE = Lexicon(
    doc="tai lieu|van ban|ngu canh|doan van|nguon|bai viet",
    info="thong tin|du lieu|cau tra loi|chi tiet",
    say="de cap|noi|neu|cung cap|chua|tra loi|nhac|mo ta|chi ra",
    negation=r"khong|chua\b|chang",
    unknowing=r"(?:toi|chung toi|minh) (?:khong|chua) (?:biet|chac|ro)|khong (?:biet|ro|chac)",
    lacking=r"khong (?:co|tim thay|du|ton tai)|thieu",
    cannot=r"khong the",
    answering="tra loi|xac dinh|biet|giup|cho biet",
    alone=r"khong (?:ro|biet|co thong tin|duoc de cap|co cau tra loi|xac dinh)",
    empty=r"(?:toi )?xin loi|rat tiec|(?:dua (?:tren|vao)|theo) .{0,60}|vui long .*",
    subordinate=r"rang|khi nao|bao nhieu|ai\b|o dau|nhu the|ve\b|lieu",
    but="nhung|tuy nhien",
)
