import { isIP } from 'node:net'
import { DomainProver } from '@spout/controllers'
import { TextResolver } from '@spout/dns'
import type { Clock } from '@spout/runtime'
import type { Logger } from '@spout/runtime/logger'
import { z } from 'zod'
import type { ModelStore } from './model-store.ts'

const WITH_PORT = /^(?:\[([0-9a-f:.]+)\]|([0-9.]+)):([0-9]{1,5})$/i
const LAST_PORT = 65_535

/** An address, with a port as `192.0.2.53:5353` or `[2001:db8::53]:5353`. Never a name, which somebody would have to resolve. */
export const resolverAddress = z
  .string()
  .max(64)
  .refine(isResolverAddress, 'is not an address such as 192.0.2.53, 192.0.2.53:5353 or [2001:db8::53]:5353')

function isResolverAddress(text: string): boolean {
  if (isIP(text) !== 0) return true
  const [, v6, v4, port] = WITH_PORT.exec(text) ?? []
  const number = Number(port)
  return isIP(v6 ?? v4 ?? '') === (v6 === undefined ? 4 : 6) && number >= 1 && number <= LAST_PORT
}

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
