/** Values of TLS settings, whose control plane may be of another version. All text that reaches HAProxy is our own. */

export type TlsVersion = '1.2' | '1.3'
export const knownVersion = (version: string): TlsVersion => (version === '1.3' ? '1.3' : '1.2')

const PROTOCOLS = ['h2', 'http/1.1'] as const
export type Protocol = (typeof PROTOCOLS)[number]
export const knownProtocols = (alpn: readonly string[]): readonly Protocol[] =>
  PROTOCOLS.filter((each) => alpn.includes(each))

/** @throws RangeError for a content id that is none */
export function checkedContentId(contentId: string): string {
  if (!/^[0-9a-f]{32}$/.test(contentId)) throw new RangeError(`${JSON.stringify(contentId)} is no content id`)
  return contentId
}
