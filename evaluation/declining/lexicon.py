"""Word classes of refusals by language: documents, information, knowing and answering.

A lexicon contains word classes, not sentences. ``evaluation.declining.clauses`` combines them: documents that do not
say, information that is missing, a speaker who does not know or cannot answer. Every class is a regular expression of
alternatives. Words of Latin, Cyrillic, Greek, Arabic and Hebrew script are prefixes, the others substrings.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Word classes of one language, each a regular expression of alternatives.

    doc: passages and documents. info: information, data, an answer. say: verbs for documents ("mention", "state").
    negation: negating words. unknowing: complete phrases for a speaker who does not know.
    lacking: phrases for something that is missing, negation included. cannot: phrases for "cannot" or "nobody can".
    answering: verbs of answering and determining. giving: verbs of giving information ("give", "provide").
    unwilling: phrases for a speaker who does not want to answer, negation included.
    speaker: the first person, or the passive. topic: references to the question ("on that").
    alone: complete clauses that decline. empty: clauses without a statement (an apology, "based on the documents").
    subordinate: beginnings of clauses that only say what is not known. but: words that introduce an answer.
    """

    doc: str
    info: str
    say: str
    negation: str
    unknowing: str
    lacking: str
    cannot: str
    answering: str
    alone: str
    empty: str
    subordinate: str
    but: str
    unwilling: str = ""
    giving: str = ""
    speaker: str = ""
    topic: str = ""


