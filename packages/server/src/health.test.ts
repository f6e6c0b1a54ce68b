import { silentLogger } from '@spout/runtime'
import { expect, test } from 'vitest'
import { healthApi } from './health.ts'
import { createServer, mount } from './http/host.ts'

test.each([
  [() => null, 200, 'ok'],
  [() => 'the disk is full', 503, 'the disk is full'],
  [async () => Promise.reject(new Error('no answer')), 503, 'no answer'],
])('ready only when every check holds (%#)', async (check, status, said) => {
  const app = createServer({ log: silentLogger() })
  mount(
    app,
    healthApi([
      { name: 'always', check: () => null },
      { name: 'store', check },
    ]),
  )
  const ready = await app.inject('/readyz')
  expect(ready.statusCode).toBe(status)
  expect(ready.json().checks).toEqual({ always: 'ok', store: said })
  expect((await app.inject('/healthz')).statusCode).toBe(200)
  await app.close()
})
