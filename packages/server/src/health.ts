import type { Surface } from './http/host.ts'

const LIMIT_BYTES = 1024

/** `/healthz`: the process answers. Whether it is ready, and its figures, are not for those who reach the API. */
export const healthApi = (): Surface => ({
  prefix: '/',
  bodyLimitBytes: LIMIT_BYTES,
  plugin: async (scope) => {
    scope.get('/healthz', (_request, reply) => reply.send({ status: 'ok' }))
  },
})
