import { type Check, type Finding, findingsOfAll } from '@spout/runtime/findings'
import { diskCheck } from '@spout/sys/disk-check'
import { agentProcess } from './checks/agent-process.ts'
import { builds } from './checks/builds.ts'
import { claims } from './checks/claims.ts'
import { clock } from './checks/clock.ts'
import { elections } from './checks/elections.ts'
import { firewall } from './checks/firewall.ts'
import { kernel } from './checks/kernel.ts'
import { link } from './checks/link.ts'
import { neighbours } from './checks/neighbours.ts'
import { packetSizes } from './checks/packet-sizes.ts'
import { rivals } from './checks/rivals.ts'
import { routers } from './checks/routers.ts'
import { sysctls } from './checks/sysctls.ts'
import { trackedFlows } from './checks/tracked-flows.ts'
import type { NodePlace } from './place.ts'

const disk = diskCheck(({ directories }: NodePlace) => Object.values(directories))

/** Every check of a node, from what it stands on to what it tells others. */
export const NODE_CHECKS: readonly Check<NodePlace>[] = [
  ...[builds, kernel, sysctls, trackedFlows, disk, clock],
  ...[packetSizes, firewall, rivals, neighbours, claims],
  ...[elections, routers, link, agentProcess],
]

/** Everything that is found on a node, what is worst first. */
export const nodeFindings = (place: NodePlace): Promise<readonly Finding[]> => findingsOfAll(NODE_CHECKS, place)
