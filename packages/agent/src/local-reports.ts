import { localNameOf } from '@spout/model/local-entries'
import type { LocalCheck, LocalCounters, LocalMemberReport, LocalReport } from '@spout/model/local-report'
import type { EntryReport, MemberHealth, ServiceStats } from '@spout/model/node-report'
import type { CheckSpec, LoadBalancerEntry, NodeMember } from '@spout/model/node-state'

/** What the agent knows of the entries of the node's own settings. */
export interface LocalKnowledge {
  readonly entry: (key: string) => EntryReport | undefined
  readonly member: (member: Pick<MemberHealth, 'loadBalancerId' | 'memberId'>) => MemberHealth | undefined
  readonly stats: (listenerId: string) => ServiceStats | undefined
  /** Whether the node is master of the shard of these addresses. */
  readonly isMaster: boolean
}

/** What the node reports of the load balancers of its own settings. The control plane only shows them. */
export const localReports = (entries: readonly LoadBalancerEntry[], known: LocalKnowledge): readonly LocalReport[] =>
  entries.flatMap((entry): readonly LocalReport[] => {
    const [[vip], [service], [pool]] = [entry.vips, entry.services, entry.pools]
    if (vip === undefined || service === undefined || pool === undefined || pool.check === null) return []
    const [applied, stats] = [known.entry(entry.key), known.stats(service.id)]
    const members = pool.members.flatMap((member) => member ?? [])
    return [
      {
        ...{ name: localNameOf(entry.id), address: vip.address, port: service.port, check: checkOf(pool.check) },
        members: members.map((member) =>
          memberOf(member, known.member({ loadBalancerId: entry.id, memberId: member.id })),
        ),
        state: applied?.state ?? 'waiting',
        message: applied?.message ?? null,
        isOwner: known.isMaster && applied?.announced.includes(vip.address) === true,
        counters: stats === undefined ? null : countersOf(stats),
      },
    ]
  })

/** Settings name no other types of checks. */
const checkOf = ({ type, http, ...check }: CheckSpec): LocalCheck => ({
  type: type as LocalCheck['type'],
  path: http?.path ?? null,
  ...{ intervalMs: check.intervalMs, timeoutMs: check.timeoutMs, rise: check.rise, fall: check.fall },
})

const memberOf = ({ address, port }: NodeMember, health: MemberHealth | undefined): LocalMemberReport => ({
  ...{ address, port },
  ...{ health: health?.health ?? 'unknown', reason: health?.reason ?? null, since: health?.since ?? '' },
})

const countersOf = ({ listenerId: _, loadBalancerId: __, http: ___, ...counters }: ServiceStats): LocalCounters =>
  counters
