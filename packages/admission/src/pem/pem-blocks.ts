import { SpoutError } from '@spout/model'

export interface PemBlock {
  /** Such as `CERTIFICATE`. */
  readonly label: string
  readonly der: Buffer
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,40})-----[ \t]*\r?\n([A-Za-z0-9+/=\s]*?)-----END ([A-Z0-9 ]{1,40})-----/y
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/**
 * Reads PEM (RFC 7468) strictly: blocks with white space between them and nothing else. Other text, even comments, could
 * mean something to a program that reads it later.
 * @param field where the text came from; errors name it and never quote the text
 * @throws SpoutError InvalidField
 */
export function pemBlocks(text: string, field: string): readonly PemBlock[] {
  const refuse = (reason: string): SpoutError => new SpoutError('InvalidField', { field, reason })
  const blocks: PemBlock[] = []
  let at = skipSpace(text, 0)
  while (at < text.length) {
    BLOCK.lastIndex = at
    const found = BLOCK.exec(text)
    if (found === null) throw refuse(whyNoBlock(text.slice(at), blocks.length))
    const [whole, label = '', body = '', end] = found
    if (end !== label) throw refuse(`block ${blocks.length + 1} begins as ${label} and ends as another label`)
    const base64 = body.replaceAll(/\s+/g, '')
    if (base64 === '' || !BASE64.test(base64)) throw refuse(`block ${blocks.length + 1} (${label}) is not base64`)
    blocks.push({ label, der: Buffer.from(base64, 'base64') })
    at = skipSpace(text, at + whole.length)
  }
  if (blocks.length === 0) throw refuse('has no PEM block')
  return blocks
}

/** A block as PEM in lines of 64 characters. */
export function pemText(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && ' \t\r\n'.includes(text[at]!)) at++
  return at
}

function whyNoBlock(rest: string, count: number): string {
  const place = count === 0 ? 'before the first block' : `after block ${count}`
  if (!rest.startsWith('-----BEGIN')) return `has other text ${place}: only PEM blocks are taken`
  if (/^-----BEGIN [^\n]*\r?\n[A-Za-z-]+:/.test(rest))
    return `block ${count + 1} has headers: an encrypted key cannot be used, remove its passphrase`
  return `block ${count + 1} is not a complete PEM block`
}
