import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { PageFile } from './page-files.ts'

/** Content codings (RFC 9110, section 8.4.1), the one that makes a page smallest first. */
const CODINGS = ['br', 'gzip'] as const
type Coding = (typeof CODINGS)[number]

/** Of 11: the last two take many times as long. */
const BROTLI_QUALITY = 9
/** A shorter file fits into one packet anyway. */
const SHORTEST_BYTES = 1024

export interface CodedFile {
  readonly coding: Coding | null
  readonly content: Buffer
}

const COMPRESS: Readonly<Record<Coding, (content: Buffer) => Promise<Buffer>>> = {
  br: (content) =>
    promisify(brotliCompress)(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
  gzip: (content) => promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }),
}

/** Compresses a file when it is first asked for, outside of the main thread, and keeps the result. */
export class CodedFiles {
  readonly #known = new Map<string, Promise<Buffer>>()

  /** @param accepted the header `Accept-Encoding` */
  async of(file: PageFile, accepted: string | undefined): Promise<CodedFile> {
    const coding = file.isText && file.content.length >= SHORTEST_BYTES ? codingFor(accepted) : null
    if (coding === null) return { coding, content: file.content }
    const key = `${coding} ${file.digest}`
    const content = this.#known.get(key) ?? COMPRESS[coding](file.content)
    this.#known.set(key, content)
    return { coding, content: await content }
  }
}

/** The best coding that a client accepts by name; null: none. */
export function codingFor(accepted = ''): Coding | null {
  const names = new Set(
    accepted
      .toLowerCase()
      .split(',')
      .map((one) => one.replaceAll(/\s/g, ''))
      .filter((one) => !/;q=0(\.0*)?$/.test(one))
      .map((one) => one.split(';', 1)[0]),
  )
  return CODINGS.find((coding) => names.has(coding)) ?? null
}
