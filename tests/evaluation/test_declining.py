"""Declining in many languages is told from negative statements about the world."""

from __future__ import annotations

import pytest

from evaluation.claims.extraction import extract_claims
from evaluation.claims.sentences import extract_sentences
from evaluation.declining.clauses import declines_elsewhere
from evaluation.declining.refusals import is_refusal

ENGLISH = [
    "The provided passages don't cover that topic.",
    "That information isn't provided.",
    "I wasn't able to locate that information.",
    "There are no details about it in the text.",
    "The excerpts make no mention of a delivery fee.",
    "There isn't enough context to say.",
    "Sorry, I can't help with that.",
    "This question is outside the scope of my knowledge.",
    "I have not been given any information about that.",
    "I'm unable to provide that information.",
    "I cannot provide an answer to this question.",
    "Nothing in the context indicates the price.",
    "The documents don't discuss pricing.",
    "I do not have sufficient data to respond.",
    "The text never mentions it.",
    "The passage does not state how much it costs.",
    "It's not clear from the text.",
    "The answer cannot be found in the provided documents.",
    "Answer unknown",
    "Not provided",
    "No relevant documents were found.",
    "I'm afraid I can't answer that question.",
    "We have no record of that in our documents.",
    "The knowledge base doesn't contain anything about this.",
    "I could not find anything about refunds in the handbook excerpts.",
    "No data available.",
    "Sorry, but the documents do not contain information about the Heron 5.",
    "Unfortunately, there is no information regarding this in the provided text.",
    "I don't have enough context.",
    "The context doesn't specify.",
    "There is nothing in the documents about that.",
    "Based on the provided context, there is no information about the warranty.",
    "The provided text does not contain information about X. Therefore, I cannot answer.",
    "My training data does not include this.",
    "I cannot say for certain.",
    "I cannot tell from the text.",
    "The text offers no information on pricing.",
    "The price isn't listed in the documents.",
    "The answer is not explicitly stated.",
    "It doesn't say.",
    "Can't tell.",
    "I am not aware of any such thing.",
    "No match found",
    "No matching records were found.",
    "I don't have any knowledge of that.",
    "I'm only able to answer questions about the provided documents.",
    "That's beyond what the documents cover.",
    "Your question cannot be answered with the information given.",
    "I'd need more context to answer that.",
    "The documents fail to mention the price.",
    "The sources leave this unclear.",
    "Neither passage mentions the price.",
    "I regret that I cannot answer this.",
    "The documents do not provide a specific date for the opening.",
    "No specific date is mentioned in the documents.",
    "The date is not given in the text.",
    "The documents provided do not answer the question.",
    "None of the provided excerpts mention the fee.",
    "The text gives no indication of who wrote it.",
    "I do not see the answer in the context.",
    "There's no mention of it.",
    "As an AI, I can't browse the internet.",
    "It is not mentioned anywhere in the passages.",
]
ENGLISH_ANSWERS = [
    "No data is collected.",
    "No details were lost in the fire.",
    "We cannot find a fault in the pump.",
    "We cannot confirm bookings by telephone.",
    "I can't tell him.",
    "The guest is not available on Mondays.",
    "It is not known for its beaches.",
    "It is not included in the price.",
    "It isn't available in black.",
    "There is no evidence of a leak.",
    "There is no data on the disk after a reset.",
    "No results were published before 2010.",
    "We are unable to ship batteries by air.",
    "We are not able to provide breakfast.",
    "The materials do not contain any lead.",
    "The collection does not contain any insects.",
    "The content does not contain any nuts.",
    "No, there is no fee.",
    "There is no answer key in the box.",
    "Staff cannot help with tax returns.",
    "The company could not provide the parts in time.",
    "The shop does not offer refunds.",
    "The manual is not included.",
    "Customers are not told the price.",
    "This is not covered by insurance.",
    "No reference is required for the application.",
    "No records are kept.",
    "The fee is not disclosed to customers before the purchase.",
    "The museum has no information desk.",
    "The patient is not aware of the diagnosis.",
    "We do not have a branch in Oslo.",
    "There are no matches in the box.",
    "He was never mentioned again after 1920.",
    "It is unclear water from the pond.",
    "No one knew the password.",
    "The witness could not identify the man.",
    "No passage is allowed after dark.",
    "The tunnel does not provide passage for lorries.",
    "It does not state a price on the tag, it is 5 euros.",
    "You cannot answer the phone during the exam.",
    "We can only help members.",
    "The text messages do not cost anything.",
    "No.",
    "Not applicable to children under 5.",
    "It is not specified on the label but it weighs 5 kg.",
]
ELSEWHERE = [
    "Keine Angabe.",
    "Das geht aus den Dokumenten nicht hervor.",
    "Ich weiß es nicht.",
    "Ich weiß nicht, wie lange die Garantie dauert.",
    "Die Dokumente enthalten keine Informationen dazu.",
    "Leider kann ich diese Frage nicht beantworten.",
    "Das steht nicht im Text.",
    "Die Dauer wird in den Unterlagen nicht erwähnt.",
    "Dazu liegen keine Informationen vor.",
    "Es gibt keine Angaben zur Garantie.",
    "Je ne sais pas.",
    "Désolé, je ne peux pas répondre à cette question.",
    "Les documents ne mentionnent pas la durée de la garantie.",
    "Cette information n'est pas disponible dans les documents fournis.",
    "Je n'ai pas assez d'informations pour répondre.",
    "Aucune information n'est disponible.",
    "No tengo información suficiente para responder.",
    "No lo sé.",
    "No sé cuánto dura la garantía.",
    "Los documentos no mencionan la garantía.",
    "El contexto no contiene información sobre la garantía.",
    "Lo siento, no puedo responder a esa pregunta.",
    "Não sei.",
    "Não há informações sobre isso nos documentos.",
    "O texto não menciona a garantia.",
    "Não é possível responder com base no contexto fornecido.",
    "Non lo so.",
    "Il testo non menziona la garanzia.",
    "Non ci sono informazioni sufficienti.",
    "Ik weet het niet.",
    "De documenten bevatten geen informatie hierover.",
    "Nie wiem.",
    "Kontekst nie zawiera tej informacji.",
    "Brak informacji.",
    "Nem tudom.",
    "Не знаю.",
    "В предоставленных документах нет информации об этом.",
    "К сожалению, я не могу ответить на этот вопрос.",
    "В тексте не указано, сколько длится гарантия.",
    "Информация отсутствует.",
    "我不知道。",
    "根据提供的信息，无法回答该问题。",
    "文档中没有提到保修期。",
    "抱歉，我无法回答这个问题。",
    "没有相关信息。",
    "资料中未提及。",
    "提供的上下文中没有关于该问题的信息。",
    "提供された文書には記載がありません。",
    "わかりません。",
    "申し訳ありませんが、お答えできません。",
    "文書からは判断できません。",
    "その情報は含まれていません。",
    "この文書には保証期間についての情報がありません。",
    "제공된 문서에는 해당 정보가 없습니다.",
    "모르겠습니다.",
    "죄송하지만 답변할 수 없습니다.",
    "문서에 언급되어 있지 않습니다.",
    "मुझे नहीं पता।",
    "दस्तावेज़ों में इसका उल्लेख नहीं है।",
    "माफ़ कीजिए, मैं इस प्रश्न का उत्तर नहीं दे सकता।",
    "इस बारे में कोई जानकारी उपलब्ध नहीं है।",
    "আমি জানি না।",
    "নথিতে এর উল্লেখ নেই।",
    "দুঃখিত, আমি এই প্রশ্নের উত্তর দিতে পারছি না।",
    "এই তথ্য দেওয়া নেই।",
    "لا أعرف.",
    "لا توجد معلومات كافية للإجابة.",
    "عذرًا، لا أستطيع الإجابة على هذا السؤال.",
    "لم تذكر المستندات مدة الضمان.",
    "النص لا يذكر ذلك.",
    "مجھے نہیں معلوم۔",
    "دستاویزات میں اس کا ذکر نہیں ہے۔",
    "معذرت، میں اس سوال کا جواب نہیں دے سکتا۔",
    "Saya tidak tahu.",
    "Dokumen tidak menyebutkan hal itu.",
    "Maaf, saya tidak dapat menjawab pertanyaan ini.",
    "Informasi tidak tersedia.",
    "Bilmiyorum.",
    "Belgelerde bu bilgi yok.",
    "Jag vet inte.",
    "Dokumenten innehåller ingen information om detta.",
    "Det vet jeg ikke.",
    "Nevím.",
    "Δεν γνωρίζω.",
    "Nu știu.",
    "En tiedä.",
    "Tôi không biết.",
    "Không có thông tin trong tài liệu.",
    "نمی\u200cدانم.",
    "ฉันไม่ทราบ",
    "Este dato no figura en el documento.",
    "La respuesta no se encuentra en el contexto.",
    "Der Kontext gibt darüber keinen Aufschluss.",
    "Anhand der vorliegenden Informationen lässt sich das nicht sagen.",
    "Rien dans les sources ne permet de répondre.",
    "Ответ не найден.",
    "À partir du contexte fourni, il est impossible de répondre.",
    "Das ist nicht bekannt.",
]
ELSEWHERE_ANSWERS = [
    "Akkus sind nicht abgedeckt.",
    "Akkus sind abgedeckt.",
    "Die Garantie deckt keine Akkus ab.",
    "Les piles ne sont pas couvertes.",
    "La garantie ne couvre pas les piles.",
    "Las pilas no están cubiertas.",
    "No se permite fumar.",
    "No hay garantía.",
    "No se comparte información con terceros.",
    "Keine Informationen werden an Dritte weitergegeben.",
    "Der Vertrag enthält keine Frist.",
    "Das Dokument muss nicht unterschrieben werden.",
    "Les documents ne contiennent pas de plastique.",
    "电池不在保修范围内。",
    "保修期为三年。",
    "没有通知期。",
    "不允许带狗。",
    "Батареи не покрываются.",
    "Гарантия составляет три года.",
    "Срока уведомления нет.",
    "電池は対象外です。",
    "保証はありません。",
    "बैटरी शामिल नहीं है।",
    "वारंटी तीन साल की है।",
    "البطاريات غير مشمولة.",
    "مدة الضمان ثلاث سنوات.",
    "배터리는 포함되지 않습니다.",
    "Je ne sais pas, mais c'est Paris.",
    "Ich weiß es nicht genau, aber die Garantie beträgt drei Jahre.",
    "No lo sé, pero la garantía dura tres años.",
    "Ich weiß es nicht. Die Garantie beträgt drei Jahre.",
    "Wir können nach 30 Tagen keine Rückerstattung geben.",
    "Der Text nennt keine Gebühr, weil die Lieferung kostenlos ist.",
    "我不知道，但是保修期为三年。",
    "Baterai tidak ditanggung.",
    "As baterias não estão cobertas.",
    "No employees receive a bonus.",
    "It is not covered by the warranty.",
    "The answer is no.",
    "Das Gerät ist nicht wasserdicht.",
    "ব্যাটারি অন্তর্ভুক্ত নয়।",
    "بیٹری شامل نہیں ہے۔",
    "The document does not say that it covers batteries; it covers the screen only.",
    "Saint-Denis",
    "Paris",
    "Nie",
    "Nein",
    "Non",
    "Nein, Akkus sind nicht abgedeckt.",
    "不",
    "无",
    "Kein Zutritt für Unbefugte",
    "La réponse est non.",
    "Er hat keine Antwort auf seinen Brief erhalten.",
    "Les clients n'ont pas accès aux données.",
    "Il contratto non prevede penali.",
    "Nie ma okresu wypowiedzenia.",
]


