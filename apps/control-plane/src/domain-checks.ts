import { DomainProver } from '@spout/controllers'
import { TextResolver } from '@spout/dns'
import type { Clock } from '@spout/runtime'
import type { Logger } from '@spout/runtime/logger'
import type { ModelStore } from './model-store.ts'

interface DomainSettings {
  readonly resolvers: readonly string[]
  readonly recheckSeconds: number
  readonly graceSeconds: number
  readonly checksPerMinute: number
}

const MINUTE_MS = 60_000

/** The prover of domains as the configuration wants it. */
export const createDomainProver = (
  { resolvers, recheckSeconds, graceSeconds, checksPerMinute }: DomainSettings,
  { view, admission }: Pick<ModelStore, 'view' | 'admission'>,
  around: { readonly clock: Clock; readonly log: Logger },
): DomainProver =>
  new DomainProver({
    ...{ view, admission, ...around },
    resolver: resolvers.length === 0 ? null : new TextResolver({ servers: resolvers }),
    recheckMs: recheckSeconds * 1000,
    graceMs: graceSeconds * 1000,
    gapMs: MINUTE_MS / checksPerMinute,
  })
