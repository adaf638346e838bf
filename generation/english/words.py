"""Lists of lower-case English words: function words, and nouns and names by type."""

from __future__ import annotations

from model.english import CARDINALS, TENS, word_set

DETERMINERS = word_set("the a an this that these those its his her their our my your each every some any no all both")
PREPOSITIONS = word_set(
    "in on at by for with from of to into during through over under between among against within without after before "
    "about above across along around as behind below beneath beside besides beyond despite except inside like near off "
    "onto outside per since throughout till toward towards until upon via amid amongst alongside"
)
PRONOUNS = word_set("he she it they we i you him her them us me himself herself itself themselves one")
SUBJECT_PRONOUNS = word_set("he she it they")
CONJUNCTIONS = word_set("and or but nor yet")
SUBORDINATORS = word_set(
    "that which who whom whose where when while although though because if unless whereas whether since until as so "
    "than how why what once whenever wherever whereby"
)
MODALS = word_set("can could may might must shall should will would")
BE = {"is": "be", "are": "be", "was": "be", "were": "be"}
AUXILIARIES = frozenset((*MODALS, *BE, "has", "have", "had", "do", "does", "did"))
NOT_FINITE = word_set("be been being having")
ADVERBS = word_set(
    "also not never often usually generally however therefore thus then now still even just only already later "
    "soon again almost always sometimes perhaps instead moreover furthermore nevertheless eventually together once "
    "twice there here very quite rather too most more less least much far well ever yet further long initially "
    "largely mainly mostly partly first originally subsequently formerly currently recently finally primarily "
    "especially particularly approximately nearly roughly about around"
)
VAGUE = word_set(
    "one ones thing things way ways part parts number numbers time times example examples case cases fact result "
    "results term terms other others same such some any many much most more several few various certain another "
    "people person addition order form forms kind kinds type types lot rest end use place places point points basis "
    "either neither own certain possible many other further additional similar means view set series variety range "
    "majority first second last latter former following update"
)
"""Words that are not an answer on their own, and cannot describe the answer in a question."""

PLAIN_ADJECTIVES = word_set(
    "good bad best worst new old large small big great many different important major minor main various local late "
    "early short long high low several recent larger smaller higher lower greater famous common similar separate "
    "significant considerable current present whole entire"
)
"""Adjectives that are not useful answers."""

SCALES = word_set("hundred thousand million billion trillion dozen")
NUMBER_WORDS = frozenset((*CARDINALS[2:], *TENS)) | SCALES
ORDINALS = word_set("first second third fourth fifth sixth seventh eighth ninth tenth")
UNITS = word_set(
    "km kilometres kilometers miles mile metres meters metre meter feet foot ft inches inch cm mm kg kilograms grams g "
    "tonnes tons pounds lb acres hectares mph kph degrees hz mhz ghz volts watts mw kw gb mb litres liters gallons "
    "hours minutes seconds days weeks months years decades centuries"
)
QUANTITY_OF_UNIT = {
    "how long": word_set("hours minutes seconds days weeks months years decades centuries"),
    "how far": word_set("miles km kilometres kilometers"),
}

NATIONALITIES = word_set(
    "american british english scottish welsh irish french german italian spanish portuguese dutch belgian swiss "
    "austrian hungarian polish czech slovak russian ukrainian greek turkish swedish norwegian danish finnish "
    "icelandic romanian bulgarian serbian croatian bosnian albanian chinese japanese korean indian pakistani "
    "iranian persian iraqi israeli jewish arab egyptian moroccan ethiopian nigerian kenyan ghanaian canadian "
    "mexican brazilian argentine chilean peruvian colombian cuban australian indonesian thai vietnamese filipino "
    "roman byzantine ottoman soviet european african asian latin catholic protestant muslim islamic buddhist hindu "
    "christian orthodox mongol armenian georgian estonian latvian lithuanian maltese lebanese syrian malaysian"
)

LANGUAGES = NATIONALITIES | word_set(
    "malay sanskrit hebrew hindi mandarin cantonese swahili tamil urdu bengali farsi gaelic yiddish aramaic catalan"
)

COUNTRIES = word_set(
    "france germany italy spain portugal england scotland wales ireland britain russia china japan india pakistan iran "
    "iraq israel egypt turkey greece poland austria hungary sweden norway denmark finland belgium netherlands "
    "switzerland canada mexico brazil argentina chile peru colombia cuba australia indonesia thailand vietnam korea "
    "ukraine romania bulgaria serbia croatia ethiopia nigeria kenya ghana morocco algeria tunisia libya syria lebanon "
    "jordan afghanistan bangladesh malaysia singapore philippines cambodia laos burma mongolia zimbabwe uganda sudan "
    "angola mozambique somalia haiti jamaica bolivia ecuador venezuela paraguay uruguay panama iceland estonia latvia "
    "lithuania armenia azerbaijan belarus kazakhstan uzbekistan yugoslavia czechoslovakia"
)

