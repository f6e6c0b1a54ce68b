/**
 * Routes of a Gateway are created and deleted, several at a time: from the API server's answer to the last of them, until
 * the Gateway's status has their number in `attachedRoutes`, and 0 again. Writes of statuses are from the audit log.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { AttachedCounts } from './gateway/attached-counts.ts'
import { SPOUT, startGateway, withGateways } from './gateway/gateway-bed.ts'
import { createBackend, createProbeRoutes, HTTP_ROUTES } from './gateway/objects.ts'
import { forEachNumber } from './kubernetes/objects.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { attachedMs: 2_000, goneMs: 15_000, writes: 300 }
const options = benchOptions()
const COUNT = options.quick ? 100 : 1_000
/** Events of the audit log are written after the work is done. */
const SETTLE_MS = 3_000

await withGateways(async (bed) => {
  const { cluster, audit } = bed
  const { api } = cluster
  await createBackend(api, 'backend')
  await startGateway(bed, SPOUT.name)
  using counts = await AttachedCounts.watch(api, SPOUT.name)
  const from = audit.end
  const sinceMs = async (startedMs: number, routes: number): Promise<number> =>
    Math.max(0, (await counts.reached(routes)) - startedMs)
  await createProbeRoutes(api, SPOUT.name, 0, COUNT)
  const attachedMs = await sinceMs(performance.now(), COUNT)
  await forEachNumber(0, COUNT, (n) => api.delete(`${HTTP_ROUTES()}/${SPOUT.name}-${n}`))
  const goneMs = await sinceMs(performance.now(), 0)
  await pause(SETTLE_MS)
  const written = audit.writesSince(from, SPOUT.agents)
  const of = (resource: string): number => written.filter((write) => write.resource === resource).length
  const ours = { attachedMs, goneMs, statusWrites: of('gateways/status') }
  printRow(
    {
      name: 'gateway-attach',
      ours,
      peer: null,
      comparedWith: 'nothing yet',
      ratio: null,
      goal: `1000 routes: attachedRoutes right <= ${GOAL.attachedMs} ms after the last is created, 0 again <= ${GOAL.goneMs} ms after the last is deleted, <= ${GOAL.writes} writes of the Gateway's status`,
      pass: attachedMs <= GOAL.attachedMs && goneMs <= GOAL.goneMs && ours.statusWrites <= GOAL.writes,
      detail: { routes: COUNT, statusWritesOfRoutes: of('httproutes/status'), watched: counts.seen },
    },
    options,
  )
})
