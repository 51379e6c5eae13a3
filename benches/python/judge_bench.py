"""How close the judge comes to the rate that its concurrency allows."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import scoregate
from harness import Run, seconds, table
from scoregate.judge import FunctionJudge, OpenAIJudge

TITLE = "Asking a judge"
ABOUT = """
A loopback server that speaks the chat-completions API and takes 200 ms for every answer, asked with
32 calls in flight through the `openai` client. Ideal is a wave of 32 every 200 ms. The second line
asks an `async` function that sleeps as long: what scoregate itself costs.
"""

DELAY = 0.2
CONCURRENCY = 32
TASK = "Is this fine?"

SERVER = """
import asyncio, json

BODY = json.dumps({
    "id": "x", "object": "chat.completion", "created": 1, "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop",
                 "message": {"role": "assistant", "content": "VERDICT: PASS"}}],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}).encode()
HEAD = f"HTTP/1.1 200 OK\\r\\nContent-Type: application/json\\r\\nContent-Length: {len(BODY)}\\r\\n\\r\\n"

async def serve(reader, writer):
    try:
        while head := await reader.readuntil(b"\\r\\n\\r\\n"):
            length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\\r\\n")
                          if line.startswith(b"content-length"))
            await reader.readexactly(length)
            await asyncio.sleep(DELAY)
            writer.write(HEAD.encode() + BODY)
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()

async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


def run(run: Run) -> str:
    waves = 10 if run.quick else 20
    texts: list[str | None] = [f"bad {i}" for i in range(waves * CONCURRENCY)]
    spec = {"scorers": [{"type": "contains", "value": "ok"}], "judge": {"task": TASK}}
    gate = scoregate.Gate(spec)
    ideal = waves * DELAY
    os.environ.setdefault("NO_PROXY", "127.0.0.1")
    code = SERVER.replace("DELAY", str(DELAY))
    server = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        client = OpenAIJudge("m", base_url=url, api_key_env="SCOREGATE_BENCH_NO_KEY")

        async def sleeper(prompt: str) -> str:
            import asyncio

            await asyncio.sleep(DELAY)
            return "VERDICT: PASS"

        lines = []
        for name, judge in (
            ("`OpenAIJudge`", client),
            ("`async` function", FunctionJudge(sleeper)),
        ):
            gate.decide_batch(texts[:CONCURRENCY], judge=judge, concurrency=CONCURRENCY)
            cpu, wall = time.process_time(), time.perf_counter()
            batch = gate.decide_batch(texts, judge=judge, concurrency=CONCURRENCY)
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            if batch.summary()["pass"] != len(texts) or batch.calls != len(texts):
                raise SystemExit(f"{name}: {batch!r}")
            lines.append(
                [
                    name,
                    f"{len(texts):,}",
                    seconds(wall),
                    f"{len(texts) / wall:,.0f}",
                    f"{ideal / wall:.0%}",
                    seconds(cpu / len(texts)),
                ]
            )
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()
    return table(["", "calls", "wall", "calls/s", "of ideal", "CPU a call"], lines)
