import { timestamp } from '@spout/model'
import { VERSION } from '@spout/runtime/version'
import { z } from 'zod'
import { type Route, route } from '../operations/route.ts'

const controlPlane = z.strictObject({
  version: z.string(),
  leads: z.boolean().describe('Whether this process plans and talks to the nodes'),
  store: z
    .strictObject({
      engine: z.enum(['sqlite', 'postgres', 'kubernetes']),
      version: z.number().int().describe('The version of its schema'),
      usableFrom: z.number().int().describe('The oldest schema version whose programs can use it'),
    })
    .nullable()
    .describe('Null where nothing outlives the process'),
  connectors: z
    .array(
      z.strictObject({
        projectId: z.string().nullable(),
        userName: z.string(),
        version: z.string(),
        lastSeenAt: timestamp,
      }),
    )
    .describe('Those that called this process since its start, and name their version'),
})

/** What an upgrade has to know of the process that answers. */
export const controlPlaneRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/control-plane',
    tag: 'nodes',
    summary: 'Show the control plane that answers: its version, the format of its store, the connectors that call it',
    access: 'admin',
    body: null,
    answer: { status: 200, schema: controlPlane },
    handle: async ({ store, leads, connectors }) => ({
      version: VERSION,
      leads: leads(),
      store: await store.format(),
      connectors: connectors.all(),
    }),
  }),
]
