"""A llama.cpp server in this process with a tiny model of random weights: real HTTP, real constrained decoding, no download."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import xllamacpp

WIDTH, HEADS, HIDDEN = 32, 1, 32
CONTEXT = 32768


def byte_tokens() -> list[str]:
    """A printable character for each byte, as GPT-2's tokenizer writes them."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    chars = dict(zip(plain, map(chr, plain), strict=True))
    spare = 256
    for byte in range(256):
        if byte not in chars:
            chars[byte] = chr(spare)
            spare += 1
    return [chars[byte] for byte in range(256)]


def write_model(path: Path, seed: int = 0) -> None:
    """A llama model of one layer with random weights and a token for each byte: it writes nonsense, held to a grammar.

    One feature is the same for every token and so gives a bias: the model likes to end what it began, and dislikes spaces.
    """
    tokens = [*byte_tokens(), "<|im_start|>", "<|im_end|>"]
    rng = np.random.default_rng(seed)
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * 256 + [3, 3])
    writer.add_token_merges(["t h"])
    writer.add_bos_token_id(256)
    writer.add_eos_token_id(257)
    writer.add_add_bos_token(False)
    writer.add_chat_template(
        "{% for m in messages %}<|im_start|>{{m.role}}\n{{m.content}}<|im_end|>\n{% endfor %}<|im_start|>assistant\n"
    )
    shapes = {"attn_q": (WIDTH, WIDTH), "attn_k": (WIDTH, WIDTH), "attn_v": (WIDTH, WIDTH), "attn_output": (WIDTH, WIDTH)}
    shapes |= {"ffn_gate": (HIDDEN, WIDTH), "ffn_up": (HIDDEN, WIDTH), "ffn_down": (WIDTH, HIDDEN)}

    def weights(*shape: int) -> Any:
        return (rng.standard_normal(shape) / np.sqrt(shape[-1])).astype(np.float32)

    embedding, output = weights(len(tokens), WIDTH), weights(len(tokens), WIDTH)
    embedding[:, 0] = 5.0
    output[:, 0] = 0.0
    output[[*b" \t\r\n"], 0] = -20.0
    output[[*b'"]}'], 0] = 2.0
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output.weight", output)
    writer.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for name, shape in shapes.items():
        writer.add_tensor(f"blk.0.{name}.weight", weights(*shape))
    for name in ("attn_norm", "ffn_norm"):
        writer.add_tensor(f"blk.0.{name}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@dataclass
class Server:
    """A server that listens on loopback while this object lives."""

    url: str
    """Base URL of its OpenAI-compatible endpoint."""
    keep: Any


def serve(model: Path, *, key: str | None = None) -> Server:
    """Serve a model on a free port of this machine, on one thread."""
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx = CONTEXT
    params.n_batch = params.n_ubatch = 512
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.n_parallel = 1
    params.port = 0
    params.use_jinja = True
    params.warmup = False
    params.ui = False
    params.verbosity = 0
    if key is not None:
        params.api_keys = [key]
    server = xllamacpp.Server(params)
    return Server(url=f"{server.listening_address}/v1", keep=server)
