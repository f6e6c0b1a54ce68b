import { expect, it } from 'vitest'
import { listenOverflows, readOverflows } from './listen-overflows.ts'

const NETSTAT = `TcpExt: SyncookiesSent SyncookiesRecv TW ListenOverflows ListenDrops
TcpExt: 9 8 7 42 43
IpExt: InNoRoutes ListenOverflows
IpExt: 1 2
`

it('reads the column of its name', () => {
  expect(readOverflows(NETSTAT)).toBe(42)
  expect(readOverflows('')).toBe(0)
})

it('is a number for a process that lives, and for one that is gone', async () => {
  expect(await listenOverflows(process.pid)).toBeGreaterThanOrEqual(0)
  expect(await listenOverflows(2 ** 30)).toBe(0)
})
