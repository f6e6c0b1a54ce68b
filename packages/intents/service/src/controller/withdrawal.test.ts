import { expect, test } from 'vitest'
import type { LoadBalancerService, ShownLoadBalancer, ShownWithdrawal } from '../spout/load-balancer-service.ts'
import { NO_LOAD_BALANCERS } from '../spout/no-load-balancers.ts'
import { service } from '../testing/objects.ts'
import { loadBalancerIds } from '../to-model/ids.ts'
import type { ServiceEvent } from '../write-back/events.ts'
import type { Cluster } from './cluster.ts'
import { isWithdrawn } from './withdrawal.ts'

const PROJECT = '97c43460-b26b-4aa0-adbf-63f68a8d70ae'
const SERVICE = service('web')

/** Asks of which load balancers, with what the control plane says of each, and what was told. */
async function ask(say: Partial<ShownWithdrawal>, known?: readonly string[], there: readonly string[] = []) {
  const asked: string[] = []
  const told: ServiceEvent[] = []
  const spout: LoadBalancerService = {
    ...NO_LOAD_BALANCERS,
    projectId: async () => PROJECT,
    get: async (id) => (there.includes(id) ? ({} as ShownLoadBalancer) : null),
    withdrawal: async (id) => {
      asked.push(id)
      return { withdrawn: false, overdue: false, waitingFor: ['node1'], ...say }
    },
  }
  const cluster = { tell: (_, event) => void told.push(event) } as Pick<Cluster, 'tell'> as Cluster
  const withdrawing = new Map(known === undefined ? [] : [['shop/web', new Set(known)]])
  const answer = await isWithdrawn({ service: spout, cluster, withdrawing }, 'shop/web', SERVICE)
  return { answer, asked, told: told.map(({ reason }) => reason) }
}

test('every load balancer that was deleted for it is asked for, until one is not withdrawn', async () => {
  expect(await ask({ withdrawn: true }, ['a', 'b'])).toEqual({ answer: true, asked: ['a', 'b'], told: [] })
  expect(await ask({}, ['a', 'b'])).toEqual({ answer: false, asked: ['a'], told: [] })
})

test('after a restart it is the one that the Service founded', async () => {
  const [id] = loadBalancerIds(PROJECT, SERVICE.metadata.uid ?? '')
  expect(await ask({})).toEqual({ answer: false, asked: [id], told: [] })
})

test('those that others have now are not waited for, but the one that the Service had after them', async () => {
  const [first = '', second = '', third, ...more] = loadBalancerIds(PROJECT, SERVICE.metadata.uid ?? '')
  expect(await ask({}, undefined, [first, second])).toEqual({ answer: false, asked: [third], told: [] })
  const everything = [first, second, third!, ...more]
  expect(await ask({}, undefined, everything)).toEqual({ answer: true, asked: [], told: [] })
})

test('what takes too long is let go of, and told', async () => {
  expect(await ask({ overdue: true }, ['a'])).toEqual({ answer: true, asked: ['a'], told: ['NotWithdrawn'] })
})

test('a Service of no project waits for nobody', async () => {
  const cluster = {} as Cluster
  const context = { service: NO_LOAD_BALANCERS, cluster, withdrawing: new Map() }
  expect(await isWithdrawn(context, 'shop/web', SERVICE)).toBe(true)
})