SPANISH = Lexicon(
    doc="documento|texto|contexto|pasaje|fragmento|fuente|articulo|archivo|base de conocimiento|material",
    info="informacion|dato|respuesta|detalle|mencion|referencia|constancia",
    say="mencion|dice|indica|especific|respond|contest|abord|explic|aclar|trata|revel|habla|cita|describ|precis|senala|"
    r"figura\b|consta\b|aparece|encuentra|recoge|contien|proporcion|ofrec|incluy|aporta",
    negation=r"no\b|ni\b|ningun|nada\b|tampoco",
    unknowing=r"no (?:lo )?s[ée]$|no sé\b|no lo se\b|no (?:lo )?(?:sabemos|sabria|conozco)\b|no tengo (?:ni )?"
    r"(?:la menor )?idea|no estoy segur[oa]|(?:lo )?desconozco|lo ignoro",
    lacking=r"disponible|no (?:tengo|tenemos|hay|existe|dispongo|disponemos|encuentro|encontr|he encontrado|se "
    r"encontr|se dispone|"
    r"cuento con|contamos con|se (?:proporcion|ofrec|incluy))\w*|falta|carezco",
    cannot=r"no (?:puedo|podemos|es posible|se puede|pude|logro|soy capaz|sabria|(?:me|nos) es posible|"
    r"(?:estoy|estamos) en condiciones)|imposible|incapaz",
    answering="respond|contest|determin|saber|averigu|ayudar|decir|confirmar|precisar|opinar|comentar|pronunci",
    unwilling=r"(?:prefier|preferir)\w+ no|no (?:quiero|queremos|deseo|deseamos|voy a|vamos a|pienso)\b|me (?:niego|"
    r"abstengo|reservo)|declino",
    giving="dar\\b|facilit|proporcion|ofrec|compart|revel|divulg|aport",
    speaker=r"puedo|podemos|pude|posible|puede|logro|capaz|condiciones|sabria|imposib|incapa",
    topic=r"al respecto|(?:sobre|de) (?:eso|esto|ello|este tema|ese tema)",
    alone=r"desconocid[oa]|no (?:disponible|especificad[oa]|mencionad[oa]|indicad[oa])|"
    r"no (?:se (?:especifica|menciona|indica|sabe)|consta)|ni idea|sin (?:informacion|respuesta|"
    r"datos)(?: disponibles?| al respecto)?",
    empty=r"lo siento|lo lamento|perdon|disculp\w*|lamentablemente|desafortunadamente|(?:segun|basandome en|con|"
    r"de acuerdo "
    r"con|a partir de|en base a|conforme a) .{0,60}|por favor .*|como (?:modelo|ia|inteligencia).*|actualmente",
    subordinate=r"que\b|qué|si\b|cuando|cuanto|como\b|donde|quien|cual|porque .{0,20}no|ni\b|para|sobre|acerca|"
    r"asi que no",
    but="pero|sin embargo|aunque",
)
FRENCH = Lexicon(
    doc="document|texte|contexte|passage|extrait|source|article|fichier|base de connaissances",
    info="information|donnee|reponse|detail|mention|precision|reference|indication|renseignement",
    say="mention|dit\\b|disent|indiqu|precis|specifi|repond|abord|expliqu|parle|traite|revel|decri|figur|apparai|trouv|"
    "evoqu|permet|contien|fourni|compren",
    negation=r"ne\b|n|pas\b|aucun|rien\b|ni\b|non\b",
    unknowing=r"(?:je|nous) (?:ne )?(?:le )?(?:sais|savons|connais) pas|je ne saurais|je n'en sais rien|"
    r"je l'ignore|j'ignore|"
    r"aucune idee|"
    r"(?:je ne suis|suis|nous ne sommes) pas (?:sur|certain)|chais pas|sais pas",
    lacking=r"(?:je n'ai|n'ai|nous n'avons|il n'y a|il n'existe|y a|je ne (?:trouve|dispose|vois)|nous ne disposons|"
    r"je n'ai (?:pas )?trouve) (?:\w+ |d')?(?:pas|aucun\w*|rien)|(?:n'est|ne sont) pas (?:\w+ )?(?:disponib|"
    r"fourni|indiqu|presen|"
    r"mention|precis|donne\w*\b)|disponible|manque",
    cannot=r"(?:ne|n') ?(?:peux|pouvons|puis|peut|suis pas en mesure|est pas possible|parviens)|impossible|incapable",
    answering="repond|determin|savoir|trouver|aider|dire|confirmer|preciser|traiter cette|prononcer|commenter",
    unwilling=r"je prefer\w+ ne (?:pas|rien)|(?:je|nous) ne (?:souhait|desir|veu|voul|compt|tien|"
    r"v[ao])\w* (?:\w+ )?(?:pas|rien)|"
    r"je (?:m'abstien|me gard|refus)\w+",
    giving="fourni|donn(?:er|e|ent)\\b|communiqu|divulgu|partag",
    speaker=r"je\b|j'|nous\b|m'est|on\b|impossib|incapab|possible|etre\b",
    topic=r"a ce (?:sujet|propos)|la-dessus|sur (?:cela|ce point|ce sujet)",
    alone=r"inconnu\w*|non (?:disponible|precise\w*|specifie\w*|mentionne\w*|indique\w*)|pas (?:de reponse|"
    r"d'information"
    r"\w*|mentionne\w*)|(?:ce )?n'est pas (?:mentionne|precise|indique)\w*|(?:sans|aucune) (?:reponse|information|"
    r"donnee)s?(?: (?:trouve|disponible)\w*)?",
    empty=r"(?:je suis )?(?:vraiment )?desole\w*|excusez.{0,20}|pardon|malheureusement|(?:d'apres|selon|sur la "
    r"base|a partir|"
    r"en me basant|compte tenu|au vu) .{0,60}|veuillez .*|merci de .*|en tant qu.*",
    subordinate=r"que\b|qu|si\b|quand|combien|comment|ou\b|qui\b|quel|a ce sujet|sur\b|concernant|pour\b|ni\b",
    but="mais|cependant|toutefois|pourtant",
)
PORTUGUESE = Lexicon(
    doc="documento|texto|contexto|passage|trecho|fonte|artigo|arquivo|excerto|base de conhecimento",
    info="informac|dado|resposta|detalhe|menc|referencia|indicac",
    say="mencion|diz|indica|especific|respond|abord|explic|esclarec|trata|revel|fala|cita|descrev|consta|aparec|"
    "encontra|"
    "informa|contem|fornec|inclu|apresent|oferec",
    negation=r"nao\b|nem\b|nenhum|nada\b|tampouco",
    unknowing=r"(?:eu )?nao (?:o )?(?:sei|sabemos|conheco|saberia)\b|nao (?:faco|tenho) (?:a menor )?(?:ideia|certeza)|"
    r"desconheco|sem ideia",
    lacking=r"disponive|nao (?:tenho|temos|ha|existe|disponho|dispomos|encontr|foi encontrad|foram encontrad|se "
    r"encontr|consta)\w*|"
    r"falta",
    cannot=r"nao (?:posso|podemos|consigo|conseguimos|e possivel|sou capaz|pude|foi possivel|da para)|impossivel|"
    r"incapaz",
    answering="respond|determin|saber|descobrir|ajudar|dizer|confirmar|precisar|comentar",
    unwilling=r"(?:prefir|preferir)\w+ nao|nao (?:quero|queremos|desejo|vou|gostaria de)\b|recuso-me|abstenho-me",
    giving="dar\\b|fornec|partilh|compartilh|divulg|revel",
    speaker=r"posso|podemos|consig|conseguimos|possivel|impossiv|incapa|capaz|pude|da para",
    topic=r"a (?:este|esse) respeito|sobre (?:isso|isto|este assunto|esse assunto)",
    alone=r"desconhecid[oa]|nao (?:disponivel|especificad[oa]|mencionad[oa]|informad[oa]|consta)|sem (?:resposta|"
    r"informac\w+)",
    empty=r"(?:me )?desculp\w*|lamento|sinto muito|infelizmente|(?:com base|segundo|de acordo|conforme|a partir) "
    r".{0,60}|"
    r"por favor .*|como (?:modelo|ia|uma ia|inteligencia).*",
    subordinate=r"que\b|se\b|quando|quant|como\b|onde|quem|qual|sobre|acerca|para|nem\b",
    but="mas|porem|contudo|no entanto",
)
ITALIAN = Lexicon(
    doc="document|testo|testi\\b|contesto|passagg|brano|brani|fonte|fonti|articol|estratt",
    info="informazion|dat[oi]\\b|rispost|dettagl|menzion|riferiment|indicazion",
    say="menzion|dice|dicono|indica|specific|rispond|affront|spieg|chiar|tratta|rivel|parla|cita|descriv|riport|compar|"
    "trova|presente|contien|contengon|fornisc|includ",
    negation=r"non\b|ne\b|nessun|niente|nulla|alcun",
    unknowing=r"non (?:lo )?(?:so|sappiamo|conosco|saprei)\b|non ne ho idea|(?:nessuna|non ho) idea|non sono sicur[oa]|"
    r"non sono cert[oa]",
    lacking=r"disponibil|non (?:ho|abbiamo|ci sono|c'e|esist|dispongo|disponiamo|trovo|ho trovato|e stat|sono "
    r"stat)\w*|manca",
    cannot=r"non (?:posso|possiamo|e possibile|sono in grado|riesco|si puo)|impossibile",
    answering="rispond|determin|sapere|stabil|aiut|dire|conferm|comment|pronunci",
    unwilling=r"prefer\w+ non|non (?:voglio|desidero|intendo|vorrei)\b|mi (?:rifiuto|astengo)",
    giving="dare\\b|fornir|condivid|rivel",
    speaker=r"posso|possiamo|riesco|possibile|impossib|incapa|in grado|si puo",
    topic=r"al riguardo|in merito|su (?:questo|cio|questo argomento)",
    alone=r"sconosciut[oa]|ignot[oa]|non (?:disponibile|specificat[oa]|menzionat[oa]|indicat[oa])|(?:nessuna|"
    r"senza) rispost\w+|"
    r"nessuna informazion\w+|non e (?:menzionat|specificat|indicat)[oa]",
    empty=r"mi dispiace|mi scus\w+|scus\w+|purtroppo|spiacente|(?:in base|secondo|sulla base|dalle|dai|stando) .{0,60}|"
    r"per favore .*|si prega .*|in quanto .*",
    subordinate=r"che\b|se\b|quando|quant|come\b|dove|chi\b|qual|su\b|riguardo|per\b",
    but="ma|tuttavia|pero",
)
GERMAN = Lexicon(
    doc="dokument|text|kontext|passage|abschnitt|quelle|artikel|auszug|auszuge|unterlage|textstelle|wissensdatenbank|"
    "dokumentation",
    info="information|angabe|antwort|detail|erwahnung|hinweis|daten\\b|auskunft|auskunfte|aussage|aufschluss|kenntnis",
    say="erwahn|sag[te]|genannt|nenn|steh|angegeb|enthalt|beantwort|hervor|entnehm|beschrieb|erlauter|thematisier|"
    "behandel|spezifizier|findet sich|finden sich|zu finden|aufgefuhrt|ersichtlich|erklar|gibt",
    negation=r"nicht|kein|nichts|weder|ohne\b|nirgend",
    unknowing=r"(?:ich|wir) (?:weiß|weiss|wissen) (?:es |das |dies |leider |darauf |daruber )*(?:nicht|keine|nichts)|"
    r"(?:weiß|weiss) (?:ich )?(?:es |das |leider )*nicht|keine ahnung|(?:bin|sind) (?:ich |wir |mir |uns )*"
    r"(?:\w+ )?(?:nicht|un)\s?sicher|(?:ist )?mir (?:leider |daruber |dazu |hierzu )*(?:nichts?|un)\s?bekannt|"
    r"nicht sicher",
    lacking=r"(?:habe|haben|liegen|liegt|gibt es|es gibt|existier\w+|find\w*|verfug\w+|fehl\w+|vorhanden|vorlieg\w*|"
    r"verfugbar|gefunden|ausreich\w+|genug\w*)",
    cannot=r"(?:kann|konnen|konnte)\b|lasst sich|lassen sich|nicht (?:moglich|in der lage)|unmoglich",
    answering="beantwort|antwort|bestimm|sagen|ermittel|feststell|weiterhelf|helfen|beurteil|ableit|bestatig|"
    "außern|aussern|kommentier|stellung",
    unwilling=r"(?:ich|wir) (?:mochte|mochten|will|wollen|werde|werden|wurde|wurden|darf|durfen)\b"
    r" (?:\w+ ){0,4}?(?:nicht|nichts|keine?)|"
    r"(?:mochte|mochten|will|wollen|werde|werden|wurde|wurden|darf|durfen) (?:ich|wir)\b (?:\w+ ){0,4}?(?:nicht|"
    r"nichts|keine?)|ich (?:lehne|verzichte|enthalte)",
    giving="mach|geb|erteil|getroff|treff|bereitstell|anbiet|mitteil|liefer|weitergeb|nenn",
    speaker=r"ich\b|wir\b|mir\b|uns\b|man\b|werden\b|lasst\b|lassen\b|moglich|unmog|getroffen|(?:kann|"
    r"konnen) (?:\w+ ){0,3}nicht|(?:kann|konnen) nicht",
    topic=r"dazu\b|hierzu\b|daruber\b|hieruber\b|darauf\b|davon\b|zu dies\w+",
    alone=r"(?:(?:das|dies|es) ist )?(?:unbekannt|unklar|nicht bekannt)|keine? (?:angaben?|antwort|information\w*|"
    r"daten|auskunft|ergebnisse?|treffer)"
    r"(?: (?:vorhanden|verfugbar|moglich|gefunden))?|nicht (?:angegeben|bekannt|erwahnt|verfugbar|spezifiziert|genannt|"
    r"beantwortbar)|weiß nicht|weiss nicht|da muss ich (?:leider )?passen|(?:da )?bin ich (?:leider )?uberfragt|"
    r"ich bin (?:leider )?uberfragt",
    empty=r"(?:es )?tut mir (?:sehr )?leid|entschuldig\w*.{0,20}|leider|bedauerlicherweise|(?:basierend|laut|"
    r"gemaß|gemass|"
    r"anhand|nach|auf grundlage|auf basis|aufgrund) .{0,60}|bitte .*|als ki\b.*",
    subordinate=r"dass|ob\b|wann|wie\b|wer\b|was\b|wo\b|welch|warum|wieviel|um\b|zu\b|daher|da\b|deshalb",
    but="aber|jedoch|allerdings|doch",
)
DUTCH = Lexicon(
    doc="document|tekst|context|passage|fragment|bron|artikel",
    info="informatie|gegevens|antwoord|detail|vermelding|verwijzing",
    say="vermeld|noem|genoemd|zeg|gezegd|staat|aangegeven|beantwoord|beschrev|bevat|besproken|specificeer|"
    "gespecificeerd",
    negation=r"niet|geen|niets|nergens",
    unknowing=r"(?:ik|wij|we) weet (?:het |dat )*(?:niet|geen)|weet (?:ik )?(?:het )?niet|geen idee|"
    r"(?:ben|zijn) (?:ik )?(?:er )?niet zeker|niet zeker",
    lacking=r"(?:heb|hebben|is er|er is|er zijn|beschik|beschikbaar|gevonden|vind|onvoldoende|ontbre)\w*",
    cannot=r"(?:kan|kunnen|kon)\b|niet (?:mogelijk|in staat)|onmogelijk",
    answering="beantwoord|antwoord|bepa|zeggen|vaststel|help|vertel|commentaar",
    unwilling=r"(?:(?:ik|wij|we) (?:wil|willen|zal|mag|ga)|(?:wil|willen|zal|mag|ga) (?:ik|wij|we))\b"
    r" (?:\w+ ){0,4}?(?:niet|niets|geen)|ik (?:weiger|geef liever)",
    giving="geven|verstrek|meedel|delen",
    speaker=r"ik\b|wij\b|we\b|men\b|worden|mogelijk|onmog|in staat",
    topic=r"daarover|hierover|daarop|hierop|daar\b",
    alone=r"onbekend|niet (?:vermeld|bekend|gespecificeerd|beschikbaar|genoemd)|geen (?:antwoord|informatie|gegevens)",
    empty=r"sorry|het spijt me|helaas|(?:op basis|volgens|gebaseerd) .{0,60}|neem .*|raadpleeg .*|als ai\b.*",
    subordinate=r"dat\b|of\b|wanneer|hoe\b|wie\b|wat\b|waar|welk|om\b|over\b",
    but="maar|echter",
)
INDONESIAN = Lexicon(
    doc="dokumen|teks|konteks|bagian|sumber|artikel|kutipan",
    info="informasi|data\\b|jawaban|rincian|keterangan|detail|penyebutan",
    say="menyebut|disebut|menyata|dinyatakan|menjelas|dijelas|memberi|mencantum|dicantum|tercantum|memuat|menjawab|"
    "membahas|dibahas|mengandung|menyedia|berisi|terdapat",
    negation=r"tidak|tak\b|bukan|belum|tanpa",
    unknowing=r"(?:saya|kami|aku)? ?(?:tidak|tak|kurang) (?:tahu|mengetahui|yakin|pasti)",
    lacking=r"(?:tidak|tak|belum) (?:ada|memiliki|punya|tersedia|cukup|menemukan|ditemukan|terdapat)",
    cannot=r"(?:tidak|tak) (?:bisa|dapat|mampu|mungkin)",
    answering="jawab|menjawab|menentu|ditentukan|mengetahui|membantu|memberi|memasti",
    alone=r"tidak (?:diketahui|disebutkan|tersedia|ada jawaban|ada informasi|jelas)|tak diketahui",
    empty=r"maaf.{0,20}|mohon maaf|sayangnya|(?:berdasarkan|menurut|dari) .{0,60}|silakan .*|sebagai .{0,40}",
    subordinate=r"bahwa|apakah|kapan|berapa|bagaimana|siapa|apa\b|di mana|mana\b|untuk|tentang|mengenai",
    but="tetapi|tapi|namun",
)
RUSSIAN = Lexicon(
    doc="документ|текст|контекст|отрыв|источник|стать[еяию]|фрагмент|материал|пассаж",
    info="информаци|данн|ответ|сведени|упоминани|подробност|указани",
    say="упомина|упомян|говор|сказан|указ|отвеча|содерж|сообща|описа|описыва|раскры|уточн|определ|привод|след",
    negation=r"не\b|нет\b|ни\b|нич|никак|отсутств|без\b|недостаточно",
    unknowing=r"(?:я |мы |этого )*не (?:знаю|знаем|уверен\w*|в курсе|могу знать)|понятия не имею|мне (?:это )?не"
    r"\s?известно|без понятия",
    lacking=r"нет\b|не (?:имею|имеется|располага|наш|найден|хвата|обнаруж|предоставл)\w*|у меня нет|отсутству\w+|"
    r"недостаточно|не содерж",
    cannot=r"не (?:могу|можем|удалось|удается|в состоянии|смог)\w*|невозможно|нельзя|затрудняюсь",
    answering="ответ|отвеч|определ|сказать|установ|помочь|узнать|подтверд",
    alone=r"неизвестно|не (?:указано|упомянуто|упоминается|известно|сказано|определено)|нет (?:ответа|данных|"
    r"информации|"
    r"сведений)|затрудняюсь ответить|ответ не найден|неясно",
    empty=r"(?:к сожалению|извините|простите|прошу прощения|сожалею|увы)|(?:на основ|согласно|исходя|судя|по) .{0,60}|"
    r"пожалуйста.*|как (?:ии|языковая).*",
    subordinate=r"что\b|как\b|когда|сколько|кто\b|где\b|какои|какая|какие|какое|ли\b|чтобы|о\b|об\b|поэтому .{0,20}не|"
    r"которы",
    but="но|однако|зато",
)
UKRAINIAN = Lexicon(
    doc="документ|текст|контекст|уривк|джерел|статт",
    info="інформаці|дан[иі]|відповід|відомост|згадк",
    say="згаду|сказан|говор|вказа|зазнач|відповіда|містить|описа|поясн",
    negation=r"не\b|нема|ні\b|відсутн|без\b",
    unknowing=r"(?:я |ми |цього )*не (?:знаю|знаємо|впевнен\w*)|гадки не маю|мені (?:це )?не\s?відомо",
    lacking=r"немає|нема\b|не (?:маю|знай)\w*|відсутн\w+|недостатньо",
    cannot=r"не (?:можу|можемо|вдалося)|неможливо",
    answering="відпов|визнач|сказати|допомог",
    alone=r"невідомо|не (?:вказано|згадується|відомо|зазначено)|немає (?:відповіді|даних|інформації)",
    empty=r"на жаль|вибачте|перепрошую|(?:на основі|згідно|за) .{0,60}|будь ласка.*",
    subordinate=r"що\b|як\b|коли|скільки|хто\b|де\b|яки|чи\b|щоб|про\b",
    but="але|однак|проте",
)