TITLES = word_set(
    "mr mrs ms dr sir lord lady king queen prince princess emperor empress president pope saint st general captain "
    "colonel admiral professor duke count earl baron bishop archbishop senator governor chancellor minister judge "
    "cardinal sultan tsar czar caliph major lieutenant commander"
)
PERSON_NOUNS = word_set(
    "actor actress architect artist author biologist chemist composer director economist emperor engineer explorer "
    "general historian inventor journalist king lawyer leader mathematician minister monk musician novelist "
    "painter philosopher physicist pianist player playwright poet politician pope president professor psychologist "
    "queen scientist sculptor singer soldier sociologist theologian writer astronomer botanist critic dramatist editor "
    "geologist guitarist linguist naturalist physician producer scholar footballer athlete businessman activist "
    "revolutionary monarch ruler bishop priest producer founder designer theorist wife husband brother sister son "
    "daughter father mother student king emperor man woman people workers scientists leaders"
)
GIVEN_NAMES = word_set(
    "john william james george charles henry robert thomas edward david richard michael peter paul joseph louis "
    "alexander frederick albert arthur francis samuel daniel benjamin walter frank martin isaac philip stephen andrew "
    "mark anthony jean karl carl friedrich johann wilhelm ludwig hans max otto ernst heinrich pierre jacques claude "
    "antonio giovanni giuseppe francesco marco luis carlos jose juan pedro miguel ivan vladimir nikolai sergei leo "
    "leon mary elizabeth anne anna maria margaret jane catherine sarah alice helen emily charlotte marie emma julia "
    "christopher matthew nicholas jonathan adam abraham noah simon timothy patrick kevin brian gary steve bill bob "
    "jim jack joe tom harry ronald donald douglas howard harold herbert ernest eugene oscar hugh roger ralph raymond "
    "muhammad ali ahmed hassan abdullah omar kenneth alan allan eric jeff larry bruce scott ben sam fred edgar"
)
GROUP_HEADS = {
    "university": "university",
    "college": "college",
    "school": "school",
    "institute": "institute",
    "company": "company",
    "corporation": "company",
    "inc": "company",
    "ltd": "company",
    "records": "record label",
    "bank": "bank",
    "party": "party",
    "army": "army",
    "church": "church",
    "council": "council",
    "court": "court",
    "committee": "committee",
    "association": "association",
    "society": "society",
    "union": "union",
    "empire": "empire",
    "dynasty": "dynasty",
    "republic": "republic",
    "kingdom": "kingdom",
    "commission": "commission",
    "museum": "museum",
    "library": "library",
    "academy": "academy",
    "foundation": "foundation",
    "agency": "agency",
    "war": "war",
    "wars": "wars",
    "battle": "battle",
    "revolution": "revolution",
    "treaty": "treaty",
    "act": "law",
    "prize": "prize",
    "award": "award",
    "awards": "awards",
    "medal": "medal",
    "river": "river",
    "lake": "lake",
    "sea": "sea",
    "ocean": "ocean",
    "mountains": "mountains",
    "mount": "mountain",
    "island": "island",
    "islands": "islands",
    "city": "city",
    "county": "county",
    "province": "province",
    "street": "street",
    "bridge": "bridge",
    "park": "park",
    "castle": "castle",
    "palace": "palace",
    "temple": "temple",
    "airport": "airport",
    "station": "station",
    "theatre": "theatre",
    "theater": "theater",
    "league": "league",
    "club": "club",
    "team": "team",
    "band": "band",
    "orchestra": "orchestra",
    "language": "language",
    "theory": "theory",
    "law": "law",
    "theorem": "theorem",
    "conference": "conference",
    "parliament": "parliament",
    "congress": "congress",
    "senate": "senate",
    "department": "department",
    "ministry": "ministry",
    "hospital": "hospital",
    "prison": "prison",
    "festival": "festival",
    "cup": "cup",
    "games": "games",
    "valley": "valley",
    "peninsula": "peninsula",
    "desert": "desert",
    "times": "newspaper",
    "press": "publisher",
}
"""Last word of a name -> noun that a question uses for it ("records" -> "record label")."""

PLACE_HEADS = word_set(
    "river lake sea ocean mountains mount island islands city county province street bridge park castle palace "
    "temple airport station theatre theater valley peninsula desert republic kingdom empire university"
)
