import type { TlsCommand } from './tls-command.ts'
import type { FrontendCertificates, TlsContent } from './tls-content.ts'

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
        for (const step of ['new-certificate', 'set-certificate', 'commit-certificate'] as const)
          raise.push({ do: step, contentId })
      }
      if (!have.listed.get(slot)?.has(contentId)) raise.push({ do: 'list-certificate', slot, contentId })
    }
    const { fallback } = certificates
    // After the lists: a certificate that was the fallback is served by its names before it is that no more.
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
  }
  for (const contentId of left) lower.push({ do: 'delete-certificate', contentId })
  return { raise: [...raise, ...fallbacks], lower }
}

const setFallback = (slot: number, contentId: string | null): readonly TlsCommand[] => [
  { do: 'set-fallback', slot, contentId },
  { do: 'commit-fallback', slot, contentId },
]
