import type { Surface } from './http/host.ts'

const LIMIT_BYTES = 1024

/**
 * `/healthz`: the process answers. `/healthz/leader`: clients are answered, since a process that does not lead passes it
 * on. Readiness and metrics are not for clients of the API.
 */
export const healthApi = (): Surface => ({
  prefix: '/',
  bodyLimitBytes: LIMIT_BYTES,
  plugin: async (scope) => {
    for (const path of ['/healthz', '/healthz/leader'])
      scope.get(path, (_request, reply) => reply.send({ status: 'ok' }))
  },
})
