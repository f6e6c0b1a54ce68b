/** What happens to one request, and why. For people who ask: pure, and small enough for a browser. */
export {
  type AskedConnection,
  type AskedListener,
  explainListeners,
  type ListenerDecision,
  type ListenerVerdict,
} from './explain-listeners.ts'
export {
  type AskedRoute,
  explainRequest,
  type RequestDecision,
  type RouteDecision,
  type RouteVerdict,
} from './explain-request.ts'
export { redirectLocation } from './redirect-location.ts'
export { type AskedRequest, hostNameOf } from './request-conditions.ts'
export { type RequestShare, requestShares } from './request-shares.ts'
