"""Compare answer and reference by characters, for Chinese, Japanese, Korean and Thai."""

from __future__ import annotations

import re

from evaluation.language.unspaced import unspaced_form
from evaluation.verifiers.match import HALF, Match

_BEFORE = re.compile(r"(?:不是|并非|並非|不|没有|沒有|非|未|没|沒|除了|ไม่ใช่|ไม่|안|못)[^\d]{0,2}$")
_AFTER = re.compile(
    r"^[^\d]{0,3}?(?:ではありません|ではない|ではなく|じゃない|でない|以外|이아닙니다|가아닙니다|이아니|가아니|"
    r"아니|아닌|是错|是錯|不对|不對|不是)"
)
_OR = re.compile(r"或者|或|还是|還是|または|あるいは|もしくは|또는|이나|หรือ")
_VALUE = re.compile(r"(\d+(?:\.\d+)?)(周|年|个月|小时|日|分|km|kg|m|元|円|원|%|人|个|個|개|명|月|岁|歳|セ|\D?)")
_YES = re.compile(r"^(?:是的|是|对|對|有|可以|能|はい|ええ|네|예|그렇습니다|ใช่)")
_NO = re.compile(r"^(?:不是|不|没有|沒有|否|いいえ|いや|아니요|아니오|아니|ไม่)")


def compare_unspaced(answer: str, reference: str) -> Match:
    """Compare an answer with a reference by characters.

    The answer is supported if it contains the reference, does not negate it, and gives no other value with its unit.
    """
    a, r = unspaced_form(answer), unspaced_form(reference)
    if a == r:
        return Match("supported", 1.0, "equals the reference")
    if _NO.fullmatch(r) or _YES.fullmatch(r):
        reference_is_no, answer_is_no = bool(_NO.match(r)), bool(_NO.match(a))
        if not answer_is_no and not _YES.match(a):
            return Match("unverifiable", 0.0, "the reference says yes or no, the answer says neither")
        if reference_is_no == answer_is_no:
            return Match("supported", 1.0, "says yes or no as the reference does")
        return Match("contradicted", 0.0, "answers yes but the reference no, or the reverse")
    index = _offset_of(a, r)
    if index is None:
        wanted_values, given_values = _VALUE.findall(r), _VALUE.findall(a)
        rival = any(
            unit == other and value != number for value, unit in wanted_values for number, other in given_values
        )
        if rival:
            return Match("contradicted", 0.0, "gives another value than the reference")
        return Match("unverifiable", 0.0, "does not give the reference")
    before, after = a[:index], a[index + len(r) :]
    if _BEFORE.search(before) or _AFTER.match(after):
        return Match("contradicted", 0.0, "the answer denies the reference")
    if _OR.search(a) and not _OR.search(r):
        return Match("unverifiable", HALF, "the answer offers alternatives")
    for value, unit in _VALUE.findall(r):
        others = {number for number, other in _VALUE.findall(a) if other == unit}
        if unit and others - {value} - {number for number, _ in _VALUE.findall(r)}:
            return Match("unverifiable", HALF, "the answer gives several values")
    return Match("supported", 1.0, "contains the reference")


def _offset_of(a: str, r: str) -> int | None:
    """Return the offset of the reference in the answer, not inside a longer number; None if there is none."""
    if not r:
        return None
    for match in re.finditer(re.escape(r), a):
        left, right = a[match.start() - 1 : match.start()], a[match.end() : match.end() + 1]
        cut_left = r[0].isdigit() and (left.isdigit() or left == ".")
        cut_right = r[-1].isdigit() and (
            right.isdigit() or (right == "." and a[match.end() + 1 : match.end() + 2].isdigit())
        )
        if not cut_left and not cut_right:
            return match.start()
    return None
