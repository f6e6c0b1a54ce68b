import type { FrontendShape } from './shape.ts'

/**
 * A frontend that ends TLS can be behind one that passes TLS on: it gets the names that no route of that one takes. The
 * way there is a backend whose only server is the frontend's socket. A PROXY header (version 2) tells who connects, and
 * to which address and port.
 */

/** The backend that leads to the frontend in a slot. It begins with `b`, as the names of all backends do. */
export const backendBehind = (slot: number): string => `behind${slot}`

/** Our own side of these connections: the frontends on both sides have the time-outs of clients and members. */
export const behindDefaults: readonly string[] = [
  'defaults behind-backend',
  '    mode tcp',
  '    retries 0',
  '    timeout connect 5s',
  '    timeout server 24d',
]

interface BehindPlace {
  /** The directory of the sockets: no other user can enter it. */
  readonly chroot: string
  /** The user of the process, which alone connects. */
  readonly uid: number
}

/** The socket of a frontend that is behind another one, beside those for the packet path. */
export const bindBehind = (slot: number, { behind }: FrontendShape, { chroot, uid }: BehindPlace): readonly string[] =>
  behind ? [`    bind unix@${chroot}/${backendBehind(slot)} uid ${uid} mode 600 accept-proxy`] : []

/** The way to a frontend that is behind another one. */
export const wayBehind = (slot: number, { behind }: FrontendShape): readonly string[] =>
  behind
    ? [
        `backend ${backendBehind(slot)} from behind-backend`,
        `    server frontend unix@/${backendBehind(slot)} send-proxy-v2`,
      ]
    : []
