import type { Check } from '@spout/runtime/findings'
import { diskCheck } from '@spout/sys/disk-check'
import { readiness } from './checks/readiness.ts'
import { servedCertificates } from './checks/served-certificates.ts'
import { stored } from './checks/stored.ts'
import type { ControlPlanePlace } from './place.ts'

/** Every check of a control plane. */
export const CONTROL_PLANE_CHECKS: readonly Check<ControlPlanePlace>[] = [
  readiness,
  stored,
  diskCheck(({ config }) => [config.stateDirectory]),
  servedCertificates,
]
