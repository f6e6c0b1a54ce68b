/** What of a proxy section cannot be changed at run time: sections are made ahead in shapes and given out by shape. */

export type ProxyMode = 'http' | 'tcp'

/** `source` and `source-port` are consistent hashes, so that a member that goes moves only its own clients. */
export type Balance = 'roundrobin' | 'leastconn' | 'source' | 'source-port'

export interface FrontendShape {
  readonly mode: ProxyMode
  readonly clientMs: number
}

export interface BackendShape {
  readonly mode: ProxyMode
  readonly balance: Balance
  readonly connectMs: number
  readonly memberMs: number
}

/** `http/50000`. */
export const frontendShapeKey = ({ mode, clientMs }: FrontendShape): string => `${mode}/${clientMs}`

/** `http/roundrobin/5000/50000`. */
export const backendShapeKey = ({ mode, balance, connectMs, memberMs }: BackendShape): string =>
  `${mode}/${balance}/${connectMs}/${memberMs}`

/** How many slots of a shape a process begins with. */
export interface Stock<Shape> {
  readonly shape: Shape
  readonly count: number
}

/** The time-outs that a listener has when its owner says nothing. */
export const DEFAULT_TIMEOUTS = { clientMs: 50_000, connectMs: 5_000, memberMs: 50_000 } as const

const { clientMs, ...memberSide } = DEFAULT_TIMEOUTS

export const FRONTEND_STOCK: readonly Stock<FrontendShape>[] = [
  { shape: { mode: 'http', clientMs }, count: 8 },
  { shape: { mode: 'tcp', clientMs }, count: 4 },
]

export const BACKEND_STOCK: readonly Stock<BackendShape>[] = [
  { shape: { mode: 'http', balance: 'roundrobin', ...memberSide }, count: 8 },
  { shape: { mode: 'http', balance: 'leastconn', ...memberSide }, count: 4 },
  { shape: { mode: 'http', balance: 'source', ...memberSide }, count: 2 },
  { shape: { mode: 'tcp', balance: 'roundrobin', ...memberSide }, count: 4 },
  { shape: { mode: 'tcp', balance: 'leastconn', ...memberSide }, count: 2 },
  { shape: { mode: 'tcp', balance: 'source', ...memberSide }, count: 2 },
]
