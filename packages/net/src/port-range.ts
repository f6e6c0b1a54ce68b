import { AddressSyntaxError } from './ip.ts'

/** An inclusive range of transport ports, 1 to 65535. */
export interface PortRange {
  readonly first: number
  readonly last: number
}

const PORT = /^[1-9][0-9]{0,4}$/

/** Parses one port, 1 to 65535, decimal without sign or leading zero. @throws AddressSyntaxError */
export function parsePort(text: string): number {
  const port = PORT.test(text) ? Number(text) : 0
  if (port < 1 || port > 65535) throw new AddressSyntaxError(`${JSON.stringify(text.slice(0, 32))} is not a port`)
  return port
}

/** Parses `port` or `first-last`. @throws AddressSyntaxError */
export function parsePortRange(text: string): PortRange {
  const dash = text.indexOf('-')
  const first = parsePort(dash < 0 ? text : text.slice(0, dash))
  const last = dash < 0 ? first : parsePort(text.slice(dash + 1))
  if (last < first) throw new AddressSyntaxError(`${JSON.stringify(text.slice(0, 32))} ends before it begins`)
  return { first, last }
}

export const formatPortRange = (range: PortRange): string =>
  range.first === range.last ? String(range.first) : `${range.first}-${range.last}`

export const portRangeContains = (range: PortRange, port: number): boolean => range.first <= port && port <= range.last
