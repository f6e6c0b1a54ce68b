import type { FrontendShape } from '../sections/shape.ts'

/** Whether connections go by the name that the client asks for. */
export const goesByName = ({ mode, tls, helloMs }: FrontendShape): boolean =>
  helloMs !== undefined || (mode === 'tcp' && tls !== undefined)

/**
 * Rules of a frontend that goes by the name that the client asks for. One that ends TLS knows it.
 *
 * For one that passes TLS on, `tls-names.lua` reads the ClientHello whenever more of it comes. It finds the backend
 * in the maps that HTTP routes have, too. A client that has not sent all of it in time is closed, and so is one
 * whose bytes are none or do not fit into one buffer.
 *
 * They are in each frontend: in a defaults section 2.6 takes the second look at a connection for the last one.
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
    // `WAIT_END` holds once nothing more is waited for.
    '    tcp-request content reject if { var(txn.target) -m str wait } WAIT_END',
    '    tcp-request content use-service lua.refuse_name if { var(txn.target) -m str none }',
    otherwise,
  ]
}
