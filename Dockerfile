# syntax=docker/dockerfile:1
# Servers and workers of Plumbline: one image, several commands (docs/deployment.md).
#   docker build --tag plumbline .                                     CPU
#   docker build --tag plumbline --build-arg TORCH=cu130 .             NVIDIA GPUs, by torch's own CUDA libraries
ARG PYTHON=3.11

FROM python:${PYTHON}-slim-bookworm AS build
# Which of PyTorch's builds: cpu, or a CUDA version such as cu130.
ARG TORCH=cpu
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /source
RUN python -m venv /opt/plumbline
# torch by itself: a change of the source does not fetch it again.
COPY constraints.txt ./
RUN version="$(sed -n 's/^torch==//p' constraints.txt)" \
    && /opt/plumbline/bin/pip install --constraint constraints.txt \
        --index-url "https://download.pytorch.org/whl/${TORCH}" --extra-index-url https://pypi.org/simple "torch==${version}"
COPY . ./
RUN /opt/plumbline/bin/pip install --constraint constraints.txt '.[postgresql]'

FROM python:${PYTHON}-slim-bookworm
RUN groupadd --system --gid 10001 plumbline \
    && useradd --system --uid 10001 --gid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin plumbline \
    && install --directory --owner 10001 --group 10001 --mode 0700 /data
COPY --from=build /opt/plumbline /opt/plumbline
# The root file system may be read-only: data goes to /data, everything that may be lost to /tmp.
ENV PATH=/opt/plumbline/bin:$PATH \
    PLUMBLINE_HOME=/data \
    HOME=/tmp \
    NUMBA_CACHE_DIR=/tmp/numba \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 10001:10001
VOLUME /data
WORKDIR /tmp
EXPOSE 8000
# Of a server. A worker has its own (compose.yaml).
HEALTHCHECK --interval=15s --timeout=10s --start-period=120s --retries=3 \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/readyz', timeout=8)"]
ENTRYPOINT ["plumbline"]
CMD ["serve", "--host", "0.0.0.0"]
