import { expect, it } from 'vitest'
import type { ExplainedListener, ExplainedVip } from '../../api/explanation.ts'
import { firstRequest } from './first-request.ts'

const at = (address: string) => ({ address }) as ExplainedVip
const listening = (protocol: string, port: number) => ({ protocol, port }) as ExplainedListener

it.each([
  ['198.51.100.16', 'http', 80, 'curl http://198.51.100.16/'],
  ['198.51.100.16', 'http', 8080, 'curl http://198.51.100.16:8080/'],
  ['198.51.100.16', 'https', 443, 'curl --insecure https://198.51.100.16/'],
  ['2001:db8:f::10', 'http', 80, "curl 'http://[2001:db8:f::10]/'"],
  ['198.51.100.16', 'tcp', 9000, 'nc -vz 198.51.100.16 9000'],
])('%s, %s at %i', (address, protocol, port, command) => {
  const listeners = [listening('udp', 53), listening(protocol, port)]
  expect(firstRequest({ vips: [at(address)], listeners })).toBe(command)
})

it('there is none without an address, or a listener that takes one', () => {
  expect(firstRequest({ vips: [], listeners: [listening('http', 80)] })).toBeNull()
  expect(firstRequest({ vips: [at('198.51.100.16')], listeners: [listening('udp', 53)] })).toBeNull()
})
