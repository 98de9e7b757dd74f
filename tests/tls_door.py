"""A proxy with TLS in front of a port of the same machine, as nginx or Caddy would stand there.

`python -m tests.tls_door CERTIFICATE KEY HOST PORT` prints the port that it took.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from contextlib import suppress


async def hand_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def main(certificate: str, key: str, host: str, to: int) -> None:
    async def enter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        beyond = await asyncio.open_connection("127.0.0.1", to)
        await asyncio.gather(hand_on(reader, beyond[1]), hand_on(beyond[0], writer))

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    server = await asyncio.start_server(enter, host, 0, ssl=context)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])))
