import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import {
  addressPoolSpec,
  bgpAdvertisementSpec,
  bgpPeerSpec,
  customResourceDefinitions,
  nodeGroupSpec,
} from '@spout/custom-resources'
import {
  type Cidr,
  cidrToRange,
  endsOf,
  formatIpRange,
  type IpRange,
  ipBits,
  parseCidr,
  parseIpRange,
  rangeContains,
  rangeToCidrs,
} from '@spout/net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rangeOf } from '../../intents/kubernetes-config/src/handlers/address-pool.ts'
import { convertMetalLb } from './convert.ts'
import { BadManifests, readManifests } from './manifest.ts'
import { poolSpec } from './pools.ts'
import { conversionYaml } from './print.ts'

const DIRECTORY = path.join(import.meta.dirname, 'testdata')
const SPECS = {
  AddressPool: addressPoolSpec,
  NodeGroup: nodeGroupSpec,
  BgpPeer: bgpPeerSpec,
  BgpAdvertisement: bgpAdvertisementSpec,
}
const convert = (text: string, file = 'in.yaml') => convertMetalLb(readManifests(file, text))
const linesOf = (text: string): readonly string[] => {
  try {
    convert(text)
    return []
  } catch (error) {
    if (error instanceof BadManifests) return error.lines
    throw error
  }
}
const document = (kind: string, spec: string, name = 'x') =>
  `apiVersion: metallb.io/v1beta1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`

describe('a MetalLB configuration', () => {
  it.each(globSync('*.in.yaml', { cwd: DIRECTORY }).sort())('%s', async (file) => {
    const conversion = convert(readFileSync(path.join(DIRECTORY, file), 'utf8'), file)
    for (const { object } of conversion.objects) SPECS[object.kind].parse(object.spec)
    await expect(conversionYaml(conversion, 'MetalLB')).toMatchFileSnapshot(`testdata/${file.replace('.in.', '.out.')}`)
  })

  it('has a kind for everything that is made', () => {
    const kinds = customResourceDefinitions().map(({ spec }) => (spec['names'] as { kind: string }).kind)
    expect(kinds).toEqual(expect.arrayContaining(Object.keys(SPECS)))
  })

  it('reports every field, also unknown ones', () => {
    const { objects } = convert(document('IPAddressPool', '{addresses: [192.0.2.0/30], fresh: 1, "od\\nd": 2}'))
    expect(objects[0]?.notes.map(({ field }) => field)).toEqual(['spec.fresh', 'spec.od?d', null])
  })

  it('is not led to say more than it does by a hostile text', () => {
    const text = document('BGPAdvertisement', '{localPref: 1, ipAddressPools: ["x\\n---\\nkind: Evil"]}')
    expect(
      conversionYaml(convert(text), 'MetalLB')
        .split('\n')
        .filter((line) => line.startsWith('kind:') || line === '---'),
    ).toEqual([])
  })
})

describe('bad input names file, document and field', () => {
  it.each([
    ['a: [', 'in.yaml, document 1: line '],
    ['a', 'in.yaml, document 1: is no object'],
    ['kind: X', 'in.yaml, document 1: apiVersion: is missing'],
    ['apiVersion: v1', 'in.yaml, document 1: kind: is missing'],
    [`---\n---\n${document('BGPPeer', '{}', '"a b"')}`, 'in.yaml, document 2: metadata.name: is no name'],
    [document('IPAddressPool', '{}'), 'in.yaml, document 1 (IPAddressPool x): spec.addresses: '],
    [document('IPAddressPool', '{addresses: [192.0.2.0/33]}'), '(IPAddressPool x): spec.addresses[0]: '],
    [document('IPAddressPool', '{addresses: [192.0.2.0/30, 192.0.2.9-192.0.2.3]}'), 'spec.addresses[1]: '],
    [document('IPAddressPool', '{addresses: [192.0.2.1-2001:db8::1]}'), 'spec.addresses[0]: '],
    [document('BGPPeer', '{myASN: 0, peerASN: 1, peerAddress: 10.0.0.1}'), 'spec.myASN: '],
    [
      document('BGPPeer', '{myASN: 1, peerASN: 1, peerAddress: 10.0.0.1, holdTime: soon}'),
      'spec.holdTime: is no duration',
    ],
    [
      document('BGPPeer', '{myASN: 1, nodeSelectors: [{matchExpressions: [{key: a, operator: Is}]}]}'),
      'spec.nodeSelectors[0].matchExpressions[0].operator: ',
    ],
    [document('BFDProfile', '{detectMultiplier: 1}'), '(BFDProfile x): spec.detectMultiplier: '],
    [document('BGPAdvertisement', '{aggregationLength: 33}'), 'spec.aggregationLength: '],
    [
      `${document('BFDProfile', '{}')}---\n${document('BFDProfile', '{}')}`,
      'document 2 (BFDProfile x): metadata.name: is that of another one, in in.yaml, document 1',
    ],
    ['apiVersion: v1\nkind: List\nitems:\n- {kind: X}', 'in.yaml, document 1, item 1: apiVersion: is missing'],
  ])('%j', (text, words) => {
    expect(linesOf(text).join('\n')).toContain(words)
  })

  it('reports everything at once', () => {
    const text = [document('IPAddressPool', '{}', 'a'), document('IPAddressPool', '{addresses: 1}', 'b')].join('---\n')
    expect(linesOf(text)).toHaveLength(2)
  })
})

