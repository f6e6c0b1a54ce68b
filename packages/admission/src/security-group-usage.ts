import type { SecurityGroup } from '@spout/model'
import { NO_USAGE, type Usage } from '@spout/plan'

/** The quota that a security group uses: itself, and its bytes with its rules as JSON. */
export const usageOfSecurityGroup = (group: SecurityGroup): Usage => ({
  ...NO_USAGE,
  securityGroups: 1,
  bytes: Buffer.byteLength(JSON.stringify(group)),
})
