"""Normalise text in scripts without spaces between words (Chinese, Japanese, Thai), and Korean, as characters.

Numbers in Chinese characters become digits, and common units get one form, so that 六周, 6周 and ６週間 are equal.
"""

from __future__ import annotations

import re
import unicodedata
from fractions import Fraction

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_DIGITS = {c: i for i, c in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2, "壹": 1, "贰": 2, "叁": 3}
_TENS = {"十": 10, "百": 100, "千": 1000, "拾": 10, "佰": 100, "仟": 1000}
_SCALES = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "만": 10**4, "억": 10**8}
_RUN = re.compile("[〇零一二三四五六七八九两兩壹贰叁十百千拾佰仟万萬亿億]+")
_SCALED = re.compile("(\\d+(?:\\.\\d+)?)([万萬亿億만억])")
_UNITS = (
    ("週間|星期|礼拜|禮拜|周间|週|주일|주간|주", "周"),
    ("年間|年间|년간|개년|년", "年"),
    ("ヶ月間|か月間|ヶ月|か月|カ月|ヵ月|个月|個月|개월", "个月"),
    ("時間|小时|小時|钟头|시간", "小时"),
    ("日間|天|일간|일", "日"),
    ("分鐘|分钟|分間", "分"),
    ("キロメートル|公里|千米|킬로미터", "km"),
    ("キログラム|公斤|千克|킬로그램", "kg"),
    ("メートル|公尺|米|미터", "m"),
)
_KOREAN_NUMBERS = {"한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9, "열": 10}
_KOREAN = re.compile(
    f"(?<![가-힣])({'|'.join(sorted(_KOREAN_NUMBERS, key=len, reverse=True))}) ?(?=개|주|달|시간|명|번|살|대)"
)


def is_unspaced(text: str) -> bool:
    """Return whether a text contains letters of such a script."""
    return bool(_UNSPACED.search(text))


def unspaced_form(text: str) -> str:
    """Return the text without spaces and punctuation, in lower case, with numbers as digits and units in one form."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    text = _KOREAN.sub(lambda m: str(_KOREAN_NUMBERS[m[1]]), text)
    text = _SCALED.sub(lambda m: str(int(Fraction(m[1]) * _SCALES[m[2]])), text)
    text = _RUN.sub(lambda m: _number(m.group()), text)
    for pattern, unit in _UNITS:
        text = re.sub(rf"(?<=\d)\s*(?:{pattern})", unit, text)
    return "".join(
        c
        for c in text
        if c.isalnum() or c in ".%" or unicodedata.category(c) == "Mn" or unicodedata.category(c) == "Mc"
    )


def _number(run: str) -> str:
    """Convert a number in Chinese characters to digits: 三百五十 is 350, 二〇二一 is 2021."""
    if all(c in _DIGITS for c in run):
        return "".join(str(_DIGITS[c]) for c in run)
    total = section = digit = 0
    for c in run:
        if c in _DIGITS:
            digit = _DIGITS[c]
        elif c in _TENS:
            section, digit = section + (digit or 1) * _TENS[c], 0
        else:
            total, section, digit = total + (section + digit or 1) * _SCALES[c], 0, 0
    return str(total + section + digit)
