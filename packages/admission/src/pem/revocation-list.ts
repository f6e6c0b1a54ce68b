import { type KeyObject, verify, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { MOST_CERTIFICATE_BYTES, REVOCATION_LIST_LABEL, SpoutError } from '@spout/model'
import { DER, type DerElement, derElement, derElements, derOid, derTime } from './der.ts'
import { type PemBlock, pemBlocks, pemText } from './pem-blocks.ts'

/** A list of what one authority revoked (RFC 5280 section 5), as far as it is looked at here. */
export interface RevocationList {
  readonly pem: string
  readonly der: Buffer
  readonly issuer: string
  readonly thisUpdate: Date
  readonly nextUpdate: Date
  readonly signed: { readonly bytes: Buffer; readonly algorithm: string; readonly signature: Buffer }
}

/** Digests of signatures, by object identifier. SHA-1 and RSASSA-PSS are absent, as for certificates. */
const DIGESTS: Readonly<Record<string, string | null>> = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
  '1.3.101.112': null,
}
/** One list for each possible authority. */
const MOST_LISTS = 10
const DELTA_INDICATOR = '2.5.29.27'
/** With other critical extensions OpenSSL refuses every client (RFC 5280 section 5.2). */
const KNOWN_CRITICAL: ReadonlySet<string> = new Set(['2.5.29.20', '2.5.29.28', '2.5.29.35'])
const NAME_PARTS: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '0.9.2342.19200300.100.1.25': 'DC',
}

export const isRevocationList = (text: string): boolean =>
  text.trimStart().startsWith(`-----BEGIN ${REVOCATION_LIST_LABEL}-----`)

/**
 * Reads lists of revoked certificates, PEM. They stay in their order.
 * @throws SpoutError InvalidField of `chain` that says what is wrong, and with which block
 */
export function readRevocationLists(text: string, nowMs: number): readonly RevocationList[] {
  const blocks = pemBlocks(text, 'chain')
  if (blocks.length > MOST_LISTS) throw refuse(`has ${blocks.length} lists: at most ${MOST_LISTS} are taken`)
  const lists = blocks.map((block, index) => {
    const list = readList(block, `block ${index + 1}`)
    // A list that OpenSSL cannot read would keep a proxy from starting.
    if (!isReadByOpenssl(list.pem)) throw unreadable(`block ${index + 1}`)
    if (list.nextUpdate.getTime() <= nowMs)
      throw refuse(`block ${index + 1}: expired at ${list.nextUpdate.toISOString()}`)
    return list
  })
  const bytes = lists.reduce((sum, { pem }) => sum + pem.length, 0)
  if (bytes > MOST_CERTIFICATE_BYTES)
    throw refuse(`is too large: lists may have ${MOST_CERTIFICATE_BYTES} bytes together as PEM, not ${bytes}`)
  return lists
}

/** The stored lists, which were checked before. */
export const storedLists = (chain: string): readonly RevocationList[] =>
  pemBlocks(chain, 'chain').map((block, index) => readList(block, `block ${index + 1}`))

/**
 * The first authority of which there is no list that it signed; null if each has one. The proxy looks up every
 * certificate of a client's chain, and refuses the client where an authority has no list.
 * @param authorities PEM
 */
export function authorityWithoutList(authorities: string, lists: readonly RevocationList[]): string | null {
  for (const { label, der } of pemBlocks(authorities, 'chain')) {
    if (label !== 'CERTIFICATE') continue
    const { publicKey } = new X509Certificate(der)
    const name = subjectOf(der)
    const own = lists.filter(({ issuer }) => issuer.toLowerCase() === name.toLowerCase())
    if (!own.some((list) => isSignedBy(list, publicKey))) return name
  }
  return null
}

function isSignedBy({ signed: { bytes, algorithm, signature } }: RevocationList, key: KeyObject): boolean {
  try {
    return verify(DIGESTS[algorithm], bytes, key, signature)
  } catch {
    return false
  }
}