@pytest.mark.parametrize("text", [*ENGLISH, *ELSEWHERE])
def test_declines(text: str) -> None:
    assert is_refusal(text)


@pytest.mark.parametrize("text", [*ENGLISH_ANSWERS, *ELSEWHERE_ANSWERS])
def test_a_negative_statement_is_an_answer(text: str) -> None:
    assert not is_refusal(text)


def test_a_long_text_in_no_language_is_looked_at_in_linear_time() -> None:
    assert not declines_elsewhere("nicht " * 200_000)


def test_none_declines_where_a_value_is_asked_for() -> None:
    assert is_refusal("None", "How long is the lease?")
    assert not is_refusal("None", "Which of the rooms are heated?")
    assert not is_refusal("none.", "How many stairs are there?")


def test_a_passage_repeated_below_a_refusal_is_no_answer() -> None:
    text = "The documents do not say.\n\n[3] The mill: It burned down in 1820."
    assert extract_claims(text).refused
    assert extract_sentences(text).refused


def test_a_refusal_with_an_answer_behind_it_is_judged_by_the_answer() -> None:
    found = extract_claims("I am not sure. The mill burned down in 1820.")
    assert [c.text for c in found.claims] == ["The mill burned down in 1820."]
    assert not found.refused


def test_a_passage_repeated_below_an_answer_is_no_part_of_it() -> None:
    found = extract_claims("The weavers\n\n[1] The mill: Odo ran it.")
    assert [c.text for c in found.claims] == ["The weavers"]


def test_a_list_behind_a_colon_is_no_repeated_passage() -> None:
    assert "[1] red" in extract_claims("The colours are:\n[1] red\n[2] blue").claims[0].text


@pytest.mark.parametrize(("answer", "declines"), [("Nan", False), ("Na", False), ("nan", True), ("NaN", True)])
def test_a_name_is_no_missing_value(answer: str, declines: bool) -> None:
    assert is_refusal(answer, "Who is the cook?") is declines
