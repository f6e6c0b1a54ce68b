import type { MemberTls } from './member-tls.ts'

/** The certificates of a process, which it holds at run time. They are named by content id. */

/** The certificates that a TLS frontend serves. */
export interface FrontendCertificates {
  /** Served to clients that name no host, or one that no certificate has. Null: these clients are refused. */
  readonly fallback: string | null
  /** Served by their own names, besides the fallback. */
  readonly named: readonly string[]
  /** The authorities of clients' certificates. Absent: clients are not asked for one. */
  readonly authorities?: string
  /** The lists of what these authorities revoked. Absent: nothing is looked up. */
  readonly revocations?: string
}

export interface TlsContent {
  /** Certificates that the process has. */
  readonly stored: Set<string>
  /** Files of authorities that the process has. */
  readonly authorities: Set<string>
  /** Files of lists of revoked certificates that the process has, for servers. */
  readonly revocationLists: Set<string>
  /** By frontend slot: the certificates in its list. */
  readonly listed: Map<number, Set<string>>
  /** By frontend slot: the content of its fallback certificate. Absent: the placeholder. */
  readonly fallbacks: Map<number, string>
  /** By frontend slot: the authorities of its clients' certificates. Absent: the placeholder's, which issued none. */
  readonly clients: Map<number, string>
  /** By frontend slot: the lists of revoked clients' certificates. Absent: none, and no client gets in. */
  readonly revocations: Map<number, string>
}

/** The content that the process cannot show: it lists files, but not the content ids of what is in them. */
export type UnreadableContent = Pick<TlsContent, 'fallbacks' | 'clients' | 'revocations'>

export const emptyTlsContent = (): TlsContent => ({
  stored: new Set(),
  authorities: new Set(),
  revocationLists: new Set(),
  listed: new Map(),
  fallbacks: new Map(),
  clients: new Map(),
  revocations: new Map(),
})

/** The content of a process that was just started with these frontends and backends. */
export function tlsContentOf(
  frontends: Iterable<{ readonly slot: number; readonly certificates?: FrontendCertificates }>,
  backends: Iterable<{ readonly tls?: MemberTls }>,
): TlsContent {
  const content = emptyTlsContent()
  for (const { slot, certificates } of frontends) {
    if (certificates === undefined) continue
    const { fallback, named, authorities, revocations } = certificates
    if (named.length > 0) content.listed.set(slot, new Set(named))
    for (const contentId of named) content.stored.add(contentId)
    if (fallback !== null) content.fallbacks.set(slot, fallback)
    if (authorities !== undefined) content.clients.set(slot, authorities)
    if (revocations !== undefined) content.revocations.set(slot, revocations)
  }
  for (const { tls } of backends) {
    if (tls?.certificate) content.stored.add(tls.certificate)
    if (tls?.authorities) content.authorities.add(tls.authorities)
    if (tls?.revocations) content.revocationLists.add(tls.revocations)
  }
  return content
}

/** Whether some frontend's list has it: then it cannot be deleted. */
export const isListed = ({ listed }: TlsContent, contentId: string): boolean =>
  listed.values().some((each) => each.has(contentId))
