"""Parse .eml files: the message and its attachments."""

from __future__ import annotations

import email
import email.policy
import io
from collections.abc import Iterator
from email.message import EmailMessage
from typing import IO

from data.documents import Document
from data.parsing.archives import MemberParser
from data.parsing.declared_encoding import decode_declared
from data.parsing.decoding import decode, one_line, storable_text
from data.parsing.errors import ParseError
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Item, NumberedDocument, Origin
from data.parsing.plain_text import read_limited
from data.parsing.web_pages import read_page
from data.refused import Refused, part, printable

_SHOWN_HEADERS = ("From", "To", "Cc", "Date")
_MAX_ATTACHMENTS = 1000


def parse_mail(file: IO[bytes], origin: Origin, limits: ParsingLimits, parse_member: MemberParser) -> Iterator[Item]:
    """Yield the message as one document, then the documents of each attachment as ``mail.eml/name``.

    The text starts with the lines From, To, Cc and Date; the plain form of the message is preferred. The title is the
    subject. The metadata are ``from`` and ``date``, and ``member`` for attachments. Raises ParseError if the file has
    no mail headers or too many attachments.
    """
    message = email.message_from_bytes(read_limited(file, limits.file_bytes), policy=email.policy.default)
    if not isinstance(message, EmailMessage) or not any(name in message for name in (*_SHOWN_HEADERS, "Subject")):
        raise ParseError("it has no mail headers")
    headers = {name: one_line(str(message.get(name, ""))) for name in (*_SHOWN_HEADERS, "Subject")}
    body = _body(message)
    if body.strip():
        head = "\n".join(f"{name}: {headers[name]}" for name in _SHOWN_HEADERS if headers[name])
        metadata = origin.metadata_with(("from", headers["From"]), ("date", headers["Date"]))
        text = f"{head}\n\n{body.strip()}" if head else body.strip()
        yield Document(origin.document_id, headers["Subject"], text, metadata)
    else:
        yield part(origin.where, "the message has no text")
    for number, attachment in enumerate(message.iter_attachments(), start=1):
        if number > _MAX_ATTACHMENTS:
            raise ParseError(f"it has more than {_MAX_ATTACHMENTS:,} attachments")
        yield from _attachment(attachment, number, origin, limits, parse_member)


def _attachment(
    attachment: EmailMessage, number: int, origin: Origin, limits: ParsingLimits, parse_member: MemberParser
) -> Iterator[Item]:
    inner_mail = attachment.get_content_type() == "message/rfc822"
    name = printable(attachment.get_filename() or f"part {number}{'.eml' if inner_mail else ''}").replace("/", "_")
    where = f"{origin.where}/{name}"
    if origin.depth >= limits.depth:
        yield Refused(where, f"the limit is {limits.depth} nested mails and archives: save it as a separate file")
        return
    inner = Origin(where, f"{origin.document_id}/{name}", origin.inside("member", name), origin.depth + 1)
    try:
        payload = attachment.get_content() if not inner_mail else attachment.get_content().as_bytes()
        raw = payload.encode() if isinstance(payload, str) else bytes(payload)
        for item in parse_member(io.BytesIO(raw), inner, limits):
            yield item.document if isinstance(item, NumberedDocument) else item
    except ParseError as error:
        yield Refused(where, str(error))
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        yield Refused(where, f"the attachment cannot be decoded ({one_line(str(error), 100)})")


def _body(message: EmailMessage) -> str:
    found = message.get_body(preferencelist=("plain", "html"))
    if found is None:
        return ""
    raw = found.get_payload(decode=True)
    content = raw if isinstance(raw, bytes) else b""
    charset = found.get_content_charset()
    if found.get_content_subtype() == "html":
        if charset is None:
            return read_page(decode_declared(content).text).body.text()
        return read_page(str(found.get_content())).body.text()
    try:
        return storable_text(content.decode(charset) if charset else decode(content).text)
    except (LookupError, UnicodeDecodeError):
        return decode(content).text
