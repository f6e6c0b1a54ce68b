import { type Finding, sorted } from '@spout/runtime/findings'
import { checkAddressPools } from './checks/address-pools.ts'
import { checkCertificates } from './checks/certificates.ts'
import { checkGroups } from './checks/groups.ts'
import { checkLoadBalancers } from './checks/load-balancers.ts'
import { checkNodes } from './checks/nodes.ts'
import { checkRouters } from './checks/routers.ts'
import { checkVips } from './checks/vips.ts'
import type { Facts } from './facts.ts'

const CHECKS: readonly ((facts: Facts) => readonly Finding[])[] = [
  checkNodes,
  checkGroups,
  checkVips,
  checkLoadBalancers,
  checkAddressPools,
  checkCertificates,
  checkRouters,
]

/** Everything that is found in an installation, what is worst first. */
export const findingsOf = (facts: Facts): readonly Finding[] => sorted(CHECKS.flatMap((check) => check(facts)))
