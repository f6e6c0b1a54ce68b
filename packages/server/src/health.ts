import type { Surface } from './http/host.ts'

/** One thing that must hold before traffic is sent here. Answers null, or for people why not. */
export interface ReadinessCheck {
  readonly name: string
  readonly check: () => Promise<string | null> | string | null
}

const LIMIT_BYTES = 1024

/** `/healthz`: the process answers. `/readyz`: every check holds; names those that do not. */
export const healthApi = (checks: readonly ReadinessCheck[]): Surface => ({
  prefix: '/',
  bodyLimitBytes: LIMIT_BYTES,
  plugin: async (scope) => {
    scope.get('/healthz', (_request, reply) => reply.send({ status: 'ok' }))
    scope.get('/readyz', async (_request, reply) => {
      const results = await Promise.all(checks.map(async ({ name, check }) => [name, await answerOf(check)] as const))
      const ready = results.every(([, reason]) => reason === null)
      return reply
        .code(ready ? 200 : 503)
        .send({ status: ready ? 'ready' : 'not ready', checks: Object.fromEntries(results.map(shown)) })
    })
  },
})

const shown = ([name, reason]: readonly [string, string | null]): [string, string] => [name, reason ?? 'ok']

async function answerOf(check: ReadinessCheck['check']): Promise<string | null> {
  try {
    return await check()
  } catch (error) {
    return error instanceof Error ? error.message : 'failed'
  }
}

/** `/metrics`. Names of objects are in it: serve it where only the operator reaches. */
export const metricsApi = (metrics: { readonly contentType: string; text(): Promise<string> }): Surface => ({
  prefix: '/',
  bodyLimitBytes: LIMIT_BYTES,
  plugin: async (scope) => {
    scope.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()))
  },
})