function readList({ label, der }: PemBlock, where: string): RevocationList {
  if (label !== REVOCATION_LIST_LABEL)
    throw refuse(`${where} is ${label}: lists of revoked certificates are stored without others`)
  const pem = pemText(label, der)
  const list = parsed(der)
  if (list === null) throw unreadable(where)
  const { algorithm, nextUpdate, critical, ...rest } = list
  if (!(algorithm in DIGESTS)) throw refuse(`${where}: its signature is ${algorithm}: SHA-256 or stronger is needed`)
  if (nextUpdate === null) throw refuse(`${where} does not say when its next update is`)
  if (critical.includes(DELTA_INDICATOR)) throw refuse(`${where} is a delta of a list: only whole ones are taken`)
  const unknown = critical.find((oid) => !KNOWN_CRITICAL.has(oid))
  if (unknown !== undefined) throw refuse(`${where} has the critical extension ${unknown}, which no proxy knows`)
  const { bytes, signature, issuer, thisUpdate } = rest
  return { pem, der, issuer, thisUpdate, nextUpdate, signed: { bytes, algorithm, signature } }
}

interface Parsed {
  readonly bytes: Buffer
  readonly algorithm: string
  readonly signature: Buffer
  readonly issuer: string
  readonly thisUpdate: Date
  readonly nextUpdate: Date | null
  /** Object identifiers of its critical extensions. */
  readonly critical: readonly string[]
}

/** CertificateList of RFC 5280 section 5.1; null for anything else. */
function parsed(der: Buffer): Parsed | null {
  try {
    const [content, algorithm, signature] = derElements(derElement(der).content)
    const fields = derElements(content!.content)
    const [signed, issuer, thisUpdate, ...more] = fields[0]!.tag === DER.integer ? fields.slice(1) : fields
    // Both say how it is signed (section 5.1.1.2). The first byte of a bit string counts unused bits: there are none.
    if (!signed!.whole.equals(algorithm!.whole)) return null
    if (signature!.tag !== DER.bitString || signature!.content[0] !== 0) return null
    return {
      bytes: content!.whole,
      algorithm: derOid(derElements(algorithm!.content)[0]!),
      signature: signature!.content.subarray(1),
      issuer: nameText(issuer!),
      thisUpdate: derTime(thisUpdate!),
      nextUpdate: more[0] !== undefined && isTime(more[0]) ? derTime(more[0]) : null,
      critical: criticalOf(more.find(({ tag }) => tag === EXTENSIONS)),
    }
  } catch {
    return null
  }
}

/** The subject of a certificate (RFC 5280 section 4.1), which has been read before. @throws RangeError */
function subjectOf(certificate: Buffer): string {
  const [content] = derElements(derElement(certificate).content)
  const fields = derElements(content!.content)
  // Version 1 is the default, which DER leaves out.
  return nameText(fields[fields[0]!.tag === VERSION ? 5 : 4]!)
}

/** `[0] EXPLICIT`. */
const [VERSION, EXTENSIONS] = [0xa0, 0xa0]

const isTime = ({ tag }: DerElement): boolean => tag === DER.utcTime || tag === DER.generalizedTime

function criticalOf(extensions: DerElement | undefined): readonly string[] {
  if (extensions === undefined) return []
  return derElements(derElement(extensions.content).content).flatMap((extension) => {
    const [oid, critical] = derElements(extension.content)
    return critical?.tag === DER.boolean && critical.content[0] !== 0 ? [derOid(oid!)] : []
  })
}

/** As Node.js prints names of certificates, with commas between the parts. */
const nameText = (name: DerElement): string =>
  derElements(name.content)
    .flatMap((set) => derElements(set.content))
    .map((part) => {
      const [oid, value] = derElements(part.content)
      const kind = derOid(oid!)
      return `${NAME_PARTS[kind] ?? kind}=${valueText(value!)}`
    })
    .join(', ')

function valueText({ tag, content }: DerElement): string {
  if (tag !== DER.bmpString) return content.toString('utf8')
  return Buffer.from(content).swap16().toString('utf16le')
}

function isReadByOpenssl(pem: string): boolean {
  try {
    createSecureContext({ crl: pem })
    return true
  } catch {
    return false
  }
}

const unreadable = (where: string): SpoutError => refuse(`${where} is not a readable list of revoked certificates`)

const refuse = (reason: string): SpoutError => new SpoutError('InvalidField', { field: 'chain', reason })
