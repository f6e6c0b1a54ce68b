import type { MapName } from '../sections/maps.ts'

/** The backend of listeners that answer with figures. */
export const METRICS_BACKEND = 'metrics'
/** The agent's socket, in the chroot of the process. */
export const METRICS_SOCKET = 'metrics'

/** Requests that are passed on to the agent at a time, and within a second, of all listeners of a domain. */
const MOST_AT_ONCE = 4
const MOST_PER_SECOND = 50

/**
 * Passes `GET /metrics` on to the agent, which knows figures that the proxy does not. The agent reads nothing of the
 * request but the path, in which the proxy puts the listener's id. A process that was replaced keeps its own maps, so it
 * never names a listener that got its frontend later.
 */
export const metricsBackend = (mapPath: (map: MapName) => string): readonly string[] => [
  `backend ${METRICS_BACKEND} from http-backend`,
  '    timeout connect 1000ms',
  '    timeout queue 5000ms',
  '    timeout server 10000ms',
  '    option http-server-close',
  '    http-reuse never',
  '    http-request return status 404 unless { path /metrics }',
  '    http-request return status 405 hdr Allow GET unless METH_GET',
  `    http-request return status 429 if { be_sess_rate gt ${MOST_PER_SECOND} }`,
  `    http-request set-uri /%[fe_name,map(${mapPath('metrics')})]`,
  `    server agent unix@/${METRICS_SOCKET} maxconn ${MOST_AT_ONCE}`,
]
