import { expect, onTestFinished, test } from 'vitest'
import { StatusServer, type StatusServerOptions } from './status-server.ts'

const metrics = { contentType: 'text/plain; version=0.0.4', text: async () => 'one 1\n' }

async function serve(options: Partial<StatusServerOptions> = {}) {
  const server = new StatusServer({ name: 'http', host: '127.0.0.1', port: 0, metrics, ...options })
  await server.start()
  onTestFinished(() => server.stop())
  const ask = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { method })
    return [answer.status, answer.headers.get('content-type'), await answer.text()]
  }
  return { server, ask }
}

test('says that it lives, whether it is ready or why not, and its figures', async () => {
  let why: string | null = 'not both sides have been read yet'
  const { ask } = await serve({ readiness: () => why })
  expect(await ask('/healthz')).toEqual([200, 'text/plain', 'ok\n'])
  expect(await ask('/readyz')).toEqual([503, 'text/plain', 'not both sides have been read yet\n'])
  why = null
  expect(await ask('/readyz')).toEqual([200, 'text/plain', 'ok\n'])
  expect(await ask('/metrics')).toEqual([200, metrics.contentType, 'one 1\n'])
  for (const [path, method] of [['/'], ['/metrics/'], ['/metrics', 'POST'], ['/healthz', 'DELETE']] as const)
    expect((await ask(path, method))[0]).toBe(404)
})

test('of a process that is not asked whether it is ready, figures alone are served', async () => {
  const { ask } = await serve()
  expect((await ask('/metrics'))[0]).toBe(200)
  for (const path of ['/healthz', '/readyz', '/']) expect((await ask(path))[0]).toBe(404)
})

test('what throws is an error of that answer alone', async () => {
  let isBroken = true
  const text = async () => {
    if (isBroken) throw new Error('no figures')
    return 'one 1\n'
  }
  const readiness = () => {
    throw new Error('nobody knows')
  }
  const { ask } = await serve({ metrics: { ...metrics, text }, readiness })
  expect((await ask('/metrics'))[0]).toBe(500)
  expect((await ask('/readyz'))[0]).toBe(500)
  isBroken = false
  expect((await ask('/metrics'))[0]).toBe(200)
})

test('an address that is taken is an error at the start', async () => {
  const { server } = await serve()
  await expect(serve({ port: server.port })).rejects.toThrow('EADDRINUSE')
})
