import { parseIp } from '@spout/net'
import { describe, expect, it } from 'vitest'
import { EndsOfTunnels, TunnelNeighbours, tunnelMac } from './tunnel-neighbours.ts'

describe('a neighbour at the end of a tunnel', () => {
  it.each([
    ['10.8.1.11', '02:00:0a:08:01:0b'],
    ['fd08:1::2:11', '02:00:00:02:00:11'],
    ['2001:db8::aabb:ccdd:eeff', '02:bb:cc:dd:ee:ff'],
  ])('%s has the hardware address %s', (address, mac) => {
    expect(tunnelMac(parseIp(address))).toBe(mac)
  })

  it('is made for those that are not there, where frames go before who they are for', async () => {
    const ran: string[] = []
    const neighbours = new TunnelNeighbours({
      netns: '/run/netns/x-d1',
      run: async (file, args, input = '') => {
        ran.push(`${file} ${args.join(' ')}: ${input.trim()}`)
        return ''
      },
    })
    await neighbours.add(['fd08:1::11'])
    await neighbours.add(['fd08:1::11', '10.8.1.11', '10.8.1.11'])
    await neighbours.keepOnly(new Set(['10.8.1.11']))
    expect(ran).toEqual([
      'bridge -n x-d1 -batch -: fdb replace 02:00:00:00:00:11 dev tunnel6 dst fd08:1::11',
      'ip -n x-d1 -batch -: neigh replace fd08:1::11 lladdr 02:00:00:00:00:11 dev tunnel6 nud permanent',
      'bridge -n x-d1 -batch -: fdb replace 02:00:0a:08:01:0b dev tunnel4 dst 10.8.1.11',
      'ip -n x-d1 -batch -: neigh replace 10.8.1.11 lladdr 02:00:0a:08:01:0b dev tunnel4 nud permanent',
      'bridge -n x-d1 -batch -: fdb del 02:00:00:00:00:11 dev tunnel6 dst fd08:1::11',
      'ip -n x-d1 -batch -: neigh del fd08:1::11 dev tunnel6',
    ])
  })

  it('has none beside one that could not be told from it', () => {
    const ends = new EndsOfTunnels()
    expect(ends.take(['fd08:1::11', '10.8.1.11'])).toBeNull()
    expect(ends.take(['fd08:1::11'])).toBeNull()
    const why = (one: string, other: string) =>
      `members ${one} and ${other} end in the same 40 bits: only one can be reached by tunnel`
    expect(ends.take(['10.8.1.12', 'fd08:2::11'])).toBe(why('fd08:2::11', 'fd08:1::11'))
    expect(ends.take(['10.8.1.12', 'fd08:2::12', 'fd08:3::12'])).toBe(why('fd08:2::12', 'fd08:3::12'))
    expect(ends.take(['fd08:3::12'])).toBeNull()
  })
})
