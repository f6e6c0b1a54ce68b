import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestBed, type TestBed } from '../../../server/src/test-bed.ts'
import { loadBalancerIds } from '../addresses/ids.ts'
import { NativeLoadBalancers } from './native-load-balancers.ts'

let bed: TestBed
let native: NativeLoadBalancers
let projectId: string
beforeAll(async () => {
  bed = await openTestBed()
  const endpoint = await bed.app.listen({ host: '127.0.0.1', port: 0 })
  projectId = (await bed.admission.createProject({ name: 'tenant', description: '' })).id
  const { token } = await bed.login('connector', projectId, 'balancer')
  native = new NativeLoadBalancers({ session: async () => ({ endpoint, token }), forget: () => {} })
})
afterAll(() => bed.close())

const node = { nodeId: 'n1', nodeName: 'node1', connection: 'connected', message: null } as const

test('load balancers of our project that nodes still hold are waited for', async () => {
  const [id = ''] = loadBalancerIds(projectId, 'a')
  bed.withdrawals.hold(id, { projectId, overdue: false, waitingFor: [node] })
  expect(await native.withdrawal(id, 0)).toEqual({ withdrawn: false, overdue: false, waitingFor: ['node1'] })
})

test('the domains of our project are shown, and each change of them', async () => {
  const { id: stranger } = await bed.admission.createProject({ name: 'neighbour', description: '' })
  await bed.admission.changeProject(stranger, { domains: ['theirs.example'] })
  const stop = new AbortController()
  const shown: (readonly string[])[] = []
  try {
    for await (const domains of native.watchDomains(stop.signal)) {
      shown.push(domains)
      if (shown.length === 3) break
      if (shown.length === 1) await bed.admission.changeProject(projectId, { domains: ['*.shop.example'] })
      else {
        const { id } = await bed.admission.claimDomain({ projectId, domain: 'proven.example' })
        await bed.admission.concludeDomainCheck(id, { record: 'present' }, 0)
      }
    }
  } finally {
    stop.abort()
  }
  expect(shown).toEqual([[], ['*.shop.example'], ['*.shop.example', 'proven.example']])
})

test('an id that another project took is not waited for', async () => {
  const { id: stranger } = await bed.admission.createProject({ name: 'stranger', description: '' })
  const [id = ''] = loadBalancerIds(projectId, 'b')
  bed.withdrawals.hold(id, { projectId: stranger, overdue: false, waitingFor: [node] })
  expect(await native.withdrawal(id, 0)).toEqual({ withdrawn: true, overdue: false, waitingFor: [] })
})
