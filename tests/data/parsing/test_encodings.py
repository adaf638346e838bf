"""Files in the encodings of the web, with and without a declaration."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from data.documents import Document
from data.loaders import Refused
from data.parsing.decoding import decode

Read = Callable[..., list[Document | Refused]]

PHRASES = {
    "ru": "Насос поставляется с фильтром. Запасные части заказывают отдельно.",
    "uk": "Насос постачають із фільтром, його замінюють щороку.",
    "pl": "Pompa jest dostarczana z filtrem, części zamienne są osobno płatne.",
    "cs": "Čerpadlo se dodává s filtrem; náhradní díly jsou účtovány zvlášť.",
    "el": "Η αντλία παραδίδεται με φίλτρο. Τα ανταλλακτικά χρεώνονται χωριστά.",
    "he": "המשאבה מגיעה עם מסנן. חלקי חילוף נמכרים בנפרד.",
    "ar": "تأتي المضخة مع مرشح وتباع قطع الغيار على حدة.",
    "tr": "Pompa filtre ile birlikte gönderilir, yedek parçalar ayrı satılır. Işığı açın.",
    "de": "Die Pumpe wird mit Filter geliefert; Ersatzteile für größere Geräte kosten extra.",
    "zh": "水泵附带过滤器。备件需要另外订购。",
    "tw": "水泵附帶過濾器。備件需要另外訂購。",
    "ja": "ポンプにはフィルターが付属します。交換部品は別売りです。",
    "ko": "펌프에는 필터가 함께 제공됩니다. 예비 부품은 따로 판매합니다.",
    "th": "ปั๊มน้ำมาพร้อมกับตัวกรอง อะไหล่ขายแยกต่างหาก",
}
UNDECLARED = [
    ("ru", "cp1251"),
    ("ru", "koi8-r"),
    ("ru", "cp866"),
    ("ru", "iso8859-5"),
    ("uk", "cp1251"),
    ("pl", "cp1250"),
    ("pl", "iso8859-2"),
    ("cs", "cp1250"),
    ("cs", "iso8859-2"),
    ("el", "cp1253"),
    ("he", "cp1255"),
    ("ar", "cp1256"),
    ("ar", "iso8859-6"),
    ("tr", "cp1254"),
    ("de", "cp1252"),
    ("zh", "gbk"),
    ("tw", "big5"),
    ("ja", "shift_jis"),
    ("ja", "euc_jp"),
    ("ja", "iso2022_jp"),
    ("ko", "euc_kr"),
    ("th", "tis-620"),
]


@pytest.mark.parametrize(("language", "codec"), UNDECLARED)
def test_undeclared_text_is_recognised_and_noted(language: str, codec: str) -> None:
    decoded = decode(PHRASES[language].encode(codec))
    assert decoded.text == PHRASES[language]
    assert decoded.encoding


@pytest.mark.parametrize(("language", "codec"), [("ru", "cp1251"), ("ja", "shift_jis"), ("pl", "iso8859-2")])
@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.html", "a.csv"])
def test_every_kind_of_text_file_is_detected(here: Read, name: str, language: str, codec: str) -> None:
    phrase = PHRASES[language]
    [item] = here(name, (f"text\n{phrase}\n" if name.endswith("csv") else phrase).encode(codec))
    assert isinstance(item, Document)
    assert item.text == phrase
    assert dict(item.metadata)["encoding"]


def test_a_long_english_head_does_not_hide_the_letters_that_tell() -> None:
    text = "All figures are in euros.\n" * 20_000 + PHRASES["ru"]
    assert decode(text.encode("cp1251")).text == text


@pytest.mark.parametrize("text", ["It’s 25 °C ± 2 µm.", "He said “no” – £5…", "§ 4: 3 × 4 ½"])
def test_signs_without_letters_are_windows_1252(text: str) -> None:
    assert decode(text.encode("cp1252")).text == text


def page(label: str, text: str, codec: str, before: str = "") -> bytes:
    return f"<html><head>{before}<meta charset='{label}'></head><body><p>{text}</p>".encode(codec)


@pytest.mark.parametrize(
    ("label", "text", "codec"),
    [
        ("GB2312", "镕基先生的水泵", "gbk"),
        ("ks_c_5601-1987", "펲 펌프", "cp949"),
        ("x-sjis", "①ポンプ", "cp932"),
        ("x-euc-jp", "①ポンプ", "euc_jis_2004"),
        ("logical", "משאבה", "iso8859-8"),
        ("TIS-620", "ปั๊มน้ำ “ดี”", "cp874"),
        ("latin1", "“Größe” €", "cp1252"),
        ("x-cp1251", "Насос", "cp1251"),
        ("x-mac-cyrillic", "Насос", "mac-cyrillic"),
        ("big5-hkscs", "水泵嘅", "big5hkscs"),
        ("l2", "część", "iso8859-2"),
        ("unicode-1-1-utf-8", "Größe", "utf-8"),
        ("utf-16", "Größe", "utf-8"),
    ],
)
def test_labels_mean_what_browsers_take_them_for(here: Read, label: str, text: str, codec: str) -> None:
    [item] = here("a.html", page(label, text, codec))
    assert isinstance(item, Document)
    assert item.text == text


@pytest.mark.parametrize(
    "before",
    [
        "<!-- <meta charset='windows-1252'> -->",
        "<script>var meta = \"<meta charset='windows-1252'>\"</script>",
        f"<style>/* {'x' * 5000} */</style>",
        "<meta name='description' content='pumps'>",
    ],
)
def test_only_a_real_meta_element_declares_wherever_it_stands(here: Read, before: str) -> None:
    [item] = here("a.html", page("windows-1251", "Насос", "cp1251", before))
    assert isinstance(item, Document)
    assert item.text == "Насос"


@pytest.mark.parametrize("name", ["a.xhtml", "a.html"])
def test_the_xml_declaration_declares(here: Read, name: str) -> None:
    source = "<?xml version='1.0' encoding='windows-1250'?>\n<html><body><p>żółta</p></body></html>"
    [item] = here(name, source.encode("cp1250"))
    assert isinstance(item, Document)
    assert item.text == "żółta"


@pytest.mark.parametrize("label", ["utf-7", "rot13", "unicode_escape", "no-such-thing", "hex"])
def test_what_no_browser_knows_is_no_declaration(here: Read, label: str) -> None:
    [item] = here("a.html", page(label, "Größe +ADw-", "utf-8"))
    assert isinstance(item, Document)
    assert item.text == "Größe +ADw-"


def test_a_wrong_byte_does_not_lose_a_declared_page(here: Read) -> None:
    source = page("gb2312", "水泵附带过滤器。" * 30, "gbk") + b"\xff"
    [item] = here("a.html", source)
    assert isinstance(item, Document)
    assert item.text.startswith("水泵附带过滤器。")
    assert item.text.count("\ufffd") == 1
