import { randomUUID } from 'node:crypto'
import type { LoadBalancer } from '@spout/model'
import { formatIp, type Ip } from '@spout/net'
import { atOnce } from '@spout/runtime'
import { memberOf, poolOf } from '@spout/testkit/model'
import { afterEach, describe, expect, test } from 'vitest'
import type { AdmissionContext } from '../claims/context.ts'
import { AdmissionIndex } from '../indexes/admission-index.ts'
import { draftOf, listenerOf, type Office, openOffice, subnetDraft } from '../testing/office.ts'
import { checkedNetworkId, findingNetworkOf, mattersToNodes } from './load-balancer-check.ts'

test('a named value inside a listener makes a new generation, the name of the listener makes none', () => {
  /** A match as layer-7 routes will have it: `name` is of the header that is looked at. */
  const withMatch = (header: string, fields: { readonly name?: string } = {}) => {
    const matches = [{ name: header, value: 'blue' }]
    const listener = listenerOf('5f0c8a52-0000-4000-8000-000000000001', 80, fields)
    return { enabled: true, vips: [], listeners: [{ ...listener, matches }], pools: [] } as unknown as LoadBalancer
  }
  expect(mattersToNodes(withMatch('x-tenant'), withMatch('x-user'))).toBe(true)
  expect(mattersToNodes(withMatch('x-tenant'), withMatch('x-tenant', { name: 'shop' }))).toBe(false)
})

describe('the network that was found in pieces', () => {
  let office: Office
  let index: AdmissionIndex
  afterEach(async () => {
    index.close()
    await office.close()
  })

  /** A document with two members, and the addresses that are looked up. */
  const open = async () => {
    office = await openOffice()
    index = new AdmissionIndex(office.view)
    const lookedUp: string[] = []
    const deny = {
      whyForbidden: (ip: Ip) => {
        lookedUp.push(formatIp(ip))
        return null
      },
    }
    const context = { view: office.view, index, deny, references: 'known' } as unknown as AdmissionContext
    const stored = await office.admission.createLoadBalancer(
      draftOf(office.project.id, [{ from: 'pool', poolId: office.pool.id, address: null }]),
    )
    const members = ['10.0.0.20', '10.0.0.21'].map((address) => memberOf(randomUUID(), address))
    return { context, lookedUp, document: { ...stored, pools: [poolOf(randomUUID(), members)] } }
  }
  const take = (address: string) =>
    office.admission.createLoadBalancer(
      draftOf(office.project.id, [
        { from: 'subnet', networkId: office.network.id, subnetId: office.subnet.id, address },
      ]),
    )

  test('is not looked up again while no fact has changed', async () => {
    const { context, lookedUp, document } = await open()
    const known = atOnce(findingNetworkOf(context, document))
    expect(lookedUp.splice(0)).toEqual(['10.0.0.20', '10.0.0.21'])
    expect(checkedNetworkId(context, document, known)).toBe(office.network.id)
    expect(lookedUp).toEqual([])
  })

  test.each(['before the end', 'after it'])('does not count for an address that somebody takes %s', async (when) => {
    const { context, document } = await open()
    const finding = findingNetworkOf(context, document)
    finding.next()
    if (when === 'before the end') await take('10.0.0.20')
    const known = atOnce(finding)
    if (when === 'after it') await take('10.0.0.20')
    expect(() => checkedNetworkId(context, document, known)).toThrow('it is the address of a load balancer')
  })

  test('does not count when the networks have changed', async () => {
    const { context, document } = await open()
    const known = atOnce(findingNetworkOf(context, document))
    await office.admission.addSubnet(office.network.id, subnetDraft('10.0.1.0/24', '10.0.1.1'))
    await office.admission.removeSubnet(office.network.id, office.subnet.id)
    expect(() => checkedNetworkId(context, document, known)).toThrow('10.0.0.20')
  })
})
