import { silentLogger } from '@spout/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { healthApi } from './health.ts'
import { createServer, mount } from './http/host.ts'

test('the API answers that it is alive, and reveals nothing about the process', async () => {
  const app = createServer({ log: silentLogger() })
  onTestFinished(() => app.close())
  mount(app, healthApi())
  for (const path of ['/healthz', '/healthz/leader']) {
    const answer = await app.inject(path)
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'ok' }])
  }
  for (const path of ['/readyz', '/metrics', '/metrics/']) {
    const { statusCode, body } = await app.inject(path)
    expect([path, statusCode]).toEqual([path, 404])
    expect(body).not.toMatch(/spout_|checks/)
  }
})
