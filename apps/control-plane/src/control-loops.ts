import {
  Adopter,
  DnsPublisher,
  type DomainProver,
  NodeLiveness,
  NodeStateTable,
  PlanController,
  Rebalancer,
  StatusController,
  Sweeper,
} from '@spout/controllers'
import type { Clock } from '@spout/runtime'
import type { Logger } from '@spout/runtime/logger'
import { hostSegmentsOf } from './cluster/pod-network.ts'
import type { ControlPlaneConfig } from './config.ts'
import { openDnsZones } from './dns-zones.ts'
import { createDomainProver } from './domain-checks.ts'
import type { ModelStore } from './model-store.ts'

/** The control loops of one term of leading, before those with a `start` are started. */
export interface ControlLoops {
  readonly nodeStates: NodeStateTable
  readonly status: StatusController
  readonly planner: PlanController
  readonly sweeper: Sweeper
  readonly rebalancer: Rebalancer
  readonly dns: DnsPublisher
  readonly domains: DomainProver
  readonly adopter: Adopter
  /** Ends what runs without a start. The status still answers. */
  close(): void
}

export function createControlLoops(
  config: ControlPlaneConfig,
  { store, view, admission }: ModelStore,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
): ControlLoops {
  const liveness = new NodeLiveness({ clock, ...config.liveness })
  const nodeStates = new NodeStateTable()
  const mostFigureBytes = config.figures.megabytes * 1024 * 1024
  const status = new StatusController({ view, nodeStates, liveness, mostFigureBytes, clock, log })
  const planner = new PlanController({
    ...{ view, store, nodeStates, liveness, status, admission, clock, log },
    hostSegments: hostSegmentsOf(config),
  })
  return {
    nodeStates,
    status,
    planner,
    sweeper: new Sweeper({ view, store, clock, log }),
    rebalancer: new Rebalancer({ view, status, admission, clock, log }),
    dns: new DnsPublisher({
      ...{ owner: config.dns.owner, ttlSeconds: config.dns.ttlSeconds, sweepMs: config.dns.sweepSeconds * 1000 },
      ...{ zones: openDnsZones(config.dns.zones), view, status, clock, log },
    }),
    adopter: new Adopter({ view, status, admission, project: config.admin.project, clock, log }),
    domains: createDomainProver(config.domains, { view, admission }, { clock, log }),
    close: () => {
      status.close()
      liveness.close()
    },
  }
}
