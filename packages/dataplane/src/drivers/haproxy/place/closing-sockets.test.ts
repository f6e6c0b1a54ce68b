import { expect, it } from 'vitest'
import { countClosing } from './closing-sockets.ts'

it('counts connections that only the kernel still has', () => {
  const line = (at: number, state: string): string =>
    `   ${at}: 016433C6:0050 0A7100CB:D431 ${state} 00000000:00000000 00:00000000 00000000     0        0 0 1 0000000000000000`
  const states = ['01', '04', '05', '06', '08', '09', '0A', '0B']
  const text = [
    '  sl  local_address rem_address   st tx_queue rx_queue',
    ...states.map((state, at) => line(at, state)),
    '',
  ]
  expect(countClosing(text.join('\n'))).toBe(3)
  expect(countClosing('')).toBe(0)
})
