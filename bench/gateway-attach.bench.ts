/**
 * Routes of a Gateway are created and deleted, several at a time: from the API server's answer to the last of them, until
 * the Gateway's status has their number in `attachedRoutes`, and 0 again. Writes of statuses are from the audit log.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { compile, LineProgram } from './bed/native.ts'
import { AttachedCounts } from './gateway/attached-counts.ts'
import { COMPARED_AFTER, ENVOY, peerInstead } from './gateway/envoy-gateway.ts'
import { type Side, SPOUT, startGateway, withGateways } from './gateway/gateway-bed.ts'
import { createBackend, createProbeRoutes, HTTP_ROUTES } from './gateway/objects.ts'
import type { ConnectedCluster } from './kubernetes/connected-cluster.ts'
import { forEachNumber } from './kubernetes/objects.ts'
import { benchOptions, printRow } from './row.ts'

const GOAL = { attachedMs: 2_000, goneMs: 15_000, writes: 300 }
const options = benchOptions()
const COUNT = options.quick ? 100 : 1_000
/** Events of the audit log are written after the work is done. */
const SETTLE_MS = 3_000

interface Attached {
  readonly figures: Readonly<Record<'attachedMs' | 'goneMs' | 'statusWrites', number>>
  readonly detail: Readonly<Record<'statusWritesOfRoutes' | 'watched', number>>
}

async function attach({ cluster: { api }, audit }: ConnectedCluster, { name, agents }: Side): Promise<Attached> {
  using counts = await AttachedCounts.watch(api, name)
  const from = audit.end
  const sinceMs = async (startedMs: number, routes: number): Promise<number> =>
    Math.max(0, (await counts.reached(routes)) - startedMs)
  await createProbeRoutes(api, name, 0, COUNT)
  const attachedMs = await sinceMs(performance.now(), COUNT)
  await forEachNumber(0, COUNT, (n) => api.delete(`${HTTP_ROUTES()}/${name}-${n}`))
  const goneMs = await sinceMs(performance.now(), 0)
  await pause(SETTLE_MS)
  const written = audit.writesSince(from, agents)
  const of = (resource: string): number => written.filter((write) => write.resource === resource).length
  return {
    figures: { attachedMs, goneMs, statusWrites: of('gateways/status') },
    detail: { statusWritesOfRoutes: of('httproutes/status'), watched: counts.seen },
  }
}

await withGateways(async (bed) => {
  const { lab, cluster } = bed
  await createBackend(cluster.api, 'backend')
  await startGateway(bed, SPOUT.name)
  const { figures: ours, detail } = await attach(bed, SPOUT)
  await using prober = new LineProgram(lab, 'client', [await compile(lab, 'first-byte')])
  await peerInstead(bed, prober)
  const peer = await attach(bed, ENVOY)
  printRow(
    {
      name: 'gateway-attach',
      ours,
      peer: peer.figures,
      comparedWith: COMPARED_AFTER,
      ratio: ours.attachedMs / peer.figures.attachedMs,
      goal: `1000 routes: attachedRoutes right <= ${GOAL.attachedMs} ms after the last is created, 0 again <= ${GOAL.goneMs} ms after the last is deleted, <= ${GOAL.writes} writes of the Gateway's status`,
      pass: ours.attachedMs <= GOAL.attachedMs && ours.goneMs <= GOAL.goneMs && ours.statusWrites <= GOAL.writes,
      detail: { routes: COUNT, ...detail, peerStatusWritesOfRoutes: peer.detail.statusWritesOfRoutes },
    },
    options,
  )
})
