import { filesOf, type MemberTls } from '../rendering/member-tls.ts'
import type { FrontendCertificates, TlsContent } from '../rendering/tls-content.ts'
import type { TlsCommand } from './tls-command.ts'

interface TlsFrontend {
  readonly slot: number
  readonly certificates?: FrontendCertificates
}

export interface TlsChanges {
  readonly raise: readonly TlsCommand[]
  readonly lower: readonly TlsCommand[]
}

/**
 * Plans the certificates of one entry's frontends. New ones come first and old ones leave last, so every name has a
 * certificate at every moment. No difference gives no commands. Pure.
 */
export function planTlsChanges(
  have: TlsContent,
  before: readonly TlsFrontend[],
  want: readonly TlsFrontend[],
): TlsChanges {
  const raise: TlsCommand[] = []
  const fallbacks: TlsCommand[] = []
  const lower: TlsCommand[] = []
  const added = new Set<string>()
  const wantedBy = new Map(want.map(({ slot, certificates }) => [slot, certificates]))

  for (const { slot, certificates } of want) {
    if (certificates === undefined) continue
    for (const contentId of certificates.named) {
      if (!have.stored.has(contentId) && !added.has(contentId)) {
        added.add(contentId)
        raise.push(...store('certificate', contentId))
      }
      if (!have.listed.get(slot)?.has(contentId)) raise.push({ do: 'list-certificate', slot, contentId })
    }
    const { fallback, authorities, revocations } = certificates
    // These come before anything leads clients to the frontend. Revocation lists come first: no client is admitted by
    // authorities alone.
    if (revocations !== undefined && have.revocations.get(slot) !== revocations)
      raise.push(...setRevocations(slot, revocations))
    if (authorities !== undefined && have.clients.get(slot) !== authorities)
      raise.push(...setClients(slot, authorities))
    // After the lists: the old fallback certificate must be in the list before it stops being the fallback.
    if (fallback !== null && have.fallbacks.get(slot) !== fallback) fallbacks.push(...setFallback(slot, fallback))
  }

  const left = new Set<string>()
  for (const { slot } of [...want, ...before.filter((one) => !wantedBy.has(one.slot))]) {
    const wanted = wantedBy.get(slot)
    for (const contentId of have.listed.get(slot) ?? [])
      if (!wanted?.named.includes(contentId)) {
        lower.push({ do: 'unlist-certificate', slot, contentId })
        left.add(contentId)
      }
    // The key leaves the process with the listener.
    if (!wanted?.fallback && have.fallbacks.has(slot)) lower.push(...setFallback(slot, null))
    if (wanted?.authorities === undefined && have.clients.has(slot)) lower.push(...setClients(slot, null))
    if (wanted?.revocations === undefined && have.revocations.has(slot)) lower.push(...setRevocations(slot, null))
  }
  for (const contentId of left) lower.push({ do: 'delete-certificate', contentId })
  return { raise: [...raise, ...fallbacks], lower }
}

const store = (kind: 'certificate' | 'authorities' | 'revocation-list', contentId: string): readonly TlsCommand[] =>
  (['new', 'set', 'commit'] as const).map((step) => ({ do: `${step}-${kind}` as const, contentId }))

/** Stores what servers of these backends need and the process does not have. Pure. */
export function storesOfMemberTls(
  { stored, authorities, revocationLists }: TlsContent,
  backends: readonly { readonly tls?: MemberTls }[],
): readonly TlsCommand[] {
  const lacking = (
    field: 'authorities' | 'revocations' | 'certificate',
    have: ReadonlySet<string>,
  ): ReadonlySet<string> => new Set(backends.flatMap(({ tls }) => tls?.[field] ?? [])).difference(have)
  return [
    ...[...lacking('authorities', authorities)].flatMap((id) => store('authorities', id)),
    ...[...lacking('revocations', revocationLists)].flatMap((id) => store('revocation-list', id)),
    ...[...lacking('certificate', stored)].flatMap((id) => store('certificate', id)),
  ]
}

/** Deletes what only servers needed that are gone. Pure. */
export function unusedByServers(
  { stored, authorities, revocationLists, listed }: TlsContent,
  backends: readonly { readonly tls?: MemberTls }[],
): readonly TlsCommand[] {
  if (stored.size + authorities.size + revocationLists.size === 0) return []
  const used = new Set([
    ...backends.flatMap(({ tls }) => (tls === undefined ? [] : filesOf(tls))),
    ...[...listed.values()].flatMap((each) => [...each]),
  ])
  return [
    ...[...stored.difference(used)].map((contentId) => ({ do: 'delete-certificate', contentId }) as const),
    ...[...authorities.difference(used)].map((contentId) => ({ do: 'delete-authorities', contentId }) as const),
    ...[...revocationLists.difference(used)].map((contentId) => ({ do: 'delete-revocation-list', contentId }) as const),
  ]
}

const setClients = (slot: number, contentId: string | null): readonly TlsCommand[] => [
  { do: 'set-clients', slot, contentId },
  { do: 'commit-clients', slot, contentId },
]

const setRevocations = (slot: number, contentId: string | null): readonly TlsCommand[] => [
  { do: 'set-revocations', slot, contentId },
  { do: 'commit-revocations', slot, contentId },
]

const setFallback = (slot: number, contentId: string | null): readonly TlsCommand[] => [
  { do: 'set-fallback', slot, contentId },
  { do: 'commit-fallback', slot, contentId },
]
