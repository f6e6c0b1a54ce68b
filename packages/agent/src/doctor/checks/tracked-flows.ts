import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { readTrackedFlows, type TrackedFlows } from '../readings/tracked-flows.ts'

const FINDINGS = {
  TableFull: {
    level: 'error',
    what: 'a connection table has no room: 95 % or more of `nf_conntrack_max`',
    why: 'The kernel drops the first packet of every new connection that it would have to track, of all tenants in that namespace.',
    fix: '`sysctl -w net.netfilter.nf_conntrack_max=NUMBER`',
  },
  TableFilling: {
    level: 'warning',
    what: 'a connection table is filled to three quarters of `nf_conntrack_max`',
    why: 'When it is full, new connections are dropped.',
    fix: '`sysctl -w net.netfilter.nf_conntrack_max=NUMBER`',
  },
} as const satisfies Catalogue

const FULL = 0.95
const FILLING = 0.75

export const judgeTrackedFlows = (tables: readonly TrackedFlows[]): readonly Found<keyof typeof FINDINGS>[] =>
  tables
    // Without a limit a table is never full.
    .filter(({ flows, most }) => most > 0 && flows >= FILLING * most)
    .map(({ namespace, flows, most }) => ({
      code: flows >= FULL * most ? 'TableFull' : 'TableFilling',
      subject: namespace,
      message: `It tracks ${flows} of ${most} connections.`,
      fix: `sysctl -w net.netfilter.nf_conntrack_max=${2 * most}`,
    }))

export const trackedFlows = checkOf({
  name: 'connections',
  catalogue: FINDINGS,
  read: readTrackedFlows,
  judge: judgeTrackedFlows,
  right: (tables) => {
    const share = Math.max(0, ...tables.map(({ flows, most }) => (most > 0 ? flows / most : 0)))
    return `The fullest of ${tables.length} connection tables uses ${Math.round(100 * share)} % of its limit.`
  },
})
