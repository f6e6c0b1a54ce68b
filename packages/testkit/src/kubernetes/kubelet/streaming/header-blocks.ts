import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { HEADER_DICTIONARY } from './header-dictionary.ts'

/** Blocks of headers of one SPDY connection: each direction is compressed as one stream. */
export class HeaderBlocks {
  readonly #inflate = zlib.createInflate({ dictionary: HEADER_DICTIONARY })
  readonly #deflate = zlib.createDeflate({ dictionary: HEADER_DICTIONARY, flush: zlib.constants.Z_SYNC_FLUSH })

  /** The headers of a compressed block, one block after the other. @throws Error when it is no such block */
  async read(block: Buffer): Promise<ReadonlyMap<string, string>> {
    return headersOf(await through(this.#inflate, block))
  }

  /** A compressed block without headers, which is all that we answer with. */
  empty(): Promise<Buffer> {
    return through(this.#deflate, Buffer.alloc(4))
  }
}

/** What a stream of zlib makes of a chunk. */
async function through(stream: Transform, chunk: Buffer): Promise<Buffer> {
  await new Promise<void>((resolve, reject) => {
    // A chunk that is none ends the stream without a call.
    stream.once('error', reject)
    stream.write(chunk, () => {
      stream.off('error', reject)
      resolve()
    })
  })
  const made: Buffer[] = []
  for (let one = stream.read() as Buffer | null; one !== null; one = stream.read() as Buffer | null) made.push(one)
  return Buffer.concat(made)
}

/** A count, then names and values, each with its length before it, all of four bytes. */
function headersOf(block: Buffer): ReadonlyMap<string, string> {
  let at = 0
  const number = (): number => {
    at += 4
    return block.readUInt32BE(at - 4)
  }
  const text = (): string => {
    const length = number()
    at += length
    return block.toString('latin1', at - length, at)
  }
  const headers = new Map<string, string>()
  for (let left = number(); left > 0; left--) {
    const name = text()
    headers.set(name, text())
  }
  return headers
}
