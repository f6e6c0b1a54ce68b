import { expect, test } from 'vitest'
import { type AskedListener, explainListeners } from './explain-listeners.ts'

const listener = (protocol: AskedListener['protocol'], port: number, own: Partial<AskedListener> = {}) => ({
  protocol,
  port,
  answers: true,
  allowedCidrs: null,
  ...own,
})
const verdicts = (listeners: readonly AskedListener[], port: number, source: string | null = null) =>
  explainListeners(listeners, { transport: 'tcp', port, source }).map(({ verdict }) => verdict)

test('a listener of the port and transport takes the connection; the others say why not', () => {
  const listeners = [listener('http', 80), listener('udp', 53), listener('tcp', 53), listener('tcp', 53)]
  expect(verdicts(listeners.slice(0, 3), 53)).toEqual(['other-port', 'other-transport', 'takes'])
  expect(verdicts([listener('http', 80, { answers: false })], 80)).toEqual(['disabled'])
})

test('one that passes TLS on comes first, unless it is disabled', () => {
  const inFront = listener('tls-passthrough', 443)
  expect(verdicts([inFront, listener('https', 443)], 443)).toEqual(['takes', 'behind'])
  expect(verdicts([{ ...inFront, answers: false }, listener('https', 443)], 443)).toEqual(['disabled', 'takes'])
})

test('a source outside its list is refused; one that is not known is not compared', () => {
  const listeners = [listener('tcp', 22, { allowedCidrs: ['10.0.0.0/8', '2001:db8::/32'] })]
  expect(verdicts(listeners, 22, '192.0.2.1')).toEqual(['refuses'])
  expect(verdicts(listeners, 22, '10.1.2.3')).toEqual(['takes'])
  expect(verdicts(listeners, 22, '2001:db8::1')).toEqual(['takes'])
  expect(verdicts(listeners, 22)).toEqual(['takes'])
  expect(verdicts([listener('tcp', 22, { allowedCidrs: [] })], 22, '10.1.2.3')).toEqual(['refuses'])
})
