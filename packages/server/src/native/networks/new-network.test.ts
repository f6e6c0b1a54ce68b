import type { Principal } from '@spout/admission/contract'
import { type Network, SpoutError } from '@spout/model'
import { expect, test } from 'vitest'
import { segmentChooser } from '../../network/segments.ts'
import { openTestBed } from '../../testing/test-bed.ts'
import { createNetwork } from './new-network.ts'

const wanted = { name: 'net', description: '', segment: null, returnPath: null } as const

test('a tenant gets one answer, whether the one segment is taken or the last VLAN; an administrator gets the reason', async () => {
  const bed = await openTestBed()
  const { admission, view } = bed
  const [first, second] = [await project('first'), await project('second')]
  async function project(name: string): Promise<string> {
    return (await admission.createProject({ name, description: '' })).id
  }
  const reasonFor = async (role: 'member' | 'admin', segment: () => Network['segment']): Promise<unknown> => {
    const principal: Principal = { projectId: second, userId: 'u', userName: 'u', roles: [role], expiresAt: '2099' }
    const context = { admission, networkDefaults: { returnPath: 'snat' as const, segment } }
    return createNetwork(context, principal, { ...wanted, projectId: second }).then(
      () => null,
      (error: unknown) => (error instanceof SpoutError ? [error.code, error.message] : error),
    )
  }
  const flat = segmentChooser(view, { physicalNetwork: 'wire', vlans: null }, () => 0)
  const one = segmentChooser(view, { physicalNetwork: 'trunk', vlans: { first: 7, last: 7 } }, () => 0)
  for (const segment of [flat(), one()])
    await admission.createNetwork({ ...wanted, projectId: first, returnPath: 'snat', segment })

  const told = ['Forbidden', "Not allowed: an administrator chooses the segment of this project's networks"]
  expect([await reasonFor('member', flat), await reasonFor('member', one)]).toEqual([told, told])
  expect(await reasonFor('admin', flat)).toEqual([
    ...['InvalidField', 'Field segment: untagged on wire carries a network of another project'],
  ])
  expect(await reasonFor('admin', one)).toEqual([
    ...['Unavailable', 'A segment is not available: all VLANs of trunk are taken'],
  ])
  await bed.close()
})
