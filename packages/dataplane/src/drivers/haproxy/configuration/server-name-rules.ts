import type { FrontendShape } from '../sections/shape.ts'

/** Whether the frontend chooses the backend by the name that the client asks for (SNI). */
export const goesByName = ({ mode, tls, helloMs }: FrontendShape): boolean =>
  helloMs !== undefined || (mode === 'tcp' && tls !== undefined)

/**
 * Rules of a frontend that chooses the backend by the name that the client asks for (SNI). A frontend that ends TLS
 * knows the name.
 *
 * For a frontend that passes TLS on, `tls-names.lua` reads the ClientHello whenever more of it arrives. It finds the
 * backend in the same maps as HTTP routes. The connection is closed if the ClientHello does not arrive in time, is
 * malformed, or does not fit into one buffer.
 *
 * The rules are in each frontend: in a defaults section 2.6 takes its second look at a connection for the last one.
 */
export function serverNameRules(
  shape: FrontendShape,
  { requestWithinMs, luaPrograms }: { readonly requestWithinMs: number; readonly luaPrograms: readonly string[] },
): readonly string[] {
  const { clientMs, helloMs } = shape
  if (!goesByName(shape)) return []
  if (luaPrograms.length === 0) return ['    tcp-request content reject']
  const otherwise = '    tcp-request content reject unless { var(txn.target) -m beg b }'
  if (helloMs === undefined) return ['    tcp-request content set-var(txn.target) lua.target_of_name', otherwise]
  const withinMs = Math.min(clientMs || requestWithinMs, helloMs || requestWithinMs, requestWithinMs)
  return [
    `    tcp-request inspect-delay ${withinMs}ms`,
    '    tcp-request content set-var(txn.target) lua.target_of_hello',
    // `WAIT_END` holds when the delay is over, or the buffer is full.
    '    tcp-request content reject if { var(txn.target) -m str wait } WAIT_END',
    '    tcp-request content use-service lua.refuse_name if { var(txn.target) -m str none }',
    otherwise,
  ]
}
