import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { createLogger } from '../telemetry/logger.ts'
import { Secret } from './secret.ts'

test('a secret appears nowhere', () => {
  const canary = 'canary-7d1f'
  const secret = new Secret(canary)
  const lines: string[] = []
  const log = createLogger({ name: 't', level: 'trace', destination: { write: (line) => lines.push(line) } })
  log.info({ event: 'x', it: secret, nested: { it: secret }, password: canary, user: { secret: canary } }, `${secret}`)
  log.error({ err: new Error(`failed with ${secret}`), headers: { authorization: canary } })
  const shown = [...lines, String(secret), JSON.stringify({ secret }), inspect({ secret }, { depth: 5 })].join('\n')
  expect(shown).not.toContain(canary)
  expect(shown).toContain('[redacted]')
  expect(secret.reveal()).toBe(canary)
})
