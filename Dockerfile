# The base needs python3 (3.11 or later) with venv and pip; both stages use the same one, so that
# the environment made in the first runs in the second.
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
WORKDIR /src
COPY requirements.txt ./
# Exactly the pinned files, by their hashes; then the product, which asks for nothing more.
RUN python3 -m venv /opt/build \
 && python3 -m venv --without-pip /opt/rdma-webhook \
 && /opt/build/bin/pip --python /opt/rdma-webhook/bin/python install --no-cache-dir \
      --require-hashes --requirement requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY policies policies
COPY webhook webhook
COPY certs certs
RUN /opt/build/bin/pip --python /opt/rdma-webhook/bin/python install --no-cache-dir \
      --no-deps --no-build-isolation .

FROM ${BASE}
LABEL org.opencontainers.image.title="rdma-webhook" \
      org.opencontainers.image.description="Equips Kubernetes pods for RDMA from one annotation" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV PATH=/opt/rdma-webhook/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1
COPY --from=build /opt/rdma-webhook /opt/rdma-webhook
USER 65532:65532
EXPOSE 8443 8080
ENTRYPOINT ["rdma-webhook"]
CMD ["serve"]
