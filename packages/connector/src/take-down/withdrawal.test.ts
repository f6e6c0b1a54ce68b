import { expect, test } from 'vitest'
import { loadBalancerIds } from '../addresses/ids.ts'
import type { LoadBalancerService, ShownLoadBalancer, ShownWithdrawal } from '../control-plane/load-balancer-service.ts'
import { NO_LOAD_BALANCERS } from '../control-plane/no-load-balancers.ts'
import { uid } from '../testing/objects.ts'
import { isWithdrawn } from './withdrawal.ts'

const PROJECT = '97c43460-b26b-4aa0-adbf-63f68a8d70ae'
const UID = uid(1)

/** Records which load balancers are asked about; the control plane's answers and the overdue nodes are given. */
async function ask(say: Partial<ShownWithdrawal>, known?: readonly string[], there: readonly string[] = []) {
  const asked: string[] = []
  const overdue: (readonly string[])[] = []
  const spout: LoadBalancerService = {
    ...NO_LOAD_BALANCERS,
    projectId: async () => PROJECT,
    get: async (id) => (there.includes(id) ? ({} as ShownLoadBalancer) : null),
    withdrawal: async (id) => {
      asked.push(id)
      return { withdrawn: false, overdue: false, waitingFor: ['node1'], ...say }
    },
  }
  const withdrawing = new Map(known === undefined ? [] : [['shop/web', new Set(known)]])
  const answer = await isWithdrawn({ service: spout, withdrawing }, 'shop/web', UID, (nodes) => overdue.push(nodes))
  return { answer, asked, overdue }
}

test('asks for every load balancer that was deleted for it, until one is not withdrawn', async () => {
  expect(await ask({ withdrawn: true }, ['a', 'b'])).toEqual({ answer: true, asked: ['a', 'b'], overdue: [] })
  expect(await ask({}, ['a', 'b'])).toEqual({ answer: false, asked: ['a'], overdue: [] })
})

test('after a restart asks for the one that the object founded', async () => {
  const [id] = loadBalancerIds(PROJECT, UID)
  expect(await ask({})).toEqual({ answer: false, asked: [id], overdue: [] })
})

test('does not wait for those that others have now, but for the one that the object had after them', async () => {
  const [first = '', second = '', third, ...more] = loadBalancerIds(PROJECT, UID)
  expect(await ask({}, undefined, [first, second])).toEqual({ answer: false, asked: [third], overdue: [] })
  const everything = [first, second, third!, ...more]
  expect(await ask({}, undefined, everything)).toEqual({ answer: true, asked: [], overdue: [] })
})

test('stops waiting for an overdue one, and reports it', async () => {
  expect(await ask({ overdue: true }, ['a'])).toEqual({ answer: true, asked: ['a'], overdue: [['node1']] })
})

test('an object without a project waits for nothing', async () => {
  const context = { service: NO_LOAD_BALANCERS, withdrawing: new Map() }
  expect(await isWithdrawn(context, 'shop/web', UID, () => {})).toBe(true)
})