describe('pools', () => {
  const range = fc
    .constantFrom(4 as const, 6 as const)
    .chain((version) =>
      fc
        .tuple(fc.bigInt(0n, (1n << BigInt(ipBits(version))) - 1n), fc.bigInt(0n, (1n << BigInt(ipBits(version))) - 1n))
        .map(([a, b]): IpRange => ({ version, first: a < b ? a : b, last: a < b ? b : a })),
    )

  it('hold the same addresses, in the narrowest subnet in which each can be given out', () => {
    fc.assert(
      fc.property(range, (one) => {
        const { subnet, addresses } = poolSpec({ ranges: [one], version: one.version }, 128)
        const [entry] = addresses.map(rangeOf)
        expect(`${entry?.first}-${entry?.last}`).toBe(
          formatIpRange(one).includes('-') ? formatIpRange(one) : `${formatIpRange(one)}-${formatIpRange(one)}`,
        )
        const givesAll = (cidr: Cidr) => {
          const { first, last } = cidrToRange(cidr)
          return first <= one.first && one.last <= last && !endsOf(cidr).some((end) => rangeContains(one, end))
        }
        const { version, base, prefix } = parseCidr(subnet)
        // The ends of the whole address space are in no pool.
        expect(prefix === 0 || givesAll({ version, base, prefix })).toBe(true)
        const rest = BigInt(ipBits(version) - prefix - 1)
        if (one.first !== one.last)
          expect(givesAll({ version, base: (one.first >> rest) << rest, prefix: prefix + 1 })).toBe(false)
      }),
    )
  })

  it.each([
    ['198.51.100.192-198.51.100.199', '198.51.100.128/25'],
    ['198.51.100.193-198.51.100.198', '198.51.100.192/29'],
    ['198.51.100.192-198.51.100.193', '198.51.100.192/31'],
    ['198.51.100.0-198.51.100.255', '198.51.96.0/21'],
    ['198.51.100.192-198.51.100.192', '198.51.100.192/32'],
    ['2001:db8::10-2001:db8::1f', '2001:db8::/123'],
  ])('loses no address of %s', (text, subnet) => {
    const one = parseIpRange(text)
    expect(poolSpec({ ranges: [one], version: one.version }, 128).subnet).toBe(subnet)
  })

  it('avoid .0 and .255 when they shall', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4000 }), fc.integer({ min: 0, max: 2000 }), (offset, length) => {
        const start = (198n << 24n) + BigInt(offset)
        const one: IpRange = { version: 4, first: start, last: start + BigInt(length) }
        const spec = JSON.stringify({
          addresses: [formatIpRange(one).includes('-') ? formatIpRange(one) : `${formatIpRange(one)}/32`],
          avoidBuggyIPs: true,
        })
        const objects = convert(document('IPAddressPool', spec)).objects
        const got = (objects[0]!.object.spec as { addresses: { cidr?: string; first?: string; last?: string }[] })
          .addresses
        const all = new Set<bigint>()
        for (const entry of got.map(rangeOf)) {
          const value = (text: string) => parseCidr(`${text}/32`).base
          for (let ip = value(entry.first); ip <= value(entry.last); ip++) all.add(ip)
        }
        const expected = new Set<bigint>()
        for (let ip = one.first; ip <= one.last; ip++) if ((ip & 255n) !== 0n && (ip & 255n) !== 255n) expected.add(ip)
        expect([...all]).toEqual([...expected])
      }),
      { numRuns: 30 },
    )
  })

  it('print prefixes as prefixes', () => {
    expect(rangeToCidrs({ version: 4, first: 0n, last: 255n })).toHaveLength(1)
  })
})
