"""The loaders of documents and questions."""

from data.document_loader import iter_documents, load_documents
from data.question_loader import load_question_files, load_questions
from data.refused import Refused

__all__ = ["Refused", "iter_documents", "load_documents", "load_question_files", "load_questions"]
