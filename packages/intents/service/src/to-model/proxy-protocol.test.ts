import { describe, expect, test } from 'vitest'
import { endpoint, service, slice } from '../testing/objects.ts'
import { draftOf } from './draft.ts'

const NAME = 'spout.dev/proxy-protocol'
const ports = [
  { name: 'web', port: 80 },
  { name: 'dns', port: 53, protocol: 'UDP' as const },
]
const drafted = (value: string, spec: object = { ports }) => {
  const one = service('web', spec, { annotations: { [NAME]: value } })
  return draftOf(one, { slices: [slice('web', [endpoint('10.1.0.1')])], nodes: [], mode: 'direct' })
}
const partsOf = (value: string) => {
  const draft = drafted(value)
  if ('refusal' in draft) throw new Error(draft.refusal.message)
  return draft.value.ports.map(({ parts }) => `${parts?.listener.protocol} ${parts?.pool.protocol}`)
}

describe('spout.dev/proxy-protocol', () => {
  test.each([
    ['v1', ['tcp-proxy tcp-proxy-v1', 'udp udp']],
    ['v2', ['tcp-proxy tcp-proxy-v2', 'udp udp']],
    ['', ['tcp tcp', 'udp udp']],
  ])('"%s"', (value, wanted) => {
    expect(partsOf(value)).toEqual(wanted)
  })

  test('its pods must come through the load balancer, too, while a port of it is told of clients', () => {
    const modeOf = (value: string, spec?: object) => {
      const draft = drafted(value, spec)
      return 'value' in draft ? draft.value.ipMode : null
    }
    expect([modeOf('v2'), modeOf('v1'), modeOf('')]).toEqual(['Proxy', 'Proxy', 'VIP'])
    expect(modeOf('v2', { ports: ports.slice(1) })).toBe('VIP')
  })

  test('says which ports it does not concern, and serves them', () => {
    const draft = drafted('v2')
    expect('value' in draft && draft.value.notice).toMatchObject({
      reason: 'ProxyProtocolIgnored',
      field: `metadata.annotations[${NAME}]`,
    })
    expect('value' in draft && draft.value.notice?.message).toContain('udp/53')
    const plain = drafted('v2', { ports: ports.slice(0, 1) })
    expect('value' in plain && plain.value.notice).toBeNull()
  })

  test('an unknown version is refused', () => {
    const draft = drafted('v3')
    expect('refusal' in draft && draft.refusal).toMatchObject({
      reason: 'InvalidAnnotation',
      message: expect.stringContaining('v1, v2'),
    })
  })
})
