"""Settings from the environment (PLUMBLINE_*)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from data.blank import is_blank
from evaluation.audits.audit import check_audit_rate
from evaluation.errors import EvaluationError


class Settings(BaseSettings):
    """Settings of storage, models and limits. Each field is read from the environment variable PLUMBLINE_<NAME>.

    An empty variable counts as unset, because unit files and compose files turn an unset ``${NAME}`` into an empty
    string.
    """

    model_config = SettingsConfigDict(env_prefix="PLUMBLINE_", env_ignore_empty=True, extra="ignore", frozen=True)

    home: Path = Field(default=Path("~/.plumbline"), description="data directory, with the database and the indexes")
    database: str = Field(default="", description="SQLAlchemy URL; by default a SQLite file in home")
    encoder: str = Field(
        default="", description="sentence-transformers folder or hub ID; by default MiniLM, which is included"
    )
    encoder_precision: Literal["fp32", "bf16", "auto"] = Field(
        default="auto",
        description="precision of passage embeddings: fp32, bf16 or auto (that of the collection; for a new one bf16 "
        "if the CPU supports it)",
    )
    vectors: Literal["", "local", "pgvector", "milvus"] = Field(
        default="",
        description="where the index of a new collection is stored: local (files in home, default), pgvector or milvus",
    )
    pgvector_url: SecretStr = Field(
        default=SecretStr(""),
        description="PostgreSQL URL for indexes in pgvector; by default database, if that is PostgreSQL",
    )
    milvus_url: str = Field(
        default="", description="http://HOST:19530, or a file ending in .db (Milvus Lite); by default one in home"
    )
    milvus_token: SecretStr = Field(default=SecretStr(""), description="user:password or API key of the Milvus server")
    model: str = Field(
        default="",
        description="model that writes the answers: reader (default), smollm2, decoder, checkpoint folder, FILE.gguf, "
        "transformers:FOLDER or openai:URL#MODEL",
    )
    model_key: SecretStr = Field(default=SecretStr(""), description="API key of the server that model names")
    model_context: int = Field(default=4096, ge=16, description="context length of that server, in tokens")
    model_parallel: int = Field(default=8, ge=1, le=1024, description="maximum concurrent requests to that server")
    precision: Literal["", "fp32", "bf16", "int8", "int4", "auto"] = Field(
        default="",
        description="precision of a decoder's weights: fp32, bf16, int8, int4 or auto; default fp32, on a GPU bf16",
    )
    prompt: str = Field(default="", description="prompt template file of a language model; see plumbline prompts")
    device: str = Field(default="auto", description="auto (a GPU if there is one), cpu, cuda or cuda:N")
    max_question_characters: int = Field(default=20_000, ge=1, description="maximum characters of a question")
    max_samples: int = Field(default=32, ge=1, description="maximum samples of one question")
    max_active: int = Field(default=64, ge=1, description="maximum number of concurrent requests")
    max_queue: int = Field(default=128, ge=1, description="maximum number of waiting requests")
    max_request_s: float = Field(default=600.0, gt=0, description="timeout of one request, in seconds")
    max_upload_mb: int = Field(default=200, ge=1, description="maximum size of an upload, in megabytes")
    max_bodies_mb: int = Field(
        default=64, ge=16, description="maximum memory of all concurrent request bodies, in megabytes"
    )
    keep_queries_days: float = Field(default=0.0, ge=0, le=36_500, description="days that queries are kept; 0: forever")
    audit_rate: float = Field(
        default=0.0, description="share of the service's queries that are drawn for audits; 0: none"
    )
    min_free_memory_mb: int = Field(
        default=256, ge=0, description="free memory below which requests are refused; 0: no limit"
    )

    @field_validator("home", mode="before")
    @classmethod
    def _named(cls, home: object) -> object:
        if is_blank(str(home)):
            raise ValueError("the path is empty: unset it for ~/.plumbline")
        return home

    @field_validator("audit_rate")
    @classmethod
    def _share(cls, rate: float) -> float:
        try:
            return check_audit_rate(rate)
        except EvaluationError as error:
            raise ValueError(str(error)) from error

    @classmethod
    def for_home(cls, home: Path | None) -> Settings:
        """Return the environment's settings. home: data directory that overrides the environment's, unless None."""
        return cls() if home is None else cls(home=home)

    @property
    def home_folder(self) -> Path:
        """The data directory as an absolute path, with ``~`` expanded."""
        return self.home.expanduser().absolute()

    @property
    def database_url(self) -> str:
        """The SQLAlchemy URL of the database."""
        return self.database or f"sqlite:///{self.home_folder / 'plumbline.db'}"
