import type { CheckSpec } from '@spout/model'
import { sendsRequest } from '@spout/model/check-kinds'
import type { NativeHelper } from '@spout/sys'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ProbePlace } from '../checks/connector.ts'
import type { CheckTarget, HealthCheck } from '../contracts/check.ts'
import { ADDRESSES, CheckLab, DOMAIN, NO_DOMAIN } from './checks/check-lab.ts'
import { PORTS } from './checks/ports.ts'

/** What a check says of each target of the lab: why it is not up, null for one that is. */
export type Verdicts = Readonly<Record<Situation, string | null>>

const SITUATIONS = {
  'answers with status 200': { host: 'host', port: PORTS.ok },
  'answers with status 500': { host: 'host', port: PORTS.failing },
  'answers with something else than HTTP': { host: 'host', port: PORTS.mail },
  'accepts and says nothing': { host: 'host', port: PORTS.silent },
  'accepts and resets': { host: 'host', port: PORTS.resetting },
  'speaks TLS with a certificate of its own': { host: 'host', port: PORTS.tls },
  'speaks TLS 1.0 alone': { host: 'host', port: PORTS.oldTls },
  'refuses TLS handshakes': { host: 'host', port: PORTS.refusingTls },
  'sends handshake records without end': { host: 'host', port: PORTS.endlessTls },
  'begins a TLS hello and halts': { host: 'host', port: PORTS.haltingTls },
  'answers over TLS with status 200': { host: 'host', port: PORTS.okOverTls },
  'answers over TLS with status 500': { host: 'host', port: PORTS.failingOverTls },
  'wants a certificate of its clients': { host: 'host', port: PORTS.clientsOverTls },
  'refuses connections': { host: 'host', port: PORTS.none },
  'is not there': { host: 'absent', port: PORTS.ok },
  'has no route': { host: 'unroutable', port: PORTS.ok },
} as const
type Situation = keyof typeof SITUATIONS

/** For targets that are silent: the test waits this long for each. */
const SILENT_MS = 900
/** For all others. One process answers hundreds of TLS handshakes, on a machine that is shared with other tests. */
const ANSWERED_MS = 30_000
export const TIMED_OUT = `timed out after ${SILENT_MS} ms`

/** The contract of `HealthCheck`, run over one check with the native helper and real targets. */
export function describeCheck(
  type: CheckSpec['type'],
  make: (helper: NativeHelper, place: ProbePlace) => HealthCheck,
  verdicts: Verdicts,
): void {
  describe(`HealthCheck: ${type}`, () => {
    const signal = new AbortController().signal
    const expectedCodes = [{ first: 200, last: 200 }]
    const http = { method: 'GET', path: '/', expectedCodes, version: '1.1', host: null } as const
    /** UDP waits for what does not answer, and takes it for up. */
    const isSilent = (situation: Situation): boolean => type === 'udp' || verdicts[situation] === TIMED_OUT
    const specOf = (situation: Situation): CheckSpec => ({
      type,
      intervalMs: 1_000,
      timeoutMs: isSilent(situation) ? SILENT_MS : ANSWERED_MS,
      rise: 1,
      fall: 1,
      http: sendsRequest(type) ? http : null,
    })
    let lab: CheckLab
    let check: HealthCheck

    beforeAll(async () => {
      lab = await CheckLab.create()
      check = make(lab.helper, lab.place)
    })
    afterAll(() => lab?.end())

    const targetOf = (situation: Situation, version: 4 | 6): CheckTarget => {
      const { host, port } = SITUATIONS[situation]
      return { domain: DOMAIN, address: ADDRESSES[version][host], port, spec: specOf(situation) }
    }
    const rows = Object.keys(SITUATIONS).flatMap((situation) =>
      ([4, 6] as const).map((version) => ({ situation: situation as Situation, version })),
    )

    it('is told by its type', () => expect(check.type).toBe(type))

    it.concurrent.each(rows)('says of a target that $situation, over IPv$version, whether it is up', async (row) => {
      const reason = verdicts[row.situation]
      const durationMs = expect.toSatisfy((duration: number) => duration >= 0 && Number.isFinite(duration))
      expect(await check.run(targetOf(row.situation, row.version), signal)).toEqual({
        ok: reason === null,
        reason,
        durationMs,
      })
    })

    it('judges many targets at once, each for itself', async () => {
      const many = Array.from({ length: 10 }, () => rows).flat()
      const results = await Promise.all(
        many.map(({ situation, version }) => check.run(targetOf(situation, version), signal)),
      )
      expect(results.map(({ reason }) => reason)).toEqual(many.map(({ situation }) => verdicts[situation]))
    })

    it('says nothing of a target when the probe could not be made', async () => {
      const target = { ...targetOf('answers with status 200', 4), domain: NO_DOMAIN }
      await expect(check.run(target, signal)).rejects.toThrow()
    })
  })
}
