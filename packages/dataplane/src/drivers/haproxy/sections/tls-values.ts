import { type Cipher, isCipher, TLS13_CIPHERS } from '@spout/model/ciphers'

/** Values of TLS settings, whose control plane may be of another version. All text that reaches HAProxy is our own. */

export type TlsVersion = '1.2' | '1.3'
export const knownVersion = (version: string): TlsVersion => (version === '1.3' ? '1.3' : '1.2')

const PROTOCOLS = ['h2', 'http/1.1'] as const
export type Protocol = (typeof PROTOCOLS)[number]
export const knownProtocols = (alpn: readonly string[]): readonly Protocol[] =>
  PROTOCOLS.filter((each) => alpn.includes(each))

/**
 * @throws RangeError for a cipher that this version does not know: without it, clients would get ciphers that nobody
 * chose
 */
export const knownCiphers = (names: readonly string[]): readonly Cipher[] =>
  names.map((name) => {
    if (!isCipher(name)) throw new RangeError(`${JSON.stringify(name)} is not a cipher`)
    return name
  })

const OF_TLS13: ReadonlySet<string> = new Set(TLS13_CIPHERS)

/** The words of a `bind` or `server` line. A version of which none is named keeps the process' own. */
export function cipherWords(ciphers: readonly Cipher[] = []): readonly string[] {
  const [suites, others] = [true, false].map((is13) => ciphers.filter((name) => OF_TLS13.has(name) === is13).join(':'))
  return [...(others ? [`ciphers ${others}`] : []), ...(suites ? [`ciphersuites ${suites}`] : [])]
}

/** @throws RangeError for a content id that is none */
export function checkedContentId(contentId: string): string {
  if (!/^[0-9a-f]{32}$/.test(contentId)) throw new RangeError(`${JSON.stringify(contentId)} is not a content id`)
  return contentId
}
