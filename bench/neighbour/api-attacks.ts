import path from 'node:path'
import type { Lab, SystemAccess, Tenant } from '@spout/testkit'
import { LineProgram } from '../bed/native.ts'
import type { OtherMachines } from '../bed/other-machines.ts'
import type { BurstKind } from '../programs/api-burst.ts'
import type { Attack } from './attack.ts'

const PROGRAM = path.resolve(import.meta.dirname, '../programs/api-burst.ts')
const MIB = 1024 * 1024

/** @param loadBalancerId one of the attacker's own */
export function apiAttacks(
  lab: Lab,
  others: OtherMachines,
  { endpoint }: SystemAccess,
  { token }: Tenant,
  loadBalancerId: string,
): readonly Attack[] {
  const own = `/api/v1/load-balancers/${loadBalancerId}`
  const link = `https://${lab.hostAddress}:9131`
  const attack = (name: string, args: readonly [BurstKind, ...string[]]): Attack => ({
    name,
    plane: 'api',
    begin: async () => {
      const program = new LineProgram(lab, 'host', [...others.prefix, process.execPath, PROGRAM, ...args])
      return {
        end: async () => {
          try {
            const [answered, refused, failed] = (await program.finish()).split(' ')
            return `${answered} answered, ${refused} refused, ${failed} without an answer`
          } finally {
            await program[Symbol.asyncDispose]()
          }
        },
      }
    },
  })
  return [
    attack('api-reads', ['reads', endpoint, token, '0', '/load-balancer/v2/lbaas/loadbalancers']),
    attack('api-writes', ['writes', endpoint, token, '0', own]),
    attack('api-logins', ['logins', endpoint, token, '0']),
    attack('api-watches', ['watches', endpoint, token, '0', '/api/v1/load-balancers?watch=1']),
    attack('api-documents', ['documents', endpoint, token, String(MIB - 1024), own]),
    attack('api-strangers', ['strangers', endpoint, '', String(4 * MIB), '/api/v1/load-balancers']),
    attack('link-strangers', ['strangers', link, '', String(32 * MIB), '/agent/v1/report']),
  ]
}
