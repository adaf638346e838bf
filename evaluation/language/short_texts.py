"""Detect the language of a few words by words that are typical of a language and by letters that English lacks.

Names and titles are not assigned to a language: capitalised words do not count, except numbers, units, days and months.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from model.english import word_set

# Words that are neither English nor common in names. One of them is sufficient.
_TYPICAL_WORDS = {
    "German": (
        "zwei drei vier fünf sechs sieben acht neun zehn zwölf zwanzig jahr jahre jahren monat monate monaten woche "
        "wochen tage tagen stunde stunden uhr montag dienstag mittwoch donnerstag freitag samstag sonntag januar "
        "februar märz oktober dezember nein nicht kein keine keinen nur etwa ungefähr leider nach für mit und ist "
        "sind wird werden wurde kann können muss müssen darf dürfen durch zwischen wegen seit zum zur beim vom eine "
        "einen einem einer noch schon sehr mehr weniger ohne gegen oder aber wenn weil dass jeder jede jedes oben "
        "unten morgens abends werktags täglich steht liegt wiegt kostet beträgt dauert heißt gibt geht kommt "
        "hinter neben"
    ),
    "French": (
        "deux trois quatre cinq sept huit neuf dix onze douze vingt ans mois semaine semaines jours heure heures "
        "lundi mardi mercredi jeudi vendredi samedi dimanche janvier février avril juin juillet août septembre octobre "
        "novembre décembre oui seulement environ dans avec pour est sont une jusqu depuis pendant chaque très mais "
        "aussi sous chez cette leur leurs près être doit peut il elle nous vous ils elles était hiver été printemps"
    ),
    "Spanish": (
        "dos tres cuatro cinco seis siete ocho nueve diez once doce veinte años año meses semana semanas días día "
        "horas lunes martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto "
        "septiembre octubre noviembre diciembre sí solo sólo hasta desde aproximadamente unos una con por para está "
        "están cada pero muy sin según también durante hace debe puede pesa cuesta dura"
    ),
    "Portuguese": (
        "dois três quatro cinco sete oito nove dez onze doze vinte anos ano meses semana semanas dias horas segunda "
        "terça quarta quinta sexta sábado domingo janeiro fevereiro março abril maio junho julho agosto setembro "
        "outubro novembro dezembro sim não apenas até desde cerca uma duas com por para está cada mas muito sem "
        "também durante deve pode pesa custa dura no na nos nas"
    ),
    "Italian": (
        "due tre quattro cinque sette otto nove dieci undici dodici venti anni anno mesi settimana settimane giorni "
        "ore lunedì martedì mercoledì giovedì venerdì sabato domenica gennaio febbraio marzo aprile maggio giugno "
        "luglio agosto settembre ottobre novembre dicembre sì solo fino circa una con per sono ogni però molto senza "
        "anche durante deve può pesa costa nel nella nello nei sul sulla dal dalla alla"
    ),
    "Dutch": (
        "twee drie vier vijf zes zeven acht negen tien twaalf twintig jaar jaren maand maanden weken dagen uur uren "
        "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag januari februari maart mei juni juli augustus "
        "oktober ja nee alleen ongeveer niet geen een het met voor naar bij ook maar zonder tussen sinds elke moet "
        "wordt worden zijn weegt kost duurt onder naast"
    ),
    "Finnish": (
        "kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen vuotta vuosi vuoden kuukautta viikkoa "
        "viikon päivää päivän tuntia maanantai tiistai keskiviikko torstai perjantai lauantai sunnuntai tammikuu "
        "helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu kyllä vain "
        "noin joka kello ja ei ole oli että kun jos mutta myös sekä ovat pitää voi tai ilman ennen jälkeen kanssa "
        "euroa metriä kiloa hinta nimi sijaitsee maksaa painaa kestää"
    ),
    "Estonian": (
        "kaks kolm neli viis kuus seitse kaheksa üheksa kümme aastat aasta kuud nädalat päeva tundi jah ainult umbes "
        "ja ei on oli kui aga ka või ilma enne pärast kuni"
    ),
    "Polish": (
        "dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć lata lat rok miesięcy miesiące tygodnie tygodni dni "
        "godzin godziny poniedziałek wtorek środa czwartek piątek sobota niedziela tak nie tylko około przez dla oraz "
        "jest są był była jak przy bez każdy musi może"
    ),
    "Swedish": (
        "två tre fyra fem sex sju åtta nio tio tolv år månader veckor dagar timmar måndag tisdag onsdag torsdag fredag "
        "lördag söndag nej bara ungefär inte och är för med från till under varje måste också ingen utan mellan"
    ),
    "Danish": (
        "tre fire fem seks syv otte ni ti tolv år måneder uger dage timer mandag tirsdag onsdag torsdag fredag lørdag "
        "søndag nej kun omkring ikke og er med fra til hver skal også ingen uden mellem bliver"
    ),
    "Turkish": (
        "iki üç dört beş altı yedi sekiz dokuz on yıl yıldır ay hafta gün saat pazartesi salı çarşamba perşembe cuma "
        "cumartesi pazar ocak şubat nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık evet hayır sadece "
        "yalnızca yaklaşık kadar için ile değil her sonuna sürer"
    ),
    "Indonesian": (
        "dua tiga empat lima enam tujuh delapan sembilan sepuluh tahun bulan minggu hari jam senin selasa rabu kamis "
        "jumat sabtu ya tidak hanya sekitar sampai yang dan dengan untuk dari setiap harus"
    ),
    "Romanian": (
        "doi două trei patru cinci șase șapte opt nouă zece ani luni săptămâni zile ore marți miercuri joi vineri "
        "sâmbătă duminică nu doar aproximativ până este sunt pentru cu fără și"
    ),
    "Czech": (
        "dva dvě tři čtyři pět šest sedm osm devět deset roky let rok měsíce měsíců týdny týdnů dny hodin pondělí "
        "úterý středa čtvrtek pátek sobota neděle ano ne jen asi přibližně není jsou byl pro při bez každý musí"
    ),
    "Hungarian": (
        "két kettő három négy öt hat hét nyolc kilenc tíz év évig hónap hét nap óra hétfő kedd szerda csütörtök péntek "
        "szombat vasárnap igen nem csak körülbelül és van volt vagy minden kell"
    ),
    "Latvian or Lithuanian": "trīs gadi gadus mēneši treji trys metai metų mėnesiai dienos nė ne taip tik",
    "Croatian, Serbian or Slovenian": "tri dvije godine godina leta mjeseca dana sata samo oko nije jest nisu svaki",
    "Vietnamese": "năm tháng tuần ngày giờ không có chỉ khoảng của và là được cho với những hai bốn",
}
# Words that also occur in English or in names. They count only together with others.
_SHARED = {
    "German": "der die das des dem den ein im am um an in von zu auf aus bei bis alle rund war hat mai juni juli april",
    "French": "le la les l un d de du des en au aux ou et sur par ne pas se ce que qui six mars mai",
    "Spanish": "el la los las un de del en y o a al no es se lo su que",
    "Portuguese": "são o a os as um de da do dos das em e é se que ao",
    "Italian": "il lo la gli le un di da del della dei e è a al in non si che sei",
    "Dutch": "de in van op te en is er om uit week over",
    "Finnish": "on en se hän",
    "Swedish": "i en ett att det som på av den de om av har vi kan",
    "Danish": "i en et at det som på af den de om har vi kan to under",
    "Polish": "i w na z do po od o to",
    "Czech": "a v na z do od o s to je",
    "Hungarian": "a az egy is hogy",
    "Turkish": "bir bu da de ve en mart",
    "Indonesian": "di ke ini itu pada",
    "Romanian": "da de la un o în din pe",
}
_WORDS = {
    language: (word_set(words), word_set(_SHARED.get(language, ""))) for language, words in _TYPICAL_WORDS.items()
}
# English words, and foreign words used in English or in names. They do not count for any language.
_ENGLISH = word_set(
    "a an the of and to in is it that for was on are with as at be this have from by not or were which you has "
    "had but they their its his her can will would there been if when who more no than two four five years does "
    "after i we he she me my do so our your about only until most am also every each one into over under off out "
    "up down all any some made eat open man men die war hat six sex ten once main come list sale note dose pour "
    "pain rates total tax name fire timer elf tag solo agosto sat ore dan due pop data van per son nine april may "
    "how what where pesos cost costa doi cu fem se hun kun med hum joke vain noon let rok ni pro"
)
_LETTERS = {
    "German": "ß",
    "Polish": "łąężźśń",
    "Czech": "řěů",
    "Turkish": "ğışİ",
    "Hungarian": "őű",
    "Romanian": "șță",
    "Danish": "øæ",
    "Swedish": "å",
    "Finnish": "äö",
    "Estonian": "õ",
    "Latvian or Lithuanian": "āēīūķļņģėųūį",
}
# These words are common in English texts.
_LOANS = word_set(
    "über doppelgänger smörgåsbord façade naïve jalapeño führer brötchen gemütlich ångström gödel schrödinger möbius"
)
_GERMAN_NUMBERS = word_set("zwei drei vier fünf sechs sieben acht neun zehn zwölf zwanzig nur etwa ungefähr nach ohne")
_PHRASES = frozenset(("est la vie", "raison être", "à la carte", "coup état", "crème de la crème", "je ne sais quoi"))
_FINNISH = re.compile(
    r"\w{2,}(?:ssa|ssä|sta|stä|lla|llä|lta|ltä|lle|ksi|tta|ttä|aan|ään|een|iin|inen|isin|vat|vät|ii|uu|yy|ää|öö|ua|oa|eä|aa|kää)"
)
_MOST_WORDS = 12
OTHER = "another European language"


def short_language(words: Sequence[str]) -> str:
    """Return the language of at most twelve words; "" for English and uncertain texts."""
    plain = [word.casefold() for word in words]
    alone = len(words) == 1 and words[0][0].isupper() and plain[0] not in _GERMAN_NUMBERS
    if not words or alone or len(words) > _MOST_WORDS or " ".join(plain) in _PHRASES:
        return ""
    scores = {
        language: _score(plain, words, *known, capitals=language == "German") for language, known in _WORDS.items()
    }
    language, best = max(scores.items(), key=lambda pair: pair[1])
    if best > 0:
        return language
    if len(words) < 2:
        return ""
    language = _by_letters([word for word in words if word[0].islower() and word not in _LOANS], len(words))
    own = _WORDS.get(language, (frozenset(), frozenset()))
    if any(word in _ENGLISH and word not in own[0] | own[1] for word in plain):
        return ""
    return language


def _score(
    plain: Sequence[str], words: Sequence[str], content_words: frozenset[str], shared: frozenset[str], *, capitals: bool
) -> float:
    """Return the score of a language; 0 if too little supports it.

    capitals: whether the language capitalises nouns, so that capitalised words are not names.
    """
    lower = [
        low for index, (word, low) in enumerate(zip(words, plain, strict=True)) if capitals or not index or word == low
    ]
    typical_count = sum(word in content_words and word not in _ENGLISH for word in lower)
    shared_count = sum(word in shared and word not in _ENGLISH for word in plain)
    english_count = sum(word in _ENGLISH and word not in content_words | shared for word in plain)
    known_count = sum(word in content_words or word in shared for word in plain)
    if english_count and english_count >= typical_count:
        return 0.0
    if typical_count and 3 * known_count >= len(plain) and not (typical_count == 1 and _is_name(words, content_words)):
        return 2.0 * typical_count + shared_count
    others = [word for word, low in zip(words, plain, strict=True) if low not in content_words and low not in shared]
    if (
        typical_count + shared_count >= 2
        and 2 * known_count >= len(plain)
        and all(word[0].islower() for word in others)
        and not english_count
    ):
        return float(shared_count)
    return 0.0


def _is_name(words: Sequence[str], content_words: frozenset[str]) -> bool:
    """Return whether all words are capitalised and none is a number or a span of time."""
    if len(words) < 2 or not all(word[0].isupper() for word in words):
        return False
    low = [word.casefold() for word in words]
    return not any(word in content_words for word in low[1:]) and not (
        "jahre" in content_words and low[0] in _GERMAN_NUMBERS
    )


def _by_letters(words: Sequence[str], count: int) -> str:
    """Return the language by letters that English lacks and by the form of Finnish words; "" if none fits.

    words: lower-case words of the text. count: number of all its words.
    """
    shaped = sum(_FINNISH.fullmatch(word) is not None for word in words)
    if shaped >= 2 and 2 * shaped >= count:
        return "Finnish"
    letters = set("".join(words))
    found: Mapping[str, int] = {language: len(letters & set(own)) for language, own in _LETTERS.items()}
    language, best = max(found.items(), key=lambda pair: pair[1])
    if best:
        return language
    return OTHER if letters & set("üčšžć") else ""
