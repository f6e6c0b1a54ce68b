import type { SystemAccess, Tenant } from '@spout/testkit'
import { octavia } from '../bed/octavia.ts'
import type { Attack } from './attack.ts'

const CHECKS = 10_000
const POOLS = 10
/** An address of the attacker's subnet without a host. */
const SILENT = '10.0.0.250'

/**
 * Ten pools of a thousand UDP members that never answer, each checked every second with a time-out of an hour. The
 * members are one address with different ports, as a tenant without machines can have them.
 */
export function checkAttack(access: SystemAccess, attacker: Tenant, networkId: string): Attack {
  let pools: readonly string[] | null = null
  const prepare = async (): Promise<readonly string[]> => {
    const { loadbalancer } = await octavia<{ loadbalancer: { id: string } }>(
      access,
      attacker,
      'POST',
      '/loadbalancers',
      {
        loadbalancer: { name: 'silent', vip_network_id: networkId },
      },
    )
    const ids: string[] = []
    for (let n = 0; n < POOLS; n++) {
      const { pool } = await octavia<{ pool: { id: string } }>(access, attacker, 'POST', '/pools', {
        pool: { name: `silent-${n}`, loadbalancer_id: loadbalancer.id, protocol: 'UDP', lb_algorithm: 'ROUND_ROBIN' },
      })
      const members = Array.from({ length: CHECKS / POOLS }, (_, index) => ({
        address: SILENT,
        protocol_port: 1 + n * (CHECKS / POOLS) + index,
      }))
      await octavia(access, attacker, 'PUT', `/pools/${pool.id}/members`, { members })
      ids.push(pool.id)
    }
    for (const [n, id] of ids.entries())
      await octavia(access, attacker, 'POST', '/listeners', {
        listener: {
          name: `silent-${n}`,
          protocol: 'UDP',
          protocol_port: 9000 + n,
          loadbalancer_id: loadbalancer.id,
          default_pool_id: id,
        },
      })
    return ids
  }
  return {
    name: 'checks-10k-silent',
    plane: 'data',
    begin: async () => {
      pools ??= await prepare()
      const monitors: string[] = []
      for (const id of pools) {
        const body = { pool_id: id, type: 'UDP-CONNECT', delay: 3600, timeout: 3600, max_retries: 1 }
        const made = await octavia<{ healthmonitor: { id: string } }>(access, attacker, 'POST', '/healthmonitors', {
          healthmonitor: body,
        })
        monitors.push(made.healthmonitor.id)
      }
      return {
        end: async () => {
          for (const id of monitors) await octavia(access, attacker, 'DELETE', `/healthmonitors/${id}`)
          return `${CHECKS} members checked`
        },
      }
    },
  }
}
