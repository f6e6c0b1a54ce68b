import type { Check } from '@spout/runtime/findings'
import { diskCheck } from '@spout/sys/disk-check'
import { databaseServers } from './checks/database-servers.ts'
import { readiness } from './checks/readiness.ts'
import { servedCertificates } from './checks/served-certificates.ts'
import { stored } from './checks/stored.ts'
import type { ControlPlanePlace } from './place.ts'

/** Every check of a control plane. */
export const CONTROL_PLANE_CHECKS: readonly Check<ControlPlanePlace>[] = [
  readiness,
  stored,
  databaseServers,
  diskCheck(({ config }) => [config.stateDirectory]),
  servedCertificates,
]
