import type { Surface } from './http/host.ts'

const LIMIT_BYTES = 1024

/** `/healthz`: the process answers. Readiness and metrics are not for clients of the API. */
export const healthApi = (): Surface => ({
  prefix: '/',
  bodyLimitBytes: LIMIT_BYTES,
  plugin: async (scope) => {
    scope.get('/healthz', (_request, reply) => reply.send({ status: 'ok' }))
  },
})
